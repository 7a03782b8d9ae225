-- Months, and hours of a whole site: a report over a year adds up a dozen months and the days around them, and one over 30 days
-- reads each hour at its ends as one row a host and kind instead of one a slug. A month is the sum of its days.

alter table crossing_hour drop constraint crossing_hour_dimension_check;
alter table crossing_hour add constraint crossing_hour_dimension_check check (dimension in ('total', 'slug', 'author')) not valid;

create table crossing_month (
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
  lane smallint not null,
  hits bigint not null,
  micro bigint not null,
  verified bigint not null,
  invalid bigint not null,
  primary key (tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent, lane)
) with (fillfactor = 85);

-- What was rolled up before.
insert into crossing_hour
  select tenant_id, 'total', bucket, host, kind, '', 0, sum(events), sum(micro)
  from crossing_hour where dimension = 'slug' group by 1, 3, 4, 5;
insert into crossing_month
  select tenant_id, dimension, date_trunc('month', bucket, 'UTC'), host, kind, key, 0, sum(events), sum(micro)
  from crossing_day group by 1, 2, 3, 4, 5, 6;
insert into observation_month
  select tenant_id, dimension, date_trunc('month', bucket, 'UTC'), host, verdict, classified_as, kind, reason, agent, 0,
    sum(hits), sum(micro), sum(verified), sum(invalid)
  from observation_day where dimension <> 'full' group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

grant select, insert, update, delete on crossing_month, observation_month to svc_app;
