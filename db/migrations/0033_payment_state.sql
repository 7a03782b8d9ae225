-- What was taken in and what became of it are two tables: `payment_intake` never changes, and `payment_state` is narrow, so that what
-- happens to a payment rewrites little and touches no index until it is decided. `payment` is a view of both, which statements of the
-- version before also write through.
alter table payment rename to payment_intake;
alter table payment_intake rename constraint payment_pkey to payment_intake_pkey;
drop index payment_open, payment_batch, payment_waiting, payment_open_of_payer, payment_watched_in_turns, payment_unfinal, payment_unusual;

create table payment_state (
  tenant_id uuid not null,
  payment_id uuid not null,
  -- as in payment_intake: what the queue is read by
  network text not null,
  mode text not null,
  payer text not null,
  pay_to text not null,
  planned_gas bigint not null,
  accepted_at timestamptz(3) not null,
  -- the machine (domain/payment)
  lane text not null default 'plain' check (lane in ('plain', 'contract')),
  settler text not null default 'relayer' check (settler in ('relayer', 'facilitator', 'mock')),
  state text not null check (state in ('accepted', 'held', 'broadcast', 'settled', 'final', 'failed', 'superseded',
    'expired', 'review')),
  attempts integer not null default 0,
  batch_size smallint,
  recorded boolean not null default false,
  failure_observed boolean not null default false,
  watched boolean not null default true,
  batch_id uuid references settlement_batch,
  successor_id uuid, -- the payment whose receipt answers for this one (superseded)
  reason text check (reason in ('insufficient_funds', 'authorization_invalid', 'malformed_payment',
    'network_unsupported', 'settlement_failed')),
  raw_reason text,
  sentence text,
  -- evidence
  unused_at_block bigint, -- the block at which our own check saw the nonce unused; foreign evidence counts after it
  tx_hash text,
  log_position integer, -- the Transfer's place among its transaction's logs: stable when a reorg moves the block
  block_number bigint,
  block_time timestamptz(3),
  -- time
  decided_at timestamptz(3),
  settled_at timestamptz(3),
  final_at timestamptz(3),
  checked_at timestamptz(3),
  -- the licence, fixed once (safety 13)
  licence_jti uuid,
  licence_issued_at bigint,
  licence_expires_at bigint,
  licence_kid text,
  review_closed_at timestamptz(3),
  review_closed_reason text,
  -- False for what settled in a batch that was not final yet: it is final with its batch. Whatever else settles becomes final by itself:
  -- without a batch, in a batch that is final already (late, or after a reorganisation), or written by the version before.
  own_finality boolean not null default true,
  -- What indexes are made of. An update touches no index while these keep their values, as they do in a claim (accepted → broadcast):
  -- no index may name a column that a claim changes.
  stage text not null generated always as (case when state in ('accepted', 'broadcast') then 'under_way' else state end) stored,
  watch_side text generated always as (case when watched and mode = 'live'
    and state in ('failed', 'superseded', 'expired', 'review', 'held')
    then case when batch_id is null then 'unsent' else 'carried' end end) stored,
  check (state not in ('settled', 'final') or tx_hash is not null or mode = 'mock'),
  check ((state = 'failed') = (reason is not null))
) with (fillfactor = 70);

insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, lane, settler, state, attempts,
  batch_size, recorded, failure_observed, watched, batch_id, successor_id, reason, raw_reason, sentence, unused_at_block, tx_hash, log_position,
  block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti, licence_issued_at, licence_expires_at, licence_kid,
  review_closed_at, review_closed_reason)
select tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, lane, settler, state, attempts,
  batch_size, recorded, failure_observed, watched, batch_id, successor_id, reason, raw_reason, sentence, unused_at_block, tx_hash, log_position,
  block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti, licence_issued_at, licence_expires_at, licence_kid,
  review_closed_at, review_closed_reason
from payment_intake;

