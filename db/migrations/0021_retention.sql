-- What ends after a while, and what may be forgotten on request (docs/operations.md, Retention).

-- How far a job that goes through old rows came; a job that began anew only reads again what it had not noted.
create table retention_progress (
  what text primary key,
  done_before timestamptz(3) not null
);
grant select, insert, update on retention_progress to svc_app;

-- Deletes some of a site's events that are older than `before`, with their deliveries and attempts; how many events. One of which a
-- delivery waits, or is younger, stays. The service may not delete such rows itself; through this it reaches none of the last week.
create function forget_site_events(site uuid, before timestamptz, most integer) returns integer
  language sql security definer set search_path = public, pg_temp
as $$
  with old as materialized (
    select event_id from webhook_event as event
     where tenant_id = site and created_at < least(before, now() - interval '7 days')
       and not exists (select from delivery
         where delivery.tenant_id = site and delivery.event_id = event.event_id
           and (delivery.state = 'pending' or delivery.created_at >= before or delivery.decided_at >= before))
     order by created_at limit most for update skip locked
  ), sent as materialized (
    select delivery_id from delivery where tenant_id = site and event_id in (select event_id from old)
  ), no_attempts as (
    delete from delivery_attempt where tenant_id = site and delivery_id in (select delivery_id from sent)
  ), no_deliveries as (
    delete from delivery where tenant_id = site and delivery_id in (select delivery_id from sent)
  ), no_legs as (
    delete from webhook_event_leg where tenant_id = site and event_id in (select event_id from old)
  ), gone as (
    delete from webhook_event where tenant_id = site and event_id in (select event_id from old) returning 1
  )
  select count(*)::integer from gone
$$;

-- Takes what says who an author is out of a site's audit log, and returns the e-mail addresses it found: those on the roster and those
-- of its entries about members. The entries themselves stay, and nobody may change anything else of them; entries about anything else
-- stay whole, also where they hold the same address: who inviting and erasing could blank them would hide where alerts went.
create function erase_member_from_audit_log(site uuid, author text) returns text[]
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  emails text[];
  email text;
begin
  select coalesce(array_agg(distinct word), '{}') into emails from (
    select member.email as word from member where tenant_id = site and author_id = author
    union all
    select shown.state ->> 'email' from audit_log, lateral (values (before), (after)) as shown (state)
     where tenant_id = site and target = author and action like 'member.%'
  ) as of_author where word like '%@%';
  update audit_log set before = before || '{"userId": "erased"}' where tenant_id = site and target = author
    and action like 'member.%' and before ->> 'userId' is not null;
  update audit_log set after = after || '{"userId": "erased"}' where tenant_id = site and target = author
    and action like 'member.%' and after ->> 'userId' is not null;
  foreach email in array emails loop
    update audit_log set before = replace(before::text, to_json(email)::text, '"erased"')::jsonb,
      after = replace(after::text, to_json(email)::text, '"erased"')::jsonb
     where tenant_id = site and action like 'member.%'
       and (strpos(before::text, to_json(email)::text) > 0 or strpos(after::text, to_json(email)::text) > 0);
  end loop;
  return emails;
end $$;

revoke execute on function forget_site_events(uuid, timestamptz, integer), erase_member_from_audit_log(uuid, text) from public;
grant execute on function forget_site_events(uuid, timestamptz, integer), erase_member_from_audit_log(uuid, text) to svc_app;

-- An account that was erased: its row stays, since licences and payments name its id, and says nothing about anybody.
alter table buyer_account add column erased_at timestamptz(3);
