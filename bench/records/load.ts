import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { fillStatements, gatherShards, listTenantIds } from '../../modules/reports/store/rollupCheck.ts';
import { crossingSums, IN_HOURS, observationDays } from '../../modules/rollups/store/rollups.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { withoutIndexes } from './bulk.ts';

/** The busiest site: a fifth of all rows. */
export const BUSY = '00000000-0000-4000-8000-000000000001';
export const TENANTS = 200;
/** How many days the rows cover, the last one being today. */
export const DAYS = 400;
/** Of every site; the busy one owns them. */
export const HOSTS = ['one.example', 'two.example'];
const DAY_MS = 86_400_000;
const PRICING = {
  priceUsdc: '0.001',
  articlePrefixes: ['/news/'],
  creditsInline: { solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] } },
};

/** What to load. */
export interface LoadOptions {
  /** Crossings, and as many observations. */
  readonly rows: number;
  readonly nowMs: number;
  /** A superuser's. */
  readonly superUrl: string;
  readonly log: (line: string) => void;
}

/**
 * Fills an empty database with crossings, legs and observations of 200 sites over 400 days, observations in their day
 * partitions, and rollups as the product's writers and its nights leave them. Sites' shares fall off as a power of their rank. Made inside Postgres.
 */
export async function loadRecords(options: LoadOptions): Promise<void> {
  const database = await openDatabase({ url: options.superUrl, poolSize: 2, statementTimeoutMs: 3_600_000 });
  try {
    await step(options, 'sites and pages', () => addSites(database, options));
    await step(options, 'source', () => addSource(database, options));
    await withoutIndexes(
      database,
      ['crossing', 'leg', 'payment_intake', 'payment_state', 'observation'],
      () => step(options, 'rows', () => addRows(database)),
      (statements) => step(options, 'indexes', () => runInPairs(database, statements)),
    );
    await database.query('drop table source, page');
    await step(options, 'statistics', () =>
      runInPairs(
        database,
        ['crossing', 'leg', 'payment_intake', 'payment_state', 'observation'].map((table) => `analyze ${table}`),
      ),
    );
    const [lately = 0] = lastDays(options.nowMs);
    await withoutIndexes(
      database,
      ROLLUPS,
      () => step(options, 'rollups', () => addRollups(database, new Date(lately).toISOString())),
      (statements) => step(options, 'indexes of the rollups', () => runInPairs(database, statements)),
    );
    await step(options, 'vacuum', () =>
      runInPairs(
        database,
        [...ROLLUPS, 'crossing', 'leg', 'payment_intake', 'payment_state', 'observation'].map(
          (table) => `vacuum analyze ${table}`,
        ),
      ),
    );
    await step(options, 'nights', () => gatherAll(database, options));
  } finally {
    await database.close();
  }
}

