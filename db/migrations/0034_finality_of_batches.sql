-- A batch becomes final as a whole: one row is written for all payments that settled in it, and they keep the state `settled` in theirs.
-- Whoever reads a payment's state reads it through db/settlement/states.ts.
alter table settlement_batch
  add column checked_at timestamptz(3), -- when the evidence of its payments was looked at last
  add column final_at timestamptz(3); -- null until all that settled in it is final
-- False for what settled in a batch that was not final yet. Whatever else settles becomes final by itself: without a batch, in a batch that
-- is final already (late, or after a reorganisation), or written by the version before.
alter table payment_state add column own_finality boolean not null default true;
grant update (own_finality) on payment_state to svc_app;
create or replace view payment as
select i.tenant_id, i.payment_id, i.mode, s.settler, i.network, i.asset, i.payer, i.pay_to, i.nonce, i.valid_after, i.valid_before,
  i.signature, s.lane, i.x402_version, i.host, i.slug, i.resource, i.resource_key, i.kind, i.purpose, i.amount_micro, i.legs, i.leg_words,
  i.router, i.binding, i.agent, i.key_id, i.account_id, s.state, s.batch_id, s.attempts, s.reason, s.raw_reason, s.sentence, s.recorded,
  s.failure_observed, s.watched, s.successor_id, i.repeats_licence, s.unused_at_block, s.tx_hash, s.log_position, s.block_number, s.block_time,
  i.accepted_at, i.at, s.decided_at, s.final_at, s.checked_at, s.licence_jti, s.licence_issued_at, s.licence_expires_at, s.licence_kid,
  i.licence_offer_id, s.batch_size, i.planned_gas, s.settled_at, s.review_closed_at, s.review_closed_reason, s.stage, s.watch_side,
  s.own_finality
from payment_intake as i join payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id;
-- What settled before becomes final by itself.
update settlement_batch set final_at = coalesce(closed_at, created_at) where state = 'safe';
create index settlement_batch_unfinal on settlement_batch (network, (coalesce(checked_at, created_at)))
  where final_at is null and kind <> 'flush';
