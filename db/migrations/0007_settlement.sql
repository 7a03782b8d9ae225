-- Payments. What was taken in and what became of it are two tables (ADR 0021): `payment_intake` never changes, and `payment_state` is narrow, so
-- that what happens to a payment rewrites little and touches no index until it is decided. `payment` is a view of both.

create table payment_intake (
  tenant_id uuid not null references tenant,
  payment_id uuid not null,
  mode text not null default 'live' check (mode in ('live', 'mock')),
  -- the authorization
  network text not null,
  asset text not null,
  payer text not null,
  pay_to text not null,
  nonce text not null,
  valid_after numeric(78) not null,
  valid_before numeric(78) not null,
  signature bytea not null,
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
  repeats_licence boolean not null default false, -- superseded by a live licence: a fresh one is minted, nothing moves
  -- time
  accepted_at timestamptz(3) not null default now(),
  at timestamptz(3) not null default now(), -- fixed once: the time of its crossing and observations
  -- the licence it buys, frozen
  licence_offer_id uuid,
  planned_gas bigint not null default 120000, -- needed at most in a batch of its own; what waits is counted in it (safety 10)
  -- What the licence of a payment is made of that settles while its caller waits: how long it does from accepted_at, how long it lives, and
  -- the key of the process that will sign it. Null: its licence is fixed when success is first answered.
  wait_ms integer,
  licence_seconds integer,
  signing_kid text,
  primary key (payment_id, tenant_id), -- the id first: it alone finds a payment, too
  foreign key (tenant_id, licence_offer_id) references licence_offer,
  constraint payment_licence_has_offer check ((purpose = 'licence') = (licence_offer_id is not null) and (purpose = 'licence') = (account_id is not null))
);
create index payment_by_time on payment_intake (tenant_id, accepted_at, payment_id);
-- Payments of a payer, and what it bought of one page. Hashes are an eighth as long as what they are of (ADR 0052); who reads by them compares the texts,
-- too (`sameText`).
create index payment_purchase on payment_intake (tenant_id, hashtext(payer), hashtext(resource_key), accepted_at desc);
create index payment_pay_to on payment_intake (network, pay_to); -- the reconciler walks its recipients in order
create index payment_licence_offer on payment_intake (licence_offer_id) where licence_offer_id is not null;
grant select, insert on payment_intake to svc_app; -- and nobody changes what was taken in (invariant 5)

-- Retention takes a User-Agent out of what was taken in: the one thing of it that the service may change, and only so.
create function remove_payment_agents(of_tenant uuid, ids uuid[]) returns integer
  language sql security definer set search_path = public, pg_temp
as $$
  with gone as (
    update payment_intake set agent = agent || '{"ua": "removed"}'
     where tenant_id = of_tenant and payment_id = any (ids) and agent ->> 'ua' <> 'removed' returning 1
  )
  select count(*)::integer from gone
$$;

revoke execute on function remove_payment_agents(uuid, uuid[]) from public;
grant execute on function remove_payment_agents(uuid, uuid[]) to svc_app;

