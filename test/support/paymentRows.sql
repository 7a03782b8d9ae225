-- For tests that make rows of payments by hand: `test.payment` is the view `payment` as a whole, and what is written there goes to the two tables
-- that have the columns, with the rights of who writes. The service has nothing of it.
create schema test;
create view test.payment as select * from public.payment;
alter view test.payment alter column mode set default 'live', alter column settler set default 'relayer', alter column payer_kind set default 'plain',
  alter column purpose set default 'page', alter column agent set default '{}', alter column attempts set default 0,
  alter column recorded set default false, alter column failure_observed set default false, alter column watched set default true,
  alter column repeats_licence set default false, alter column accepted_at set default now(), alter column at set default now(),
  alter column planned_gas set default 120000, alter column own_finality set default true;

create function test.payment_inserted() returns trigger language plpgsql as $$
begin
  insert into public.payment_intake (tenant_id, payment_id, mode, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
    x402_version, host, slug, resource, resource_key, kind, purpose, amount_micro, legs, leg_words, router, binding, agent, key_id,
    account_id, repeats_licence, accepted_at, at, licence_offer_id, planned_gas)
  values (new.tenant_id, new.payment_id, new.mode, new.network, new.asset, new.payer, new.pay_to, new.nonce, new.valid_after,
    new.valid_before, new.signature, new.x402_version, new.host, new.slug, new.resource, new.resource_key, new.kind, new.purpose,
    new.amount_micro, new.legs, new.leg_words, new.router, new.binding, new.agent, new.key_id, new.account_id, new.repeats_licence,
    new.accepted_at, new.at, new.licence_offer_id, new.planned_gas);
  insert into public.payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, payer_kind, settler, state, attempts,
    batch_size, recorded, failure_observed, watched, batch_id, successor_id, reason, raw_reason, sentence, unused_at_block, tx_hash,
    log_position, block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti, licence_issued_at,
    licence_expires_at, licence_kid, review_closed_at, review_closed_reason, own_finality)
  values (new.tenant_id, new.payment_id, new.network, new.mode, new.payer, new.pay_to, new.planned_gas, new.accepted_at, new.payer_kind,
    new.settler, new.state, new.attempts, new.batch_size, new.recorded, new.failure_observed, new.watched, new.batch_id,
    new.successor_id, new.reason, new.raw_reason, new.sentence, new.unused_at_block, new.tx_hash, new.log_position, new.block_number,
    new.block_time, new.decided_at, new.settled_at, new.final_at, new.checked_at, new.licence_jti, new.licence_issued_at,
    new.licence_expires_at, new.licence_kid, new.review_closed_at, new.review_closed_reason, new.own_finality);
  return new;
end $$;
create trigger payment_inserted instead of insert on test.payment for each row execute function test.payment_inserted();

-- The columns of a table that can be written and are among `names`.
create function test.written(of regclass, names text[]) returns text[] language sql stable as $$
  select array_agg(attname::text) from pg_attribute
   where attrelid = of and attnum > 0 and not attisdropped and attgenerated = '' and attname = any (names)
$$;

create function test.payment_updated() returns trigger language plpgsql as $$
declare
  one regclass;
  names text[];
  changed text[];
begin
  if new.state is distinct from old.state then new.own_finality := true; end if;
  select array_agg(key) into changed from jsonb_each(to_jsonb(new)) as n (key, value) where value is distinct from to_jsonb(old) -> key;
  foreach one in array array['public.payment_intake', 'public.payment_state']::regclass[] loop
    names := test.written(one, changed);
    if names is null then continue; end if;
    execute format('update %1$s as was set %2$s from jsonb_populate_record(null::%1$s, $1) as now where was.tenant_id = $2 and was.payment_id = $3',
      one, (select string_agg(format('%1$s = now.%1$s', name), ', ') from unnest(names) as name))
      using to_jsonb(new), old.tenant_id, old.payment_id;
  end loop;
  -- A batch lists its payments.
  if new.batch_id is not null and new.batch_id is distinct from old.batch_id then
    update public.settlement_batch set tenant_ids = tenant_ids || new.tenant_id, payment_ids = payment_ids || new.payment_id
     where batch_id = new.batch_id and not new.payment_id = any (payment_ids);
  end if;
  return new;
end $$;
create trigger payment_updated instead of update on test.payment for each row execute function test.payment_updated();

grant usage on schema test to svc_app;
grant select, insert, update on test.payment to svc_app;
