-- Rollups: what reports add up instead of rows (safety 22, 23; ADR 0026, 0059). A report over a window is whole months, whole days, whole hours of a
-- site's total, and the rows themselves at its two ends. The writer of a row adds it to its hour and day in the same database transaction, last,
-- the tables in one order, keys in order. `shard` spreads a busy key over a few live rows (0 to 3); the night gathers those of days that are over
-- into shard 4, and in the same statement into the month. So a month is what was gathered of its days, and readers add its live rows. Buckets are
-- UTC. A correction counts -1 and a negative amount, so that sums are net.

-- A slug as a rollup key: as it is, or cut and told apart by its hash where an index entry could not hold it.
create function slug_key(slug text) returns text
  language sql immutable parallel safe
  return case when octet_length(slug) <= 1024 then slug else left(slug, 200) || '…' || md5(slug) end;

-- What a crossing adds to: once the site's total, once its slug, and once each author (platform legs are nobody's earnings). A leg has the sign of
-- its crossing, and one of nothing asks.
create view crossing_part as
  select c.tenant_id, c.crossing_id, c.at, 'total' as dimension, c.host, c.kind, '' as key,
    case when c.sequence % 2 = 0 then 1 else -1 end as events, c.micro
  from crossing c
  union all
  select c.tenant_id, c.crossing_id, c.at, 'slug', c.host, c.kind, slug_key(c.slug),
    case when c.sequence % 2 = 0 then 1 else -1 end, c.micro
  from crossing c
  union all
  select l.tenant_id, l.crossing_id, l.at, 'author', l.host, l.kind, l.to_address,
    case when l.amount_micro > 0 then 1 when l.amount_micro < 0 then -1
      else (select case when c.sequence % 2 = 0 then 1 else -1 end from crossing c
        where c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id) end, l.amount_micro
  from leg l
  where l.role <> 'platform';
grant select on crossing_part to svc_app;

-- Sums of hours are kept of a whole site's crossings only: those of pages and authors were nearly as many rows as what they add up, and reports
-- read the rows.
create table crossing_hour (
  tenant_id uuid not null,
  dimension text not null check (dimension = 'total'),
  bucket timestamptz(3) not null,
  host text not null,
  kind text not null,
  key text not null,
  shard smallint not null,
  events bigint not null,
  micro bigint not null,
  primary key (tenant_id, dimension, bucket, host, kind, key, shard)
) with (fillfactor = 85);
create index crossing_hour_live on crossing_hour (tenant_id, dimension, bucket) where shard < 4;
grant select, insert, update, delete on crossing_hour to svc_app;

-- `site-slug` and `site-author` are gathered rows of all hosts and kinds at once (both ''), with how many of their events are `citations`: what
-- reports without a host and a kind read. What the night leaves is used again before the tables grow.
create table crossing_day (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('total', 'slug', 'author', 'site-slug', 'site-author')),
  bucket timestamptz(3) not null,
  host text not null,
  kind text not null,
  key text not null,
  shard smallint not null,
  events bigint not null,
  micro bigint not null,
  citations bigint not null default 0, -- of rows of all kinds; 0 where `kind` says it
  primary key (tenant_id, dimension, bucket, host, kind, key, shard)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index crossing_day_live on crossing_day (tenant_id, dimension, bucket) where shard < 4;
grant select, insert, update, delete on crossing_day to svc_app;

-- A month is the sum of its gathered days: a report over a year adds up a dozen months and the days around them.
create table crossing_month (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('total', 'slug', 'author', 'site-slug', 'site-author')),
  bucket timestamptz(3) not null,
  host text not null,
  kind text not null,
  key text not null,
  events bigint not null,
  micro bigint not null,
  citations bigint not null default 0, -- as in days
  primary key (tenant_id, dimension, bucket, host, kind, key)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
grant select, insert, update, delete on crossing_month to svc_app;

-- '' stands for no kind, no reason. Days hold every member under `full`, without the agent under `total`, and by agent alone under `label`
-- (agents only; the verdict is denied, paid or '', the reason that of a paid one). `verified` and `verified_micro` are the part of hits and micro
-- whose signature verified.
create table observation_day (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('total', 'full', 'label')),
  bucket timestamptz(3) not null,
  host text not null,
  verdict text not null,
  classified_as text not null,
  kind text not null,
  reason text not null,
  agent text not null,
  shard smallint not null,
  hits bigint not null,
  micro bigint not null,
  verified bigint not null,
  verified_micro bigint not null,
  invalid bigint not null,
  primary key (tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent, shard)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index observation_day_live on observation_day (tenant_id, dimension, bucket) where shard < 4;
grant select, insert, update, delete on observation_day to svc_app;

-- No `full`: by agent and everything else at once, a month would be nearly as many rows as its days.
create table observation_month (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('total', 'label')),
  bucket timestamptz(3) not null,
  host text not null,
  verdict text not null,
  classified_as text not null,
  kind text not null,
  reason text not null,
  agent text not null,
  hits bigint not null,
  micro bigint not null,
  verified bigint not null,
  verified_micro bigint not null,
  invalid bigint not null,
  primary key (tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
grant select, insert, update, delete on observation_month to svc_app;