async function step<T>(options: LoadOptions, name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const value = await work();
  options.log(`${name}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return value;
}

/** Two at a time, as there are cores. */
async function runInPairs(database: Database, statements: readonly string[]): Promise<void> {
  const queue = [...statements];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await database.query(next);
  };
  await Promise.all([work(), work()]);
}

const SITE = (rank: string): string => `('00000000-0000-4000-8000-' || lpad((${rank})::text, 12, '0'))::uuid`;
const WALLET = (number: string): string => `'0x' || lpad(to_hex(${number}), 40, '0')`;
const LEG = (wallet: string, micro: string, role: string, share: string): string =>
  `jsonb_build_object('toAddress', ${wallet}, 'amountMicro', (${micro})::text, 'role', '${role}', 'share', ${share})`;

/** The busy site has 400 pages and 30 authors, the others 40 and 10; every third page is by two. */
async function addSites(database: Database, { nowMs }: LoadOptions): Promise<void> {
  await database.query(`insert into tenant (tenant_id, status, plan, price_usdc)
    select ${SITE('n')}, 'active', 'studio', 1 from generate_series(2, ${TENANTS}) n`);
  await createTenant({ database }, { tenantId: BUSY, hosts: HOSTS, plan: 'studio', pricing: PRICING });
  await database.query(`create unlogged table page as
    select *, case when second is null then jsonb_build_array(${LEG('first', 'micro', 'author', '1')})
        else jsonb_build_array(${LEG('first', 'micro - part', 'author', '0.7')}, ${LEG('second', 'part', 'coauthor', '0.3')}) end as legs
    from (
      select rank, number, ${SITE('rank')} as tenant_id, 'news/slug-' || number as slug, 1000 + 10 * (number % 7) as micro,
        300 + 3 * (number % 7) as part, ${WALLET('1000 * rank + number % authors')} as first,
        case when number % 3 = 0 then ${WALLET('1000 * rank + (number + 1) % authors')} end as second, 'author-' || number % authors as author
      from generate_series(1, ${TENANTS}) rank, lateral (select case rank when 1 then 400 else 40 end as pages, case rank when 1 then 30
        else 10 end as authors) size, generate_series(0, pages - 1) number
    ) page`);
  await database.query('alter table page add primary key (rank, number)');
  await database.query('analyze page');
  const first = new Date(nowMs - DAYS * DAY_MS).toISOString().slice(0, 10);
  await database.query(`do $$ declare day date; begin
    for day in select generate_series('${first}'::date, current_date, interval '1 day')::date loop
      if to_regclass('observation_' || to_char(day, 'YYYYMMDD')) is null then
        execute format('create table %I partition of observation for values from (%L) to (%L)', 'observation_' || to_char(day, 'YYYYMMDD'),
          day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
      end if;
    end loop; end $$`);
}

/** One row stands for a crossing and for an observation of about the same time; ids ascend with time as the product's do. */
async function addSource(database: Database, { rows, nowMs }: LoadOptions): Promise<void> {
  await database.query(`create unlogged table source (n bigint, crossing_id uuid, payment_id uuid, rank integer, number integer,
    at timestamptz(3), host text, kind text, verdict text, agent text)`);
  const middle = Math.floor(rows / 2);
  const part = (from: number, to: number): string => `insert into source
    select n, uuidv7(), uuidv7(), rank, floor(case rank when 1 then 400 else 40 end * a * b)::integer,
      to_timestamp(${nowMs / 1_000} - ${(DAYS - 1) * 86_400}::double precision * (1 - n / ${rows}::double precision))::timestamptz(3),
      case when b < 0.75 then 'one.example' else 'two.example' end, case when a < 0.9 then 'read' else 'citation' end,
      (array['served-free','served-free','served-free','served-free','denied','denied','denied','agent-reread','blocked','paid','paid',
        'payment-failed'])[1 + floor(12 * c)::integer],
      (array['other','other','gptbot','claudebot','perplexitybot','googlebot','bingbot','ccbot','agent.example'])[1 + floor(9 * d)::integer]
    from generate_series(${from}, ${to}) n, lateral (select n as same, random() as a, random() as b, random() as c, random() as d,
      1 + floor(${TENANTS} * random() ^ 3.3)::integer as rank) drawn`;
  await runInPairs(database, [part(1, middle), part(middle + 1, rows)]);
  await database.query('analyze source');
}

async function addRows(database: Database): Promise<void> {
  const from = 'from source s join page p using (rank, number)';
  await runInPairs(database, [
    `insert into crossing (tenant_id, crossing_id, payment_id, sequence, host, slug, kind, micro, legs, payer, agent, at, recorded_at)
     select p.tenant_id, s.crossing_id, s.payment_id, 0, s.host, p.slug, s.kind, p.micro, p.legs, p.first, s.agent, s.at, s.at ${from}`,
    `insert into leg (tenant_id, crossing_id, ordinal, payment_id, to_address, amount_micro, role, author_id, share, host, slug, kind, at)
     select p.tenant_id, s.crossing_id, o, s.payment_id, case o when 0 then p.first else p.second end,
       case when p.second is null then p.micro when o = 0 then p.micro - p.part else p.part end,
       case o when 0 then 'author' else 'coauthor' end, p.author, case when p.second is null then 1 when o = 0 then 0.7 else 0.3 end,
       s.host, p.slug, s.kind, s.at ${from} join generate_series(0, 1) o on o = 0 or p.second is not null`,
    `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, reason, agent, agent_ua, verified,
       sig_invalid, at, recorded_at)
     select p.tenant_id, s.crossing_id, s.host, p.slug, s.verdict, case when s.verdict = 'served-free' then 'human' else 'agent' end, s.kind,
       p.micro, case when s.verdict = 'payment-failed' then 'insufficient_funds' end, s.agent, s.agent, s.agent = 'agent.example',
       false, s.at, s.at ${from}`,
    `insert into payment_intake (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature, x402_version,
       host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, accepted_at, at)
     select p.tenant_id, s.payment_id, 'eip155:84532', 'a', p.first, p.first, s.payment_id, 0, 1, '0x', 2, s.host, p.slug, 'r', 'r', s.kind,
       p.micro, p.legs, 'r', 'b', s.at, s.at ${from}
     where rank = 1`,
    `insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, state, tx_hash, watched)
     select p.tenant_id, s.payment_id, 'eip155:84532', 'live', p.first, p.first, 120000, s.at, 'final',
       '0x' || md5(n::text) || md5((-n)::text), false ${from}
     where rank = 1`,
  ]);
}

const ROLLUPS = ['crossing_hour', 'crossing_day', 'crossing_month', 'observation_day', 'observation_month'];
const SHARDS = ['0', '1', '2', '3'];

/** Days whose nights nobody has vacuumed behind. */
const LATELY = 10;
const lastDays = (nowMs: number): number[] =>
  Array.from({ length: LATELY }, (_, n) => (Math.floor(nowMs / DAY_MS) - LATELY + n) * DAY_MS);

/**
 * Sums as the nights leave them; those of the last days as live writers do, each key in four rows, as the rows themselves fell to one connection
 * or another.
 */
async function addRollups(database: Database, lately: string): Promise<void> {
  for (const statement of fillStatements((moment) => `${moment} < '${lately}'`)) await database.query(statement);
  const fell = (id: string, shard: string): string => `at >= '${lately}' and hashtext(${id}::text) & 3 = ${shard}`;
  await runInPairs(
    database,
    SHARDS.flatMap((shard) => [
      `insert into observation_day ${observationDays(`(select * from observation where ${fell('observation_id', shard)}) as plain`, shard)}`,
      `insert into crossing_day ${crossingSums('day', fell('crossing_id', shard), { shard })}`,
      `insert into crossing_hour ${crossingSums('hour', `${fell('crossing_id', shard)} and ${IN_HOURS}`, { shard })}`,
    ]),
  );
}

/** Night by night, what the nights have done with the last days. Nobody has vacuumed behind them. */
async function gatherAll(database: Database, { nowMs }: LoadOptions): Promise<void> {
  const sites = await listTenantIds(database);
  for (const fromMs of lastDays(nowMs)) {
    for (const tenantId of sites) await gatherShards(database, tenantId, { fromMs, toMs: fromMs + DAY_MS });
  }
}