alter table payment_state add primary key (tenant_id, payment_id);
alter table payment_state add foreign key (tenant_id, payment_id) references payment_intake not valid;
-- What goes out next, site by site, oldest first; and what is on its way.
create index payment_under_way on payment_state (network, tenant_id, accepted_at, payment_id) where stage = 'under_way';
create index payment_open_of_payer on payment_state (network, payer, accepted_at) where stage in ('under_way', 'held');
create index payment_held on payment_state (network, accepted_at) where stage = 'held';
-- What is watched has its turn by when it was looked at last; what bytes of ours carried has a turn of its own.
create index payment_watched_in_turns on payment_state (network, watch_side, (coalesce(checked_at, accepted_at)))
  where watch_side is not null;
-- Settled payments that no batch makes final, in turns: few. Those of batches are found by their batches.
create index payment_unfinal_alone on payment_state (network, (coalesce(checked_at, accepted_at)))
  where stage = 'settled' and mode = 'live' and own_finality;
create index payment_unusual on payment_state (tenant_id, accepted_at desc, payment_id desc)
  where stage in ('failed', 'superseded', 'expired', 'review');

-- The payments that a batch was made of, written with it: no payment has an index by its batch.
alter table settlement_batch add column tenant_ids uuid[] not null default '{}', add column payment_ids uuid[] not null default '{}';
update settlement_batch set tenant_ids = carried.tenant_ids, payment_ids = carried.payment_ids
  from (select batch_id, array_agg(tenant_id order by tenant_id, payment_id) as tenant_ids,
          array_agg(payment_id order by tenant_id, payment_id) as payment_ids
          from payment_state where batch_id is not null group by batch_id) as carried
 where settlement_batch.batch_id = carried.batch_id;

-- Checks of these columns go with them.
alter table payment_intake drop column lane, drop column settler, drop column state, drop column attempts, drop column batch_size,
  drop column recorded, drop column failure_observed, drop column watched, drop column batch_id, drop column successor_id,
  drop column reason, drop column raw_reason, drop column sentence, drop column unused_at_block, drop column tx_hash,
  drop column log_position, drop column block_number, drop column block_time, drop column decided_at, drop column settled_at,
  drop column final_at, drop column checked_at, drop column licence_jti, drop column licence_issued_at, drop column licence_expires_at,
  drop column licence_kid, drop column review_closed_at, drop column review_closed_reason;
alter table payment_intake set (fillfactor = 100);

create view payment as
select i.tenant_id, i.payment_id, i.mode, s.settler, i.network, i.asset, i.payer, i.pay_to, i.nonce, i.valid_after, i.valid_before,
  i.signature, s.lane, i.x402_version, i.host, i.slug, i.resource, i.resource_key, i.kind, i.purpose, i.amount_micro, i.legs, i.leg_words,
  i.router, i.binding, i.agent, i.key_id, i.account_id, s.state, s.batch_id, s.attempts, s.reason, s.raw_reason, s.sentence, s.recorded,
  s.failure_observed, s.watched, s.successor_id, i.repeats_licence, s.unused_at_block, s.tx_hash, s.log_position, s.block_number, s.block_time,
  i.accepted_at, i.at, s.decided_at, s.final_at, s.checked_at, s.licence_jti, s.licence_issued_at, s.licence_expires_at, s.licence_kid,
  i.licence_offer_id, s.batch_size, i.planned_gas, s.settled_at, s.review_closed_at, s.review_closed_reason, s.stage, s.watch_side,
  s.own_finality
from payment_intake as i join payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id;
alter view payment alter column mode set default 'live', alter column settler set default 'relayer', alter column lane set default 'plain',
  alter column purpose set default 'page', alter column agent set default '{}', alter column attempts set default 0,
  alter column recorded set default false, alter column failure_observed set default false, alter column watched set default true,
  alter column repeats_licence set default false, alter column accepted_at set default now(), alter column at set default now(),
  alter column planned_gas set default 120000;

-- Retention takes a User-Agent out of what was taken in: the one thing of it that the service may change, and only so.
create function remove_payment_agents(site uuid, ids uuid[]) returns integer
  language sql security definer set search_path = public, pg_temp
