-- What an account is told of its budget (docs/budget-alerts.md): where, and what. An alert says what its row says, so its columns up to
-- `at` never change: each attempt sends the same bytes under the same event id.

create table account_alert_endpoint (
  account_id uuid primary key references buyer_account,
  endpoint_id uuid not null, -- new with each secret, which opens beside this id alone
  url text not null,
  sealed bytea not null,
  key_id text not null, -- check value of the SECRETS_KEY that it is sealed with
  set_at timestamptz(3) not null default now()
);

-- One alert for each threshold of a limit in a period, whoever crosses it how often.
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

-- The owner of an account tells its agents' keys apart by a name, and takes one away by its id.
alter table buyer_key add column key_id uuid not null default gen_random_uuid(), add column name text;

grant select, insert, update, delete on account_alert_endpoint, account_alert to svc_app;
revoke update on account_alert from svc_app;
grant update (state, reason, attempts, due_at, leased_until, lease_id, decided_at) on account_alert to svc_app;