-- What becomes of a payment. There is room on each page for what a claim and a decision write anew, which then touch fewer indexes and log
-- only what differs (ADR 0052).
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
  unused_at_block bigint, -- the block at which our own check saw the nonce unused; foreign evidence counts after it
  -- What a claim writes, and before it what no claim changes: the log of a settlement begins with the first column that it changes (ADR 0052).
  attempts integer not null default 0,
  batch_size smallint, -- how many shared its last batch, null before its first: after a batch in vain fewer share the next (safety 8)
  batch_id uuid references settlement_batch,
  -- the machine (modules/settlement/rules/machine.ts)
  payer_kind text not null default 'plain' check (payer_kind in ('plain', 'contract')),
  settler text not null default 'relayer' check (settler in ('relayer', 'facilitator', 'mock')),
  state text not null check (state in ('accepted', 'held', 'broadcast', 'settled', 'final', 'failed', 'superseded',
    'expired', 'review')),
  recorded boolean not null default false,
  failure_observed boolean not null default false,
  -- True once it was held, decided against or superseded: should a reorganisation take back what settled it all the same, it is not sent.
  forgone boolean not null default false,
  watched boolean not null default true,
  successor_id uuid, -- the payment whose receipt answers for this one (superseded)
  reason text check (reason in ('insufficient_funds', 'authorization_invalid', 'malformed_payment',
    'network_unsupported', 'settlement_failed')),
  raw_reason text,
  sentence text,
  -- evidence
  tx_hash text,
  log_position integer, -- the Transfer's place among its transaction's logs: stable when a reorg moves the block
  block_number bigint,
  block_time timestamptz(3),
  -- time
  decided_at timestamptz(3), -- the first moment of the decision that stands
  -- The first settlement, set once: whatever a reorganisation takes back and the chain shows again, a citation answers for another
  -- authorization in the ten seconds after this moment only, and the time to settlement stays known.
  settled_at timestamptz(3),
  final_at timestamptz(3),
  checked_at timestamptz(3), -- when it was looked at last; of one that waits: when a look decided nothing of it
  -- the licence, fixed once (safety 13)
  licence_jti uuid,
  licence_issued_at bigint,
  licence_expires_at bigint,
  licence_kid text,
  -- a person looked at what no evidence decides: it is watched no more, until it is asked to be
  review_closed_at timestamptz(3),
  review_closed_reason text,
  -- False for what settled in a batch that was not final yet: it is final with its batch. Whatever else settles becomes final by itself:
  -- without a batch, or in a batch that is final already (late, or after a reorganisation).
  own_finality boolean not null default true,
  -- What indexes are made of. An update touches no index while these keep their values, as they do in a claim (accepted → broadcast):
  -- no index may name a column that a claim changes.
  stage text not null generated always as (case when state in ('accepted', 'broadcast') then 'under_way' else state end) stored,
  watch_side text generated always as (case when watched and mode = 'live'
    and state in ('failed', 'superseded', 'expired', 'review', 'held')
    then case when batch_id is null then 'unsent' else 'carried' end end) stored,
  primary key (tenant_id, payment_id),
  foreign key (tenant_id, payment_id) references payment_intake (tenant_id, payment_id),
  check (state not in ('settled', 'final') or tx_hash is not null or mode = 'mock'),
  check ((state = 'failed') = (reason is not null))
) with (fillfactor = 35);
-- What goes out next, site by site, oldest first; and what is on its way.
create index payment_under_way on payment_state (network, tenant_id, accepted_at, payment_id) where stage = 'under_way';
-- How many payments of a payer are undecided (safety 19).
create index payment_open_of_payer on payment_state (network, hashtext(payer), accepted_at) where stage in ('under_way', 'held');
create index payment_held on payment_state (network, accepted_at) where stage = 'held';
-- What is watched has its turn by when it was looked at last, and what was never looked at by when it came: fresh rows, which cost nobody
-- anything, do not come before everything else. What bytes of ours carried has a turn of its own beside what never went out.
create index payment_watched_in_turns on payment_state (network, watch_side, (coalesce(checked_at, accepted_at)))
  where watch_side is not null;
-- Settled payments that no batch makes final, in turns: few. Those of batches are found by their batches.
create index payment_unfinal_alone on payment_state (network, (coalesce(checked_at, accepted_at)))
  where stage = 'settled' and mode = 'live' and own_finality;
-- Payments that did not end as they should are found among the many that did; these are few, and written once.
create index payment_unusual on payment_state (tenant_id, accepted_at desc, payment_id desc)
  where stage in ('failed', 'superseded', 'expired', 'review');