as $$
  with gone as (
    update payment_intake set agent = agent || '{"ua": "removed"}'
     where tenant_id = site and payment_id = any (ids) and agent ->> 'ua' <> 'removed' returning 1
  )
  select count(*)::integer from gone
$$;

-- What the version before writes. It runs with the rights of who writes: what was taken in stays as it is for the service's role.
create function payment_inserted() returns trigger language plpgsql as $$
begin
  insert into payment_intake (tenant_id, payment_id, mode, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
    x402_version, host, slug, resource, resource_key, kind, purpose, amount_micro, legs, leg_words, router, binding, agent, key_id,
    account_id, repeats_licence, accepted_at, at, licence_offer_id, planned_gas)
  values (new.tenant_id, new.payment_id, new.mode, new.network, new.asset, new.payer, new.pay_to, new.nonce, new.valid_after,
    new.valid_before, new.signature, new.x402_version, new.host, new.slug, new.resource, new.resource_key, new.kind, new.purpose,
    new.amount_micro, new.legs, new.leg_words, new.router, new.binding, new.agent, new.key_id, new.account_id, new.repeats_licence,
    new.accepted_at, new.at, new.licence_offer_id, new.planned_gas);
  insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, lane, settler, state, attempts,
    batch_size, recorded, failure_observed, watched, batch_id, successor_id, reason, raw_reason, sentence, unused_at_block, tx_hash,
    log_position, block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti, licence_issued_at,
    licence_expires_at, licence_kid, review_closed_at, review_closed_reason)
  values (new.tenant_id, new.payment_id, new.network, new.mode, new.payer, new.pay_to, new.planned_gas, new.accepted_at, new.lane,
    new.settler, new.state, new.attempts, new.batch_size, new.recorded, new.failure_observed, new.watched, new.batch_id,
    new.successor_id, new.reason, new.raw_reason, new.sentence, new.unused_at_block, new.tx_hash, new.log_position, new.block_number,
    new.block_time, new.decided_at, new.settled_at, new.final_at, new.checked_at, new.licence_jti, new.licence_issued_at,
    new.licence_expires_at, new.licence_kid, new.review_closed_at, new.review_closed_reason);
  return new;
end $$;

-- A view's update reads rows as they were when it began: a row that was decided since is a conflict, which callers run again, and a
-- licence that was fixed since stands. What the version before decides is final by itself: it does not know of batches that are final.
create function payment_updated() returns trigger language plpgsql as $$
declare
  now_state payment_state;
