-- What the operator finds, changes and closes.

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

-- A person looked at a payment under review that no evidence decides: it is watched no more, until it is asked to be.
alter table payment add column review_closed_at timestamptz(3);
alter table payment add column review_closed_reason text;
