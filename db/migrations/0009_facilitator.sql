-- Payments that another's x402 facilitator settles: what it was asked, and what it said. Its word decides nothing; it is kept.

alter table settlement_batch drop constraint settlement_batch_kind_check;
alter table settlement_batch add constraint settlement_batch_kind_check check (kind in ('settle', 'flush', 'facilitator'));

-- One row a payment that was handed over, written in the claim, before the first request leaves. `due_at` is when it may be asked
-- about (again): whoever moves it on asks, so that two processes do not ask at once.
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
  primary key (tenant_id, payment_id, batch_id),
  foreign key (tenant_id, payment_id) references payment
);
create index facilitator_submission_batch on facilitator_submission (batch_id);

grant select, insert, update, delete on facilitator_submission to svc_app;

-- A payment is updated a few times within its first seconds: room in its page keeps those updates from touching every index.
alter table payment set (fillfactor = 60);
