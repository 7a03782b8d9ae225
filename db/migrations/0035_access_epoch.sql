-- How long what was read of a site's keys and licences may be remembered: as long as its epoch is the same. Whatever takes a right away
-- moves the epoch of its site in its own transaction, by these triggers, so that no statement can forget to. The value is drawn and
-- never comes again, also after a restore. Moved at commit, so that no transaction waits for anything while it holds this row.
create table access_epoch (
  tenant_id uuid primary key references tenant,
  epoch uuid not null
);
grant select on access_epoch to svc_app; -- only the triggers write it

create function move_access_epoch() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into access_epoch (tenant_id, epoch)
    select site.tenant_id, gen_random_uuid()
      from (select distinct tenant_id from unnest(array[old.tenant_id, new.tenant_id]) as changed (tenant_id)
             where tenant_id is not null order by tenant_id) as site
    on conflict (tenant_id) do update set epoch = excluded.epoch;
  return null;
end $$;

-- A key that was let in writes last_used_at, which changes no right.
create constraint trigger access_epoch
  after insert or delete or update of tenant_id, key_id, prefix, scopes, expires_at, revoked_at on api_key
  deferrable initially deferred for each row execute function move_access_epoch();
-- One that moves under another pepper stays the key it is.
create constraint trigger access_epoch after delete or update of tenant_id, key_id on api_key_hash
  deferrable initially deferred for each row execute function move_access_epoch();
-- Hosts, prices, networks and the issuer of licences: whoever changes one counts the version of the site up.
create constraint trigger access_epoch after update of status, plan, version on tenant
  deferrable initially deferred for each row execute function move_access_epoch();
-- Taking one off the list gives a right back: what is refused is not remembered.
create constraint trigger access_epoch after insert or update on denied_licence
  deferrable initially deferred for each row execute function move_access_epoch();
-- One that has ended goes with the token it belongs to, which says so itself.
create constraint trigger access_epoch after update on access_scope
  deferrable initially deferred for each row execute function move_access_epoch();
create constraint trigger access_epoch_of_living after delete on access_scope
  deferrable initially deferred for each row when (old.expires_at > now()) execute function move_access_epoch();
