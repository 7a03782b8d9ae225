-- What buyer accounts spent, and their alerts (ADR 0046, docs/budgets.md). What they may spend stands in buyer_account.

-- Payments that count against an account: those that it bought with its credential, and all that its wallet signs. Written with the
-- payment. 'open' counts and may still change; 'spent' counts for good; 'released' moved nothing and can no longer.
create table account_spending (
  tenant_id uuid not null,
  payment_id uuid not null,
  account_id uuid not null references buyer_account,
  host text not null,
  resource_key text not null,
  kind text not null check (kind in ('read', 'citation')),
  purpose text not null check (purpose in ('page', 'licence')),
  amount_micro bigint not null check (amount_micro > 0),
  at timestamptz(3) not null default now(),
  state text not null default 'open' check (state in ('open', 'spent', 'released')),
  closed_at timestamptz(3),
  primary key (tenant_id, payment_id, account_id),
  check ((state = 'open') = (closed_at is null))
);
create index account_spending_newest on account_spending (account_id, at desc, payment_id desc);
-- What an account bought of one page, for reading it again.
create index account_spending_of_page on account_spending (account_id, resource_key, at desc);
create index account_spending_open on account_spending (account_id, at) where state = 'open';
create constraint trigger names_payment after insert or update of tenant_id, payment_id on account_spending
  for each row execute function names_payment();
grant select, insert on account_spending to svc_app; -- what was bought never changes, only what became of it
grant update (state, closed_at) on account_spending to svc_app;

-- What counts of a period, in all (host '') and by host. Changed under the lock of the account's row only.
create table account_spent (
  account_id uuid not null references buyer_account,
  period_start timestamptz(3) not null,
  host text not null,
  micro bigint not null check (micro >= 0),
  primary key (account_id, period_start, host)
);
grant select, insert, update, delete on account_spent to svc_app;

-- Purchases above `approve_above_micro`, asked of the account's owner. One that was approved is good for one payment.
create table account_approval (
  account_id uuid not null references buyer_account,
  approval_id uuid not null default gen_random_uuid(),
  host text not null,
  resource text not null, -- the URL, shown to the owner who decides
  resource_key text not null,
  kind text not null check (kind in ('read', 'citation')),
  amount_micro bigint not null check (amount_micro > 0),
  state text not null default 'asked' check (state in ('asked', 'approved', 'refused', 'used')),
  asked_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  ends_at timestamptz(3) not null,
  primary key (account_id, approval_id)
);
create index account_approval_newest on account_approval (account_id, asked_at desc, approval_id desc);
create index account_approval_open on account_approval (account_id, resource_key, kind) where state in ('asked', 'approved');
grant select, insert, update, delete on account_approval to svc_app;

-- ── alerts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- One alert for each threshold of a limit in a period, however often it is crossed. An alert says what its row says, so its columns up to `at`
-- never change: each attempt sends the same bytes under the same event id.
create table account_alert (
  account_id uuid not null references buyer_account,
  period text not null check (period in ('day', 'week', 'month')),
  period_start timestamptz(3) not null,
  limit_micro bigint not null check (limit_micro > 0),
  percent smallint not null check (percent in (50, 80, 100)),
  event_id text not null default 'evt_' || replace(gen_random_uuid()::text, '-', ''),
  period_end timestamptz(3) not null,
  spent_micro bigint not null,
  at timestamptz(3) not null default now(),
  state text not null check (state in ('unsent', 'waiting', 'delivered', 'failed', 'exhausted')),
  reason text, -- why the last attempt failed
  attempts smallint not null default 0,
  due_at timestamptz(3) not null default now(),
  leased_until timestamptz(3) not null default '-infinity',
  lease_id uuid,
  decided_at timestamptz(3),
  primary key (account_id, period, period_start, limit_micro, percent)
);
create unique index account_alert_event on account_alert (event_id);
create index account_alert_newest on account_alert (account_id, at desc, event_id);
create index account_alert_waiting on account_alert (due_at) where state = 'waiting';
grant select, insert, delete on account_alert to svc_app;
grant update (state, reason, attempts, due_at, leased_until, lease_id, decided_at) on account_alert to svc_app;