begin
  select * into now_state from payment_state where tenant_id = old.tenant_id and payment_id = old.payment_id for update;
  if (now_state.state, now_state.batch_id, now_state.attempts, now_state.reason, now_state.recorded, now_state.failure_observed,
      now_state.watched, now_state.successor_id, now_state.tx_hash, now_state.log_position, now_state.block_number)
    is distinct from (old.state, old.batch_id, old.attempts, old.reason, old.recorded, old.failure_observed,
      old.watched, old.successor_id, old.tx_hash, old.log_position, old.block_number)
  then
    raise exception 'payment % was decided at the same time', old.payment_id using errcode = '40001';
  end if;
  if old.licence_jti is null and now_state.licence_jti is not null then
    new.licence_jti := now_state.licence_jti;
    new.licence_issued_at := now_state.licence_issued_at;
    new.licence_expires_at := now_state.licence_expires_at;
    new.licence_kid := now_state.licence_kid;
  end if;
  update payment_state set lane = case when new.lane <> old.lane then new.lane else lane end, settler = new.settler, state = new.state,
    attempts = new.attempts, batch_size = new.batch_size, recorded = new.recorded, failure_observed = new.failure_observed,
    own_finality = own_finality or new.state is distinct from old.state,
    watched = new.watched, batch_id = new.batch_id, successor_id = new.successor_id, reason = new.reason, raw_reason = new.raw_reason,
    sentence = new.sentence,
    unused_at_block = case when new.unused_at_block is distinct from old.unused_at_block then new.unused_at_block else unused_at_block end,
    tx_hash = new.tx_hash, log_position = new.log_position, block_number = new.block_number, block_time = new.block_time,
    decided_at = new.decided_at, settled_at = new.settled_at, final_at = new.final_at,
    checked_at = case when new.checked_at is distinct from old.checked_at then new.checked_at else checked_at end,
    licence_jti = new.licence_jti, licence_issued_at = new.licence_issued_at, licence_expires_at = new.licence_expires_at,
    licence_kid = new.licence_kid, review_closed_at = new.review_closed_at, review_closed_reason = new.review_closed_reason
   where tenant_id = old.tenant_id and payment_id = old.payment_id;
  if new.batch_id is not null and new.batch_id is distinct from old.batch_id then
    update settlement_batch set tenant_ids = tenant_ids || new.tenant_id, payment_ids = payment_ids || new.payment_id
     where batch_id = new.batch_id and not new.payment_id = any (payment_ids);
  end if;
  if new.agent <> old.agent and new.agent = old.agent || '{"ua": "removed"}' then
    perform remove_payment_agents(old.tenant_id, array[old.payment_id]);
  elsif (new.mode, new.network, new.asset, new.payer, new.pay_to, new.nonce, new.valid_after, new.valid_before, new.signature,
      new.x402_version, new.host, new.slug, new.resource, new.resource_key, new.kind, new.purpose, new.amount_micro, new.legs,
      new.leg_words, new.router, new.binding, new.agent, new.key_id, new.account_id, new.repeats_licence, new.accepted_at, new.at,
      new.licence_offer_id, new.planned_gas)
    is distinct from (old.mode, old.network, old.asset, old.payer, old.pay_to, old.nonce, old.valid_after, old.valid_before, old.signature,
      old.x402_version, old.host, old.slug, old.resource, old.resource_key, old.kind, old.purpose, old.amount_micro, old.legs,
      old.leg_words, old.router, old.binding, old.agent, old.key_id, old.account_id, old.repeats_licence, old.accepted_at, old.at,
      old.licence_offer_id, old.planned_gas)
  then
    update payment_intake set mode = new.mode, network = new.network, asset = new.asset, payer = new.payer, pay_to = new.pay_to,
      nonce = new.nonce, valid_after = new.valid_after, valid_before = new.valid_before, signature = new.signature,
      x402_version = new.x402_version, host = new.host, slug = new.slug, resource = new.resource, resource_key = new.resource_key,
      kind = new.kind, purpose = new.purpose, amount_micro = new.amount_micro, legs = new.legs, leg_words = new.leg_words,
      router = new.router, binding = new.binding, agent = new.agent, key_id = new.key_id, account_id = new.account_id,
      repeats_licence = new.repeats_licence, accepted_at = new.accepted_at, at = new.at, licence_offer_id = new.licence_offer_id,
      planned_gas = new.planned_gas
     where tenant_id = old.tenant_id and payment_id = old.payment_id;
    update payment_state set network = new.network, mode = new.mode, payer = new.payer, pay_to = new.pay_to,
      planned_gas = new.planned_gas, accepted_at = new.accepted_at
     where tenant_id = old.tenant_id and payment_id = old.payment_id;
  end if;
  return new;
end $$;

create trigger payment_inserted instead of insert on payment for each row execute function payment_inserted();
create trigger payment_updated instead of update on payment for each row execute function payment_updated();

-- What was taken in is never changed or deleted; of what became of it, only what the machine decides.
revoke update, delete, truncate on payment_intake from svc_app;
grant select, insert on payment_state to svc_app;
grant update (lane, settler, state, attempts, batch_size, recorded, failure_observed, watched, batch_id, successor_id, reason, raw_reason,
  sentence, unused_at_block, tx_hash, log_position, block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti,
  licence_issued_at, licence_expires_at, licence_kid, review_closed_at, review_closed_reason, own_finality) on payment_state to svc_app;
grant select, insert, update on payment to svc_app;
revoke execute on function remove_payment_agents(uuid, uuid[]) from public;
grant execute on function remove_payment_agents(uuid, uuid[]) to svc_app;
