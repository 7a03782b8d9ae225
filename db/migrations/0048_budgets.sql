-- What an account may spend (ADR 0046). An account without a row here may spend anything.
create table account_budget (
  account_id uuid primary key references buyer_account,
  period text not null check (period in ('day', 'week', 'month')), -- of UTC; a week begins on Monday
  total_micro bigint not null check (total_micro >= 0),
  host_micro bigint check (host_micro >= 0),
  page_micro bigint check (page_micro >= 0), -- the most that one page may cost
  approve_above_micro bigint check (approve_above_micro >= 0),
  is_stopped boolean not null default false,
  version integer not null default 1,
  updated_at timestamptz(3) not null default now()
);

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
  foreign key (tenant_id, payment_id) references payment_intake,
  check ((state = 'open') = (closed_at is null))
);
create index account_spending_newest on account_spending (account_id, at desc, payment_id desc);
create index account_spending_open on account_spending (account_id, at) where state = 'open';

-- What counts of a period, in all (host '') and by host. Changed under the lock of the account's row only.
create table account_spent (
  account_id uuid not null references buyer_account,
  period_start timestamptz(3) not null,
  host text not null,
  micro bigint not null check (micro >= 0),
  primary key (account_id, period_start, host)
);

-- Purchases above `approve_above_micro`, asked of the account's owner. One that was approved is good for one payment.
create table account_approval (
  account_id uuid not null references buyer_account,
  approval_id uuid not null default gen_random_uuid(),
  host text not null,
  resource text not null, -- the URL, for whoever decides
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

-- Clients whose tokens are the owner's, as a sign-in with the wallet is; those of before may buy as they did.
alter table oauth_client add column is_owner boolean not null default false;

grant select, insert, update, delete on account_budget, account_spent, account_approval to svc_app;
grant select, insert on account_spending to svc_app; -- what was bought never changes, only what became of it
grant update (state, closed_at) on account_spending to svc_app;
