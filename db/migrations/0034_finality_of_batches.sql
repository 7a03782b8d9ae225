-- A batch becomes final as a whole: one row is written for all payments that settled in it, and they keep the state `settled` in theirs.
-- Whoever reads a payment's state reads it through db/settlement/states.ts.
alter table settlement_batch
  add column checked_at timestamptz(3), -- when the evidence of its payments was looked at last
  add column final_at timestamptz(3); -- null until all that settled in it is final
-- What settled before becomes final by itself.
update settlement_batch set final_at = coalesce(closed_at, created_at) where state = 'safe';
create index settlement_batch_unfinal on settlement_batch (network, (coalesce(checked_at, created_at)))
  where final_at is null and kind <> 'flush';
