import type { Sql } from '../../../db/database.ts';
import { MAX_CARRIED_NAMES, MAX_NAMES } from '../rules/agentName.ts';

/** A name that an agent gave itself, on a day of a site; `day` is a date of UTC. */
export interface NameOfDay {
  readonly tenantId: string;
  readonly day: string;
  readonly name: string;
}

/** All names that have a place on a day of a site, in no order. */
export interface NamesOfDay {
  readonly tenantId: string;
  readonly day: string;
  readonly names: readonly string[];
}

/**
 * Gives names the free places of their site and day, and says which names have one. The first call of a day gives places to the busiest
 * names of the day before it. Again: nothing changes. One statement for any number of names. A name that is neither among those named nor
 * kept out by a full day lost its place to another process at this moment: ask again.
 */
export function takePlaces(sql: Sql, wishes: readonly NameOfDay[]): Promise<NamesOfDay[]> {
  return sql.query<NamesOfDay & Record<string, unknown>>(
    `with asked as materialized (
       select tenant_id, day, name, min(turn) as turn
       from unnest($1::uuid[], $2::date[], $3::text[]) with ordinality as wish (tenant_id, day, name, turn) group by 1, 2, 3
     ), days as materialized (select distinct tenant_id, day from asked
     ), held as materialized (select n.tenant_id, n.day, n.place, n.name from days join agent_name n using (tenant_id, day)
     ), carried as (
       select d.tenant_id, d.day, busy.name, busy.turn from days d cross join lateral (
         select n.name, row_number() over (order by sum(r.hits) desc, n.name) as turn
         from agent_name n join observation_day r on r.tenant_id = n.tenant_id and r.agent = n.name
           and r.dimension = 'label' and r.bucket = n.day::timestamp at time zone 'UTC'
         where n.tenant_id = d.tenant_id and n.day = d.day - 1
         group by n.name having sum(r.hits) > 0 order by turn limit $4) busy
       where not exists (select from held where held.tenant_id = d.tenant_id and held.day = d.day)
     ), wanted as (
       select wish.tenant_id, wish.day, wish.name,
         row_number() over (partition by wish.tenant_id, wish.day order by min(wish.rank), min(wish.turn)) as turn
       from (select tenant_id, day, name, turn, 1 as rank from carried union all select tenant_id, day, name, turn, 2 from asked) wish
       where not exists (select from held where (held.tenant_id, held.day, held.name) = (wish.tenant_id, wish.day, wish.name))
       group by 1, 2, 3
     ), free as (
       select d.tenant_id, d.day, one.place, row_number() over (partition by d.tenant_id, d.day order by one.place) as turn
       from days d cross join generate_series(1, $5::int) one (place)
       where not exists (select from held where (held.tenant_id, held.day, held.place) = (d.tenant_id, d.day, one.place))
     ), made as (
       insert into agent_name (tenant_id, day, place, name)
       select tenant_id, day, place, name from wanted join free using (tenant_id, day, turn) order by 1, 2, 3
       on conflict do nothing returning tenant_id, day, name
     )
     select tenant_id as "tenantId", day::text as day, array_agg(name) as names
     from (select tenant_id, day, name from held union all select tenant_id, day, name from made) standing group by 1, 2`,
    [
      wishes.map(({ tenantId }) => tenantId),
      wishes.map(({ day }) => day),
      wishes.map(({ name }) => name),
      MAX_CARRIED_NAMES,
      MAX_NAMES,
    ],
    'take-agent-names',
  );
}
