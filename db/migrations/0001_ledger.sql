-- The ledger: tenants, keys, payments, crossings, legs, observations, and what the relayer sends.
-- Money is bigint micro-USDC. Times are timestamptz(3): epoch milliseconds on the wire are exact.
-- Every tenant-owned table's primary key starts with tenant_id; each global uniqueness has a table of its own (safety 25).

-- ── tenants ────────────────────────────────────────────────────────────────────────────────────────────────────────
create table tenant (
  tenant_id uuid primary key,
  status text not null default 'pending' check (status in ('pending', 'active', 'suspended', 'closed')),
  plan text check (plan in ('free', 'starter', 'studio', 'scale', 'enterprise')),
  price_usdc numeric(18, 6) not null check (price_usdc >= 0),
  citation_multiplier numeric(9, 4) check (citation_multiplier > 0),
  article_prefixes text[],
  origin_url text,
  credits_api_url text,
  credits_inline jsonb,
  credits_free_slugs text[],
  license_issuer text,
  owner_user_id text,
  directory_listed boolean not null default false,
  wallet_public boolean not null default false,
  showcase_listed boolean not null default false,
  proof_public boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

-- Prices are versions (safety 17): what a quote may rest on, and how long ago it was in force.
create table tenant_pricing (
  tenant_id uuid not null references tenant,
  version integer not null,
  pricing jsonb not null,
  valid_from timestamptz(3) not null default now(),
  valid_until timestamptz(3),
  primary key (tenant_id, version)
);

create table tenant_host (
  tenant_id uuid not null references tenant,
  host text not null check (host = lower(host)),
  position integer not null default 0,
  verified_at timestamptz(3),
  routing_verified_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, host)
);
create table host_claim (
  host text primary key,
  tenant_id uuid not null
);

create table api_key (
  tenant_id uuid not null references tenant,
  key_id uuid not null,
  name text not null,
  prefix text not null check (prefix in ('svc_live_', 'svc_test_')),
  last4 text not null,
  scopes text[] not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, key_id)
);
create table api_key_hash (
  key_hash bytea primary key,
  tenant_id uuid not null,
  key_id uuid not null,
  foreign key (tenant_id, key_id) references api_key
);

