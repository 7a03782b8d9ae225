-- Anomaly rules and alert e-mail (decision 4.11).

create table anomaly_rule (
  tenant_id uuid not null references tenant,
  rule_id uuid not null,
  metric text not null check (metric in ('agent_hits', 'denied', 'paid', 'payment_failed', 'payment_failure_rate',
    'masquerade_attempts', 'missed_micro', 'earned_micro', 'earned_drop_pct', 'unservable', 'free_without_authors')),
  range_key text not null check (range_key in ('1h', '6h', '24h', '7d', '30d')),
  threshold double precision not null check (threshold > 0 and threshold < 'Infinity'),
  host text, -- null: every host of the tenant
  enabled boolean not null default true,
  -- the breach that stands, the last throttle window of it that fired, and when that was
  breached_at timestamptz(3),
  fired_window integer,
  fired_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, rule_id),
  check (breached_at is null or (fired_window is not null and fired_at is not null))
);
grant select, insert, update, delete on anomaly_rule to svc_app;

-- E-mail to send, written in the database transaction that gives reason for it. An alert a day old is no longer sent.
create table alert_mail (
  tenant_id uuid not null references tenant,
  mail_id text not null,
  to_address text not null,
  subject text not null,
  detail text not null,
  sealed bytea, -- a mail that carries a secret holds it sealed, and only until it was sent
  attempts smallint not null default 0,
  due_at timestamptz(3) not null default now(),
  sent_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, mail_id)
);
create index alert_mail_due on alert_mail (due_at) where sent_at is null;
grant select, insert, update, delete on alert_mail to svc_app;
