-- Sums of hours are kept of a whole site's crossings only: those of pages, authors and observations were nearly as many rows as what they
-- add up, and reports read the rows. What there is of them stays for one release, since processes of the version before still
-- write and read it; no process of this one does.
comment on table crossing_hour is 'all but the dimension total: of the version before only; goes with the next release';
comment on table observation_hour is 'of the version before only; goes with the next release';

-- As before, but legs do not look up their crossing: a leg has the sign of its crossing, and one of nothing asks.
create or replace view crossing_part as
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

-- The night takes a day's rows together (lanes into one). What that leaves is used again before the tables grow.
alter table crossing_day set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table crossing_month set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table observation_day set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table observation_month set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
