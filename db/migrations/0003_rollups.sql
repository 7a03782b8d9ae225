-- Rollups: what reports add up instead of rows (safety 22, 23). A report over a window is whole days from *_day, whole
-- hours from *_hour, and the ragged edges from the rows themselves. Whoever writes a row adds it here in the same database
-- transaction, last, the tables in one order, keys in order. `lane` spreads a busy key over a few rows; readers add them up.
-- Buckets are UTC. A correction counts -1 and a negative amount, so that sums are net.

-- A slug as a rollup key: as it is, or cut and told apart by its hash where an index entry could not hold it.
create function slug_key(slug text) returns text
  language sql immutable parallel safe
  return case when octet_length(slug) <= 1024 then slug else left(slug, 200) || '…' || md5(slug) end;

-- What a crossing adds to: once the site's total, once its slug, and once each author (platform legs are nobody's earnings).
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
    case when c.sequence % 2 = 0 then 1 else -1 end, l.amount_micro
  from leg l join crossing c on c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id
  where l.role <> 'platform';

-- Hours hold no `total`: the slugs of an hour add up to it.
create table crossing_hour (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('slug', 'author')),
  bucket timestamptz(3) not null,
  host text not null,
  kind text not null,
  key text not null,
  lane smallint not null,
  events bigint not null,
  micro bigint not null,
  primary key (tenant_id, dimension, bucket, host, kind, key, lane)
) with (fillfactor = 85);
create table crossing_day (
  tenant_id uuid not null,
  dimension text not null check (dimension in ('total', 'slug', 'author')),
  bucket timestamptz(3) not null,
  host text not null,
  kind text not null,
  key text not null,
  lane smallint not null,
  events bigint not null,
  micro bigint not null,
  primary key (tenant_id, dimension, bucket, host, kind, key, lane)
) with (fillfactor = 85);

-- '' stands for no kind, no reason. Hours hold every member; days hold the same under `full`, without the agent under `total`,
-- and by agent alone under `label` (agents only; the verdict is denied, paid or '').
create table observation_hour (
  tenant_id uuid not null,
  bucket timestamptz(3) not null,
  host text not null,
  verdict text not null,
  classified_as text not null,
  kind text not null,
  reason text not null,
  agent text not null,
  lane smallint not null,
  hits bigint not null,
  micro bigint not null,
  verified bigint not null,
  invalid bigint not null,
  primary key (tenant_id, bucket, host, verdict, classified_as, kind, reason, agent, lane)
) with (fillfactor = 85);
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
  lane smallint not null,
  hits bigint not null,
  micro bigint not null,
  verified bigint not null,
  invalid bigint not null,
  primary key (tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent, lane)
) with (fillfactor = 85);

-- Corrections are few: these say at once that a row stands.
create index crossing_correction on crossing (tenant_id, payment_id, sequence) where sequence % 2 = 1;
create index observation_taken_back on observation (tenant_id, payment_id, verdict) where count = -1;

-- Rows from before the rollups.
insert into crossing_hour
  select tenant_id, dimension, date_trunc('hour', at, 'UTC'), host, kind, key, 0, sum(events), sum(micro)
  from crossing_part where dimension <> 'total' group by 1, 2, 3, 4, 5, 6;
insert into crossing_day
  select tenant_id, dimension, date_trunc('day', at, 'UTC'), host, kind, key, 0, sum(events), sum(micro)
  from crossing_part group by 1, 2, 3, 4, 5, 6;
insert into observation_hour
  select tenant_id, date_trunc('hour', at, 'UTC'), host, verdict, classified_as, coalesce(kind, ''), coalesce(reason, ''), agent, 0,
    sum(count), sum(count * coalesce(micro, 0)), coalesce(sum(count) filter (where verified), 0),
    coalesce(sum(count) filter (where sig_invalid), 0)
  from observation group by 1, 2, 3, 4, 5, 6, 7, 8;
insert into observation_day
  select tenant_id, 'full', date_trunc('day', bucket, 'UTC'), host, verdict, classified_as, kind, reason, agent, 0,
    sum(hits), sum(micro), sum(verified), sum(invalid)
  from observation_hour group by 1, 3, 4, 5, 6, 7, 8, 9
  union all
  select tenant_id, 'total', date_trunc('day', bucket, 'UTC'), host, verdict, classified_as, kind, reason, '', 0,
    sum(hits), sum(micro), sum(verified), sum(invalid)
  from observation_hour group by 1, 3, 4, 5, 6, 7, 8
  union all
  select tenant_id, 'label', date_trunc('day', bucket, 'UTC'), '', case when verdict in ('denied', 'paid') then verdict else '' end,
    'agent', '', '', agent, 0, sum(hits), sum(micro), sum(verified), sum(invalid)
  from observation_hour where classified_as = 'agent' group by 1, 3, 5, 9;

grant select on crossing_part to svc_app;
grant select, insert, update, delete on crossing_hour, crossing_day, observation_hour, observation_day to svc_app;
