-- What the operator is told, changes, and ends after a while (docs/runbook.md).

create table operator_alert (
  alert_id uuid primary key,
  tenant_id uuid,
  kind text not null,
  detail text not null,
  raised_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3)
);
-- What an operator has not dealt with yet; read by gauges on an interval.
create index operator_alert_open on operator_alert (kind) where resolved_at is null;
grant select, insert, update, delete on operator_alert to svc_app;

-- What an operator changed that belongs to no site; what belongs to one stands in its audit_log. Append-only, as that is.
create table operator_audit_log (
  entry_id uuid primary key,
  at timestamptz(3) not null default clock_timestamp(),
  actor_id text not null, -- who ran the command line: the user of its machine, or --as
  action text not null check (action ~ '^[a-z]+\.[a-z_]+$'),
  target text, -- an address, an alert's kind, an account
  before jsonb, -- only what differs; null: there was nothing
  after jsonb, -- only what differs; null: there is nothing any more
  check (length(actor_id) between 1 and 100)
);
create index operator_audit_log_newest on operator_audit_log (at desc, entry_id desc);
grant select, insert (entry_id, actor_id, action, target, before, after) on operator_audit_log to svc_app;

-- How far a job that goes through old rows came; a job that began anew only reads again what it had not noted.
create table retention_progress (
  what text primary key,
  done_before timestamptz(3) not null
);
grant select, insert, update on retention_progress to svc_app;
