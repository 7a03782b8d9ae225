-- What goes out to the chain: batches, the keys that send them and every byte they signed; and the splits that are paid out.

create table settlement_batch (
  batch_id uuid primary key,
  network text not null,
  relayer text not null,
  kind text not null check (kind in ('settle', 'flush', 'facilitator')),
  workflow_id text,
  nonce bigint not null,
  state text not null default 'open' check (state in ('open', 'mined', 'safe')), -- mined frees its place in flight; safe ends it
  -- the payments that it was made of, written with it: no payment has an index by its batch
  tenant_ids uuid[] not null default '{}',
  payment_ids uuid[] not null default '{}',
  -- what it cost in all, noted once; and by which weights its sites bear that, written with its bytes. Null: nobody is charged for it
  gas_wei numeric(78),
  gas_shares jsonb,
  gas_used bigint, -- null until it is mined
  -- It becomes final as a whole: one row is written for all payments that settled in it, and they keep the state `settled` in theirs. A
  -- payment's state is read through db/paymentStates.ts.
  -- until then its workflow holds it: each look moves this past the next one; from then on the sweeper looks, and gives it a workflow
  held_until timestamptz(3) not null default now(),
  final_at timestamptz(3), -- null until all that settled in it is final
  created_at timestamptz(3) not null default now(),
  closed_at timestamptz(3)
);
create index settlement_batch_unfinished on settlement_batch (network, relayer, nonce) where state <> 'safe';
-- Which kind of batch went out last.
create index settlement_batch_newest on settlement_batch (network, created_at desc) where kind = 'settle';
create index settlement_batch_unfinal on settlement_batch (network, held_until)
  where final_at is null and kind <> 'flush';
grant select, insert, update on settlement_batch to svc_app;

-- Payments that another's x402 facilitator settles: what it was asked, and what it said. Its word decides nothing; it is kept.
-- One row a payment that was handed over, written in the claim, before the first request leaves. `due_at` is when it may be asked
-- about (again): the process that moves it on asks, so that two do not ask at once.
create table facilitator_submission (
  batch_id uuid not null references settlement_batch,
  tenant_id uuid not null,
  payment_id uuid not null,
  due_at timestamptz(3) not null default now(),
  asks integer not null default 0,
  asked_at timestamptz(3),
  answered_at timestamptz(3),
  said text check (said in ('settled', 'refused', 'unknown')),
  refusals integer not null default 0, -- in a row
  reference text, -- a transaction hash, or an id of its own
  detail text,
  primary key (tenant_id, payment_id, batch_id)
);
create index facilitator_submission_batch on facilitator_submission (batch_id);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on facilitator_submission
  for each row execute function names_payment();
grant select, insert, update, delete on facilitator_submission to svc_app;

-- ── the keys ───────────────────────────────────────────────────────────────────────────────────────────────────────────

create table relayer (
  network text not null,
  address text not null,
  next_nonce bigint not null default 0,
  in_flight_limit integer not null default 4 check (in_flight_limit > 0),
  paused_reason text,
  checked_at timestamptz(3),
  -- a count of the chain that is ahead of ours, as one round saw it: believed when the next round sees it too (safety 8)
  seen_nonce bigint,
  seen_at timestamptz(3),
  primary key (network, address)
);
grant select, insert, update, delete on relayer to svc_app;

-- Every byte string we signed: same bytes again is always safe, other bytes never under another nonce (safety 7).
create table relayer_transaction (
  batch_id uuid not null references settlement_batch,
  attempt smallint not null,
  network text not null,
  relayer text not null,
  nonce bigint not null,
  kind text not null check (kind in ('settle', 'void', 'flush')),
  tx_hash text not null,
  raw bytea not null, -- half as long as its hex in the log of Postgres (ADR 0052)
  gas_limit bigint not null,
  max_fee_wei numeric(78) not null,
  priority_fee_wei numeric(78) not null,
  sent_at timestamptz(3),
  send_result text,
  signed_at timestamptz(3) not null default now(),
  primary key (batch_id, attempt),
  unique (network, tx_hash)
);
create index relayer_transaction_nonce on relayer_transaction (network, relayer, nonce);
grant select, insert, update on relayer_transaction to svc_app;

-- One batch holds one nonce for good.
create table relayer_nonce (
  network text not null,
  relayer text not null,
  nonce bigint not null,
  batch_id uuid not null unique,
  primary key (network, relayer, nonce)
);
grant select, insert on relayer_nonce to svc_app;

create table gas_usage (
  tenant_id uuid not null references tenant,
  day date not null,
  gas_wei numeric(78) not null default 0,
  primary key (tenant_id, day)
);
grant select, insert, update, delete on gas_usage to svc_app;

-- What the relayer keys of a network spent in a day, voids included, in the coin that gas_usage counts in: the operator's own limit (safety 19).
create table network_gas_usage (
  network text not null,
  day date not null,
  gas_wei numeric(78) not null,
  primary key (network, day)
);
grant select, insert, update on network_gas_usage to svc_app;

-- ── splits and payees ──────────────────────────────────────────────────────────────────────────────────────────────────

-- Every split a payment was ever addressed to, so that whatever lands there is paid out, old routers included (safety 4).
create table split (
  network text not null,
  router text not null,
  pay_to text not null,
  leg_words text[] not null,
  created_at timestamptz(3) not null default now(),
  checked_at timestamptz(3),
  primary key (network, router, pay_to)
);
grant select, insert, update, delete on split to svc_app;

-- The weights a split pays by, as its address binds them: the words of `split` taken apart, so that SQL can do the contract's sum.
create table split_leg (
  network text not null,
  pay_to text not null,
  ordinal smallint not null, -- 0 takes the remainder
  to_address text not null,
  weight numeric(30) not null check (weight > 0),
  total_weight numeric(33) not null check (total_weight >= weight),
  primary key (network, pay_to, ordinal)
);
grant select, insert on split_leg to svc_app;

-- Which sites sell through a split. A row is made when a payment of it is claimed, or settled by somebody else, never when one is only
-- shown; a split without a row is not paid out by us, and the sites of its rows are charged the gas of paying it out.
create table split_seller (
  tenant_id uuid not null references tenant,
  network text not null,
  pay_to text not null,
  primary key (tenant_id, network, pay_to)
);
create index split_seller_pay_to on split_seller (network, pay_to);
grant select, insert on split_seller to svc_app;

-- Recipients that a transfer reverted for (safety 18).
create table blocked_payee (
  network text not null,
  pay_to text not null,
  detail text not null,
  since timestamptz(3) not null default now(),
  checked_at timestamptz(3) not null default now(),
  primary key (network, pay_to)
);
grant select, insert, update, delete on blocked_payee to svc_app;

-- Payers whose items failed on chain (safety 19).
create table payer_strike (
  network text not null,
  payer text not null,
  strikes integer not null default 1,
  last_at timestamptz(3) not null default now(),
  primary key (network, payer)
);
grant select, insert, update, delete on payer_strike to svc_app;
