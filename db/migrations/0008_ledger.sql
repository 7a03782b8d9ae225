-- The ledger: crossings and their legs, rows that never change. A correction is a row of its own.

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
  unique (payment_id, tenant_id, sequence), -- new ids come last, whichever site's they are: full pages are split at the end
  foreign key (tenant_id, payment_id) references payment_intake (tenant_id, payment_id),
  check (legs_total(legs) = micro),
  check (case when sequence % 2 = 0 then micro > 0 else micro < 0 end)
);
-- Read backwards for the newest. New entries come last of their site, so that full pages are split at the end and not in the middle.
create index crossing_by_time on crossing (tenant_id, at, crossing_id);
-- Corrections are few: this says at once that a row stands.
create index crossing_correction on crossing (tenant_id, payment_id, sequence) where sequence % 2 = 1;
grant select, insert on crossing to svc_app;

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
-- Reports ask for authors only; a platform's wallet has a leg of every crossing and would be walked in vain. One index for both the
-- lines of an author and the question which authors there are (modules/reports/store/earnings/authors.ts).
create index leg_by_author on leg (tenant_id, to_address, at desc) where role <> 'platform';
grant select, insert on leg to svc_app;

-- Crossings that no event has announced yet (outbox); closing a window moves them into its event. Those that one statement appends for a host
-- are one row: `crossing_ids` is all of them, `crossing_id` the first.
create table unannounced_crossing (
  tenant_id uuid not null,
  crossing_id uuid not null,
  crossing_ids uuid[] not null,
  host text not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (tenant_id, crossing_id),
  foreign key (tenant_id, crossing_id) references crossing
);
create index unannounced_crossing_window on unannounced_crossing (tenant_id, host, recorded_at);
grant select, insert, update, delete on unannounced_crossing to svc_app;
