-- outside a transaction
-- Settled payments that no batch makes final, in turns: few. Those of batches are found by their batches.
drop index concurrently if exists payment_unfinal_alone;
create index concurrently payment_unfinal_alone on payment_state (network, (coalesce(checked_at, accepted_at)))
  where stage = 'settled' and mode = 'live' and own_finality;
drop index concurrently if exists payment_unfinal;
