-- What buyers report themselves of what they did with what they bought: no money, checked by nobody, kept as long as observations.
create table usage_report (
  tenant_id uuid not null references tenant,
  report_id uuid not null default uuidv7(),
  licence_jti text not null, -- the licence, or the re-read licence of one page
  idempotency_id text not null, -- the reporter's own name of it: the same one again is the same report
  request_hash text not null,
  host text not null,
  slug text not null,
  use text not null,
  count integer not null check (count > 0),
  within_terms boolean, -- null: what was bought says nothing about uses
  at timestamptz(3) not null,
  reported_at timestamptz(3) not null default now(),
  -- its place among the reports of its licence on the day (UTC) that it was taken: a day has only so many
  day date not null,
  place smallint not null check (place > 0),
  primary key (tenant_id, report_id),
  unique (tenant_id, licence_jti, idempotency_id),
  unique (tenant_id, licence_jti, day, place)
);
create index usage_report_newest on usage_report (tenant_id, at desc, report_id desc);
create index usage_report_by_time on usage_report (at); -- what ends is found by its time
grant select, insert, delete on usage_report to svc_app; -- a report never changes