create index payment_settled_in_time on payment_state (tenant_id, accepted_at) where stage in ('settled', 'final');
grant select, insert on payment_state to svc_app;
-- Of what became of it, only what the machine decides.
grant update (payer_kind, settler, state, attempts, batch_size, recorded, failure_observed, forgone, watched, batch_id, successor_id, reason, raw_reason,
  sentence, unused_at_block, tx_hash, log_position, block_number, block_time, decided_at, settled_at, final_at, checked_at, licence_jti,
  licence_issued_at, licence_expires_at, licence_kid, review_closed_at, review_closed_reason, own_finality) on payment_state to svc_app;

-- ── both as one ────────────────────────────────────────────────────────────────────────────────────────────────────────

create view payment as
select i.tenant_id, i.payment_id, i.mode, s.settler, i.network, i.asset, i.payer, i.pay_to, i.nonce, i.valid_after, i.valid_before,
  i.signature, s.payer_kind, i.x402_version, i.host, i.slug, i.resource, i.resource_key, i.kind, i.purpose, i.amount_micro, i.legs, i.leg_words,
  i.router, i.binding, i.agent, i.key_id, i.account_id, s.state, s.batch_id, s.attempts, s.reason, s.raw_reason, s.sentence, s.recorded,
  s.failure_observed, s.watched, s.successor_id, i.repeats_licence, s.unused_at_block, s.tx_hash, s.log_position, s.block_number, s.block_time,
  i.accepted_at, i.at, s.decided_at, s.final_at, s.checked_at, s.licence_jti, s.licence_issued_at, s.licence_expires_at, s.licence_kid,
  i.licence_offer_id, s.batch_size, i.planned_gas, s.settled_at, s.review_closed_at, s.review_closed_reason, s.stage, s.watch_side,
  s.own_finality
from payment_intake as i join payment_state as s on s.tenant_id = i.tenant_id and s.payment_id = i.payment_id;
grant select on payment to svc_app;

-- ── what is claimed once ───────────────────────────────────────────────────────────────────────────────────────────────

-- What an authorization is known by: SHA-256 of all that makes it one. None of the parts holds a blank, and hex is lower case where it is read
-- (modules/kernel/x402/payload.ts). Null of null, which no claim can have.
create function authorization_digest(network text, asset text, payer text, nonce text) returns bytea language sql stable
as $$ select sha256(convert_to(network || ' ' || asset || ' ' || payer || ' ' || nonce, 'UTF8')) $$;

-- An authorization settles at most once, across all sites (invariant 1). Its parts stand in the payment; here they would be written
-- twice more, in the row and in the key (ADR 0052).
create table authorization_claim (
  digest bytea primary key check (length(digest) = 32), -- authorization_digest of the payment
  tenant_id uuid not null,
  payment_id uuid not null
);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on authorization_claim deferrable initially deferred
  for each row execute function names_payment();
grant select, insert on authorization_claim to svc_app;

-- One transfer proves one payment (safety 1).
create table transfer_claim (
  network text not null,
  tx_hash text not null, -- or what a facilitator, or a purchase in test mode, calls its transfer
  log_position integer not null,
  tenant_id uuid not null,
  payment_id uuid not null,
  primary key (network, tx_hash, log_position),
  unique (payment_id, tenant_id) -- new ids come last, whichever site's they are: full pages are split at the end
);
create constraint trigger names_payment after insert or update of tenant_id, payment_id on transfer_claim
  for each row execute function names_payment();
grant select, insert, update, delete on transfer_claim to svc_app;

-- The open-purchase guard (safety 14): a purchase is locked by what it is told by, in insert, decision and release, without a row of its own.
-- Waits for its holder; held until the transaction ends.
create function lock_purchase(tenant_id uuid, payer text, resource_key text, kind text) returns void language sql volatile
as $$ select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', tenant_id, payer, kind, resource_key), 14)) $$;

create table idempotency_key (
  tenant_id uuid not null,
  key text not null,
  request_hash text not null,
  payment_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, key)
);
create index idempotency_key_by_time on idempotency_key (created_at);
grant select, insert, update, delete on idempotency_key to svc_app;