create table owner_token (
  token_hash bytea primary key,
  tenant_id uuid not null references tenant,
  user_id text not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table buyer_account (
  account_id uuid primary key,
  name text,
  wallet text unique,
  created_at timestamptz(3) not null default now()
);
create table buyer_key (
  key_hash bytea primary key,
  account_id uuid not null references buyer_account,
  last4 text not null,
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

-- Public halves only; private keys never stand in the database.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  published_at timestamptz(3) not null default now(),
  active_from timestamptz(3) not null,
  retired_at timestamptz(3)
);

-- ── payments ───────────────────────────────────────────────────────────────────────────────────────────────────────
-- Σ of a jsonb list of legs, for the checks that hold invariant 4.
create function legs_total(legs jsonb) returns numeric
  language sql immutable parallel safe
  return (select coalesce(sum((leg ->> 'amountMicro')::numeric), 0) from jsonb_array_elements(legs) as leg);

create table settlement_batch (
  batch_id uuid primary key,
  network text not null,
  relayer text not null,
  kind text not null check (kind in ('settle', 'flush')),
  workflow_id text,
  nonce bigint not null,
  state text not null default 'open' check (state in ('open', 'mined', 'safe')), -- mined frees its place in flight; safe ends it
  created_at timestamptz(3) not null default now(),
  closed_at timestamptz(3)
);
create index settlement_batch_unfinished on settlement_batch (network, relayer, nonce) where state <> 'safe';

create table payment (
  tenant_id uuid not null references tenant,
  payment_id uuid not null,
  mode text not null default 'live' check (mode in ('live', 'mock')),
  settler text not null default 'relayer' check (settler in ('relayer', 'facilitator', 'mock')),
  -- the authorization
  network text not null,
  asset text not null,
  payer text not null,
  pay_to text not null,
  nonce text not null,
  valid_after numeric(78) not null,
  valid_before numeric(78) not null,
  signature text not null,
  lane text not null default 'plain' check (lane in ('plain', 'contract')),
  x402_version smallint not null,
  -- what it buys; everything that finalising writes stands here before anything is sent (safety 11)
  host text not null,
  slug text not null,
  resource text not null,
  resource_key text not null,
  kind text not null check (kind in ('read', 'citation')),
  purpose text not null default 'page' check (purpose in ('page', 'licence')),
  amount_micro bigint not null check (amount_micro > 0),
  legs jsonb not null check (legs_total(legs) = amount_micro),
  leg_words text[],
  router text not null,
  binding text not null,
  agent jsonb not null default '{}',
  key_id uuid,
  account_id uuid,
  -- the machine (domain/payment)
  state text not null check (state in ('accepted', 'held', 'broadcast', 'settled', 'final', 'failed', 'superseded',
    'expired', 'review')),
  batch_id uuid references settlement_batch,
  attempts integer not null default 0,
  reason text check (reason in ('insufficient_funds', 'authorization_invalid', 'malformed_payment',
    'network_unsupported', 'settlement_failed')),
  raw_reason text,
  sentence text,
  recorded boolean not null default false,
  failure_observed boolean not null default false,
  watched boolean not null default true,
  successor_id uuid, -- the payment whose receipt answers for this one (superseded)
  repeats_licence boolean not null default false, -- superseded by a live licence: a fresh one is minted, nothing moves
  -- evidence
  unused_at_block bigint, -- the block at which our own check saw the nonce unused; foreign evidence counts after it
  tx_hash text,
  log_position integer, -- the Transfer's place among its transaction's logs: stable when a reorg moves the block
  block_number bigint,
  block_time timestamptz(3),
  -- time
  accepted_at timestamptz(3) not null default now(),
  at timestamptz(3) not null default now(), -- fixed once: the time of its crossing and observations
  decided_at timestamptz(3),
  final_at timestamptz(3),
  checked_at timestamptz(3),
  -- the licence, fixed when success is first answered (safety 13)
  licence_jti uuid,
  licence_issued_at bigint,
  licence_expires_at bigint,
  licence_kid text,
  primary key (tenant_id, payment_id),
  check (state not in ('settled', 'final') or tx_hash is not null or mode = 'mock'),
  check ((state = 'failed') = (reason is not null))
);
create index payment_by_id on payment (payment_id);
create index payment_open on payment (network, accepted_at) where state in ('accepted', 'broadcast', 'held');
create index payment_watched on payment (network, checked_at)
  where watched and state in ('failed', 'superseded', 'expired', 'review', 'settled');
create index payment_batch on payment (batch_id) where batch_id is not null;
create index payment_purchase on payment (tenant_id, payer, resource_key, kind, accepted_at desc);
create index payment_pay_to on payment (network, pay_to);

-- An authorization settles at most once, whoever sells with it (invariant 1).
create table authorization_claim (
  network text not null,
  asset text not null,
  payer text not null,
  nonce text not null,
  tenant_id uuid not null,
  payment_id uuid not null,
  primary key (network, asset, payer, nonce),
  foreign key (tenant_id, payment_id) references payment deferrable initially deferred
);

-- The open-purchase guard: one row per thing a payer may buy, locked by insert, decision and release (safety 14).
create table open_purchase (
  tenant_id uuid not null,
  payer text not null,
  resource_key text not null,
  kind text not null,
  primary key (tenant_id, payer, resource_key, kind)
);

-- One transfer proves one payment (safety 1).
create table transfer_claim (
  network text not null,
  tx_hash text not null,
  log_position integer not null,
  tenant_id uuid not null,
  payment_id uuid not null,
  primary key (network, tx_hash, log_position),
  unique (tenant_id, payment_id),
  foreign key (tenant_id, payment_id) references payment
);

-- What the chain showed, as read: payers' and payees' transfers. log_index is the block's, as explorers show it.
create table chain_transfer (
  network text not null,
  tx_hash text not null,
  log_position integer not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  block_time timestamptz(3) not null,
  token text not null,
  from_address text not null,
  to_address text not null,
  amount_micro numeric(78) not null,
  payer text, -- set when an AuthorizationUsed log stands right before it
  nonce text,
  read_at timestamptz(3) not null default now(),
  primary key (network, tx_hash, log_position)
);
create index chain_transfer_from on chain_transfer (network, from_address, block_number);
create index chain_transfer_authorization on chain_transfer (network, payer, nonce) where nonce is not null;

-- ── the ledger: rows that never change ─────────────────────────────────────────────────────────────────────────────
create table crossing (
  tenant_id uuid not null,
  crossing_id uuid not null,
  payment_id uuid not null,
  sequence smallint not null default 0, -- 0 the crossing, odd its correction, even the one after a correction
  host text not null,
  slug text not null,
  kind text not null check (kind in ('read', 'citation')),
  micro bigint not null,
  legs jsonb not null,
  payer text not null,
  agent text not null,
  at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (tenant_id, crossing_id),
  unique (tenant_id, payment_id, sequence),
  foreign key (tenant_id, payment_id) references payment,
  check (legs_total(legs) = micro),
  check (case when sequence % 2 = 0 then micro > 0 else micro < 0 end)
);
create index crossing_newest on crossing (tenant_id, at desc, crossing_id desc);

create table leg (
  tenant_id uuid not null,
  crossing_id uuid not null,
  ordinal smallint not null,
  payment_id uuid not null,
  to_address text not null,
  amount_micro bigint not null,
  role text not null check (role in ('author', 'coauthor', 'platform')),
  author_id text,
  share double precision not null check (share between 0 and 1),
  host text not null,
  slug text not null,
  kind text not null,
  at timestamptz(3) not null,
  primary key (tenant_id, crossing_id, ordinal),
  foreign key (tenant_id, crossing_id) references crossing
);
create index leg_by_payee on leg (tenant_id, to_address, at desc);

-- Legs that no event has announced yet (outbox); closing a window moves them into its event.
create table unannounced_crossing (
  tenant_id uuid not null,
  crossing_id uuid not null,
  host text not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (tenant_id, crossing_id),
  foreign key (tenant_id, crossing_id) references crossing
);
create index unannounced_crossing_window on unannounced_crossing (tenant_id, host, recorded_at);

-- ── observations ───────────────────────────────────────────────────────────────────────────────────────────────────
create table observation (
  tenant_id uuid not null,
  observation_id uuid not null,
  host text not null,
  slug text not null,
  verdict text not null check (verdict in ('served-free', 'agent-reread', 'denied', 'blocked', 'paid',
    'payment-failed', 'unservable')),
  classified_as text not null check (classified_as in ('human', 'agent')),
  kind text check (kind in ('read', 'citation')),
  micro bigint,
  reason text,
  count smallint not null default 1 check (count in (1, -1)), -- -1 takes an earlier observation back
  payment_id uuid,
  agent text not null, -- normalised: verified host, known crawler, or other
  agent_ua text,
  classify_reason text,
  verified boolean,
  verified_agent text,
  sig_invalid boolean,
  at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (tenant_id, at, observation_id)
) partition by range (at);
create table observation_default partition of observation default;
create index observation_payment on observation (tenant_id, payment_id) where payment_id is not null;

-- Makes the day partitions from yesterday to `days` ahead; repeated calls change nothing (safety 11). Owner's rights: the
-- service may call it without owning a table.
create function ensure_observation_partitions(days integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  day date;
  made integer := 0;
  name text;
begin
  for day in select generate_series(current_date - 1, current_date + days, interval '1 day')::date loop
    name := 'observation_' || to_char(day, 'YYYYMMDD');
    if to_regclass('public.' || name) is null then
      execute format('create table %I partition of observation for values from (%L) to (%L)', name,
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;
select ensure_observation_partitions(35);

-- ── the relayer ────────────────────────────────────────────────────────────────────────────────────────────────────
create table relayer (
  network text not null,
  address text not null,
  next_nonce bigint not null default 0,
  in_flight_limit integer not null default 4 check (in_flight_limit > 0),
  paused_reason text,
  checked_at timestamptz(3),
  primary key (network, address)
);

-- Every byte string we signed: same bytes again is always safe, other bytes never under another nonce (safety 7).
create table relayer_transaction (
  batch_id uuid not null references settlement_batch,
  attempt smallint not null,
  network text not null,
  relayer text not null,
  nonce bigint not null,
  kind text not null check (kind in ('settle', 'void', 'flush')),
  tx_hash text not null,
  raw text not null,
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

-- One batch holds one nonce for good.
create table relayer_nonce (
  network text not null,
  relayer text not null,
  nonce bigint not null,
  batch_id uuid not null unique,
  primary key (network, relayer, nonce)
);

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

-- Recipients that a transfer reverted for (safety 18).
create table blocked_payee (
  network text not null,
  pay_to text not null,
  detail text not null,
  since timestamptz(3) not null default now(),
  checked_at timestamptz(3) not null default now(),
  primary key (network, pay_to)
);

-- Payers whose items failed on chain (safety 19).
create table payer_strike (
  network text not null,
  payer text not null,
  strikes integer not null default 1,
  last_at timestamptz(3) not null default now(),
  primary key (network, payer)
);

create table gas_usage (
  tenant_id uuid not null references tenant,
  day date not null,
  gas_wei numeric(78) not null default 0,
  primary key (tenant_id, day)
);

-- What this database was made for; compared with the chain at boot.
create table chain_identity (
  network text primary key,
  genesis_hash text not null,
  router text not null,
  router_code_hash text not null
);

-- ── answers ────────────────────────────────────────────────────────────────────────────────────────────────────────
create table idempotency_key (
  tenant_id uuid not null,
  key text not null,
  request_hash text not null,
  payment_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, key)
);

create table operator_alert (
  alert_id uuid primary key,
  tenant_id uuid,
  kind text not null,
  detail text not null,
  raised_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3)
);

-- ── rights: the service's role may not change history (safety 5, 22) ───────────────────────────────────────────────
grant usage on schema public to svc_app;
grant select, insert, update, delete on all tables in schema public to svc_app;
revoke update, delete, truncate on crossing, leg from svc_app;
revoke delete, truncate on payment, authorization_claim, relayer_transaction, relayer_nonce, settlement_batch from svc_app;
revoke update on relayer_nonce, authorization_claim from svc_app;
grant execute on function ensure_observation_partitions(integer) to svc_app;
