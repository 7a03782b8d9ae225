import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { findMismatches, gatherShards, listTenantIds, rebuildRollups } from '../../modules/reports/store/rollupCheck.ts';
import type { AuditGroup } from '../../modules/reports/use/audit.ts';
import { AUDIT_GROUPS, readAudit } from '../../modules/reports/use/audit.ts';
import type { EarningsGroup } from '../../modules/reports/use/earnings.ts';
import { EARNINGS_GROUPS, readEarnings } from '../../modules/reports/use/earnings.ts';
import { checkRollups, gatherRollups } from '../../modules/reports/use/rollups.ts';
import { readStatements } from '../../modules/reports/use/statements.ts';
import { insertTenant } from '../support/ledger.ts';
import { createDatabase, PATIENT_MS } from '../support/parts.ts';
import type { Purchase, Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen } from '../support/reports.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Two borders of months before the last days, so that windows hold months, days and what is around them. */
const BASE = Math.floor(Date.now() / DAY) * DAY - 80 * DAY;
const SPAN = 79 * DAY;
const HOSTS = ['one.example', 'two.example'];
const SLUGS = ['a', 'b', '', 'ü'];
const WALLETS = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`);
const AGENTS = ['other', 'gptbot', 'claudebot', 'agent.example'];
const VERDICTS = ['served-free', 'agent-reread', 'denied', 'blocked', 'paid', 'payment-failed', 'unservable'];
const REASONS = ['insufficient_funds', 'authorization_invalid', 'settlement_failed'];

let urls: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
const tenants: string[] = [];
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, statementTimeoutMs: PATIENT_MS });
  tenants.push(await insertTenant(database, HOSTS[0]), await insertTenant(database, 'else.example'));
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

/** How long after `BASE` the first or second month after it begins. */
function firstAfterBase(month: number): number {
  const base = new Date(BASE);
  return Date.UTC(base.getUTCFullYear(), base.getUTCMonth() + month) - BASE;
}

/** Moments that like full hours, days and months, and each other. */
const moment = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: SPAN }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 5 * DAY }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 5 * 24 }).map((hours) => hours * HOUR) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5 * 24 }).map((hours) => Math.max(0, hours * HOUR - 1)) },
    { weight: 1, arbitrary: fc.constant(2 * DAY + 5) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(1, 2), fc.constantFrom(-1, 0, 1)).map(([month, ms]) => firstAfterBase(month) + ms),
    },
  )
  .map((offset) => BASE + offset);
const from = fc.constantFrom;
const purchase = fc.record({
  tenant: from(0, 0, 0, 1),
  host: from(...HOSTS),
  slug: from(...SLUGS),
  kind: from('read' as const, 'citation' as const),
  atMs: moment,
  steps: from(1, 1, 1, 1, 1, 2, 3),
  laterMs: from(0, 0, HOUR / 3, 2 * DAY),
  amounts: fc
    .uniqueArray(from(0, 1, 2), { minLength: 1, maxLength: 3 })
    .chain((wallets) => fc.tuple(fc.constant(wallets), fc.integer({ min: 1, max: 9_000 }), fc.boolean())),
});
const seen = fc.record({
  tenant: from(0, 0, 0, 1),
  host: from(...HOSTS),
  slug: from(...SLUGS),
  verdict: from(...VERDICTS),
  classifiedAs: from('human' as const, 'agent' as const),
  kind: from('read' as const, 'citation' as const, null),
  micro: fc.option(fc.integer({ min: 0, max: 9_000 })),
  reason: from(...REASONS),
  agent: from(...AGENTS),
  agentUa: from('curl/8', 'GPTBot', null),
  verified: from(true, false, null),
  sigInvalid: from(true, false, null),
  atMs: moment,
  isTakenBack: from(false, false, false, true),
});

type Made<T> = T extends fc.Arbitrary<infer U> ? U : never;

function asPurchase({ tenant, amounts: [wallets, micro, hasFee], ...rest }: Made<typeof purchase>): Purchase {
  const legs = wallets.map((index, n) => ({
    toAddress: WALLETS[index]!,
    amountMicro: n === 0 ? micro : n - 1,
    authorId: `author-${index}`,
  }));
  const fee = hasFee ? [{ toAddress: `0x${'f'.repeat(40)}`, amountMicro: 7, role: 'platform' as const }] : [];
  return { ...rest, tenantId: tenants[tenant]!, legs: [...legs, ...fee] };
}

function asSeen(row: Made<typeof seen>): Seen[] {
  const { tenant, isTakenBack, reason, ...rest } = row;
  const isMoney = rest.verdict === 'paid' || rest.verdict === 'payment-failed';
  const one = {
    ...rest,
    tenantId: tenants[tenant]!,
    reason: rest.verdict === 'payment-failed' ? reason : null,
    count: 1 as const,
    paymentId: null,
    verifiedAgent: rest.agent.includes('.') ? rest.agent : null,
  };
  return isMoney && isTakenBack ? [one, { ...one, count: -1 }] : [one];
}

const windows = fc.record({
  ends: fc
    .tuple(moment, moment, fc.boolean())
    .map(([a, b, isOpen]) => ({ fromMs: Math.min(a, b), toMs: isOpen ? null : Math.max(a, b) })),
  host: fc.option(from(...HOSTS)),
  kind: fc.option(from('read' as const, 'citation' as const)),
  verdict: fc.option(from(...VERDICTS), { freq: 3 }),
  agent: fc.option(from('other', 'gptbot', 'agent.example', 'curl/8', 'unknown'), { freq: 3 }),
  group: from(...EARNINGS_GROUPS),
  auditGroup: from(...AUDIT_GROUPS),
});

/** The window and filters as plain SQL over a table of rows; nothing of the reports' own. */
function plainly(alias: string, w: { ends: { fromMs: number; toMs: number | null }; host: string | null; kind: string | null }) {
  const parts = [`${alias}.tenant_id = '${tenants[0]}'`, `${alias}.at >= to_timestamp(${w.ends.fromMs} / 1000.0)`];
  if (w.ends.toMs !== null) parts.push(`${alias}.at < to_timestamp(${w.ends.toMs} / 1000.0)`);
  if (w.host !== null) parts.push(`${alias}.host = '${w.host}'`);
  if (w.kind !== null) parts.push(`${alias}.kind = '${w.kind}'`);
  return parts.join(' and ');
}

const SIGN = 'case when c.sequence % 2 = 0 then 1 else -1 end';
const site = () => ({ tenantId: tenants[0]!, hosts: HOSTS, plan: 'enterprise' as const });
const deps = () => ({ database, clock: () => BASE + SPAN + DAY });
const EVERYTHING = { fromMs: 0, toMs: null };
const common = { compare: true, cursorMs: null, limit: 20 };

async function plainEarnings(w: Parameters<typeof plainly>[1], group: EarningsGroup) {
  const column = { host: 'c.host', slug: 'c.slug', kind: 'c.kind', author: '' }[group];
  const [total] = await database.query(
    `select coalesce(sum(${SIGN}), 0)::int as events, coalesce(sum(micro), 0)::bigint as micro,
       coalesce(sum(${SIGN}) filter (where kind = 'read'), 0)::int as reads from crossing c where ${plainly('c', w)}`,
  );
  const source =
    group === 'author'
      ? `select l.to_address as key, sum(${SIGN})::int as events, sum(l.amount_micro)::bigint as micro,
             coalesce(sum(${SIGN}) filter (where l.kind = 'read'), 0)::int as reads
           from leg l join crossing c using (tenant_id, crossing_id) where ${plainly('l', w)} and l.role <> 'platform' group by 1`
      : `select ${column} as key, sum(${SIGN})::int as events, sum(micro)::bigint as micro,
             coalesce(sum(${SIGN}) filter (where kind = 'read'), 0)::int as reads from crossing c
           where ${plainly('c', w)} group by 1`;
  const groups = await database.query<{ key: string; events: number; reads: number; micro: string }>(
    `select * from (${source}) g where events <> 0 or micro <> 0 order by micro desc, key collate "C"`,
  );
  return { events: total!['events'], reads: total!['reads'], micro: BigInt(total!['micro'] as string), groups };
}

test('earnings from rollups are the plain aggregate, whatever the rows, windows, filters and groups', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(purchase, { minLength: 1, maxLength: 12 }), { maxLength: 4 }),
      fc.array(windows, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      async (batches, asked, isGathered) => {
        await Promise.all(batches.map((batch) => insertPurchases(database, batch.map(asPurchase))));
        if (isGathered) await gatherShards(database, tenants[0]!, EVERYTHING);
        for (const w of asked) {
          const query = { ...w.ends, ...common, host: w.host, kind: w.kind, groupBy: w.group };
          const { totals, breakdown, previous } = await readEarnings(deps(), site(), query);
          const plain = await plainEarnings(w, w.group);
          expect([totals.events, totals.reads, totals.grossMicro]).toEqual([plain.events, plain.reads, plain.micro]);
          expect(breakdown!.map(({ key, events, reads, grossMicro }) => [key, events, reads, grossMicro])).toEqual(
            plain.groups.map(({ key, events, reads, micro }) => [key, events, reads, BigInt(micro)]),
          );
          const authors = (await plainEarnings(w, 'author')).groups;
          expect(totals.authors).toBe(authors.length);
          const lengthMs = (w.ends.toMs ?? deps().clock()) - w.ends.fromMs;
          const ends = { fromMs: w.ends.fromMs - lengthMs, toMs: w.ends.fromMs };
          expect(previous!.grossMicro).toBe((await plainEarnings({ ...w, ends }, 'kind')).micro);
        }
      },
    ),
    { numRuns: 25 },
  );
});

test('pages and statement lines hold every crossing and correction once, and add up to the totals', async () => {
  const asked = { fromMs: BASE + HOUR / 2, toMs: BASE + 4 * DAY + 77, host: null, kind: null };
  const rows: { micro: bigint; atMs: number }[] = [];
  let cursorMs: number | null = null;
  let totals = { events: 0, grossMicro: 0n };
  do {
    const page = await readEarnings(deps(), site(), { ...asked, compare: false, groupBy: null, cursorMs, limit: 7 });
    expect(page.recent.rows.every(({ atMs }) => cursorMs === null || atMs < cursorMs)).toBe(true);
    rows.push(...page.recent.rows);
    totals = page.totals;
    cursorMs = page.recent.nextCursorMs;
  } while (cursorMs !== null);
  const count = async (condition: string, of = 'leg'): Promise<number> => {
    const where = `${plainly('l', { ends: asked, host: null, kind: null })} and ${condition}`;
    const [found] = await database.query<{ count: string }>(`select count(*) from ${of} l where ${where}`);
    return Number(found?.count);
  };
  expect(rows).toHaveLength(await count('true', 'crossing'));
  expect(rows.length).toBeGreaterThan(totals.events);
  expect(rows.reduce((sum, { micro }) => sum + micro, 0n)).toBe(totals.grossMicro);
  const { statements, totalMicro } = await readStatements(deps(), site(), asked);
  expect(statements.length).toBeGreaterThan(0);
  for (const statement of statements) {
    expect(statement.lines).toHaveLength(await count(`role <> 'platform' and to_address = '${statement.wallet}'`));
    expect(statement.lines.reduce((sum, { micro }) => sum + Math.sign(Number(micro)), 0)).toBeLessThanOrEqual(statement.events);
    expect(statement.lines.reduce((sum, { micro }) => sum + micro, 0n)).toBe(statement.grossMicro);
  }
  const [fees] = await database.query<{ micro: string }>(
    `select coalesce(sum(amount_micro), 0)::bigint as micro from leg l where ${plainly('l', { ends: asked, host: null, kind: null })}
       and role = 'platform'`,
  );
  expect(totalMicro + BigInt(fees!.micro)).toBe(totals.grossMicro);
});

type Asked = Parameters<typeof plainly>[1] & { verdict: string | null; agent: string | null };

async function plainAudit(w: Asked, group: AuditGroup) {
  const parts = [plainly('o', w)];
  if (w.verdict !== null) parts.push(`o.verdict = '${w.verdict}'`);
  const isLabel = w.agent !== null && AGENTS.includes(w.agent);
  if (isLabel) parts.push(`o.agent = '${w.agent}'`);
  else if (w.agent !== null) {
    parts.push(`coalesce(case when o.verified then o.verified_agent end, o.agent_ua, 'unknown') = '${w.agent}'`);
  }
  const where = parts.join(' and ');
  const n = (condition: string) => `coalesce(sum(o.count) filter (where ${condition}), 0)::int`;
  const money = (condition: string) => `coalesce(sum(o.count * coalesce(o.micro, 0)) filter (where ${condition}), 0)::bigint`;
  const measures = `coalesce(sum(o.count), 0)::int as hits, ${n("verdict = 'denied'")} as denied, ${n("verdict = 'paid'")} as paid,
    ${money("verdict in ('denied', 'blocked')")} as missed, ${money("verdict = 'paid'")} as earned,
    ${money("verdict = 'paid' and verified")} as proven`;
  const [total] = await database.query(
    `select ${measures}, ${n("classified_as = 'agent'")} as agents, ${n('verified')} as verified, ${n('sig_invalid')} as invalid,
       ${n("verdict = 'payment-failed' and reason = 'settlement_failed'")} as failed, ${money("verdict = 'payment-failed'")} as lost
     from observation o where ${where}`,
  );
  const column = { host: 'host', slug: 'slug', author: "''", kind: "coalesce(kind, '')", agent: 'agent', verdict: 'verdict' }[
    group
  ];
  const alone = group === 'agent' ? "and classified_as = 'agent'" : ''; // people have no label
  const groups = await database.query(
    `select * from (select ${column} as key, ${measures} from observation o where ${where} ${alone} group by 1) g where hits <> 0
      order by hits desc, key collate "C"`,
  );
  const agents = await database.query(
    `select * from (select agent as key, ${measures} from observation o where ${where} and classified_as = 'agent' group by 1) g
      where hits <> 0 order by hits desc, key collate "C"`,
  );
  return { total: total!, groups, agents };
}

test('the audit from rollups is the plain aggregate, whatever the rows, windows, filters and groups', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(seen, { minLength: 1, maxLength: 30 }), { maxLength: 4 }),
      fc.array(windows, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      async (batches, asked, isGathered) => {
        await Promise.all(batches.map((batch) => insertSeen(database, batch.flatMap(asSeen))));
        if (isGathered) await gatherShards(database, tenants[0]!, EVERYTHING);
        for (const w of asked) {
          const query = { ...w.ends, ...common, host: w.host, kind: w.kind, verdict: w.verdict, agent: w.agent };
          const audit = await readAudit(deps(), site(), { ...query, groupBy: w.auditGroup });
          const { total, groups, agents } = await plainAudit(w, w.auditGroup);
          expect([audit.totals.observations, audit.totals.agentHits, audit.totals.denied, audit.totals.paid]).toEqual([
            total['hits'],
            total['agents'],
            total['denied'],
            total['paid'],
          ]);
          expect([
            audit.totals.verifiedHits,
            audit.totals.masqueradeAttempts,
            audit.totals.failedByReason.settlement_failed,
          ]).toEqual([total['verified'], total['invalid'], total['failed']]);
          const { missedMicro, earnedMicro, verifiedEarnedMicro, failedMicro } = audit.totals;
          expect([missedMicro, earnedMicro, verifiedEarnedMicro, failedMicro]).toEqual(
            ['missed', 'earned', 'proven', 'lost'].map((name) => BigInt(total[name] as string)),
          );
          expect(
            audit.breakdown!.map((row) => [
              row.key,
              row.hits,
              row.denied,
              row.paid,
              row.missedMicro,
              row.earnedMicro,
              row.verifiedEarnedMicro,
            ]),
          ).toEqual(
            groups.map((row) => [
              row['key'],
              row['hits'],
              row['denied'],
              row['paid'],
              BigInt(row['missed']),
              BigInt(row['earned']),
              BigInt(row['proven']),
            ]),
          );
          expect(audit.byAgent.map(({ agent, hits, denied, paid }) => [agent, hits, denied, paid])).toEqual(
            agents.map((row) => [row['key'], row['hits'], row['denied'], row['paid']]),
          );
        }
      },
    ),
    { numRuns: 25 },
  );
});

test('a check finds nothing in honest rollups; a changed one is found, told to the operator and written anew', async () => {
  await insertPurchases(database, fc.sample(purchase, { numRuns: 30, seed: 1 }).map(asPurchase));
  await insertSeen(database, fc.sample(seen, { numRuns: 60, seed: 1 }).flatMap(asSeen));
  await gatherRollups(deps(), { days: null, tenantId: null });
  for (const tenantId of tenants) expect(await findMismatches(database, tenantId, EVERYTHING)).toEqual([]);
  await database.query("update crossing_day set micro = micro + 1 where tenant_id = $1 and dimension = 'total'", [tenants[0]]);
  await database.query('delete from observation_day where tenant_id = $1', [tenants[0]]);
  await database.query("update observation_month set hits = hits + 1 where tenant_id = $1 and dimension = 'label'", [tenants[0]]);
  await database.query('delete from crossing_month where tenant_id = $1', [tenants[0]]);
  await database.query('update crossing_hour set events = events + 1 where tenant_id = $1', [tenants[0]]);
  const found = await checkRollups(deps(), { days: null, tenantId: null });
  expect(found.map(({ tenantId }) => tenantId)).toEqual([tenants[0]]);
  expect(new Set(found[0]!.mismatches.map(({ table }) => table))).toEqual(
    new Set(['crossing_hour', 'crossing_day', 'crossing_month', 'observation_day', 'observation_month']),
  );
  expect(await database.query("select tenant_id from operator_alert where kind = 'rollup_mismatch'")).toHaveLength(1);
  expect(await checkRollups(deps(), { days: null, tenantId: null })).toEqual([]);
  for (const wrong of [
    "update crossing_day set citations = citations + 1 where tenant_id = $1 and dimension = 'site-slug'",
    'update observation_day set verified_micro = verified_micro + 1 where tenant_id = $1',
  ]) {
    await database.query(wrong, [tenants[0]]);
    expect(await checkRollups(deps(), { days: null, tenantId: null })).toMatchObject([{ tenantId: tenants[0] }]);
    expect(await checkRollups(deps(), { days: null, tenantId: null })).toEqual([]);
  }
});

test('a rebuild while rows are written loses none and counts none twice', async () => {
  const samples = fc.sample(purchase, 200).map(asPurchase);
  const batches = Array.from({ length: 20 }, (_, n) => samples.slice(n * 10, n * 10 + 10));
  const notes = fc.sample(seen, 200).flatMap(asSeen);
  const rebuild = async () => {
    for (let n = 0; n < 6; n++) await rebuildRollups(database, tenants[n % 2]!, EVERYTHING);
  };
  const write = async () => {
    for (const batch of batches) await insertPurchases(database, batch);
  };
  const observe = async () => {
    for (let n = 0; n < notes.length; n += 10) await insertSeen(database, notes.slice(n, n + 10));
  };
  await Promise.all([rebuild(), write(), observe()]);
  for (const tenantId of tenants) expect(await findMismatches(database, tenantId, EVERYTHING)).toEqual([]);
});

const TABLES = ['crossing_hour', 'crossing_day', 'observation_day'];

/** Keys of days that are over and still stand in rows of live writers. */
async function spread(): Promise<number[]> {
  const counted = TABLES.map((table) =>
    database.query<{ n: number }>(
      `select count(*)::int as n from ${table} where shard <> 4 and bucket < date_trunc('day', now(), 'UTC')`,
    ),
  );
  return (await Promise.all(counted)).map(([row]) => row!.n);
}

test('the night gathers what a key is spread over into one row, beside live writes, and no sum changes', async () => {
  const [purchases, notes] = [fc.sample(purchase, 240).map(asPurchase), fc.sample(seen, 240).flatMap(asSeen)];
  const write = async (from: number) => {
    for (let n = from; n < 240; n += 40) {
      await insertPurchases(database, purchases.slice(n, n + 20));
      await insertSeen(database, notes.slice(n, n + 20));
    }
  };
  const night = async () => {
    for (let n = 0; n < 8; n++) await gatherRollups(deps(), { days: null, tenantId: null });
  };
  await Promise.all([write(0), write(20), night(), night()]);
  for (const tenantId of tenants) expect(await findMismatches(database, tenantId, EVERYTHING)).toEqual([]);
  await gatherRollups(deps(), { days: null, tenantId: null });
  expect(await spread()).toEqual([0, 0, 0]);
  for (const tenantId of tenants) expect(await findMismatches(database, tenantId, EVERYTHING)).toEqual([]);
  expect(await gatherRollups(deps(), { days: null, tenantId: null })).toBe(0);
  const today = { ...purchases[0]!, tenantId: tenants[0]!, atMs: Date.now(), steps: 1 };
  await insertPurchases(database, [today]);
  expect(await gatherRollups(deps(), { days: null, tenantId: null })).toBe(0);
});

test('the night waits for no writer: a row that is being written stays, with what was added, for the night after', async () => {
  const [one] = fc.sample(purchase, { numRuns: 1, seed: 7 }).map(asPurchase);
  await insertPurchases(database, [{ ...one!, tenantId: tenants[0]! }]);
  await database.transaction(async (sql) => {
    await sql.query('update crossing_day set events = events + 5 where tenant_id = $1 and shard <> 4', [tenants[0]]);
    await gatherShards(database, tenants[0]!, EVERYTHING);
    await sql.query('update crossing_day set events = events - 5 where tenant_id = $1 and shard <> 4', [tenants[0]]);
  });
  expect((await spread())[1]).toBeGreaterThan(0);
  await gatherShards(database, tenants[0]!, EVERYTHING);
  expect(await spread()).toEqual([0, 0, 0]);
  expect(await findMismatches(database, tenants[0]!, EVERYTHING)).toEqual([]);
});

test('a site whose night fails keeps no other site from its turn; the operator is told, and the round fails in the end', async () => {
  await insertPurchases(database, fc.sample(purchase, { numRuns: 30, seed: 3 }).map(asPurchase));
  expect((await spread())[1]).toBeGreaterThan(0);
  const [first] = await listTenantIds(database);
  let turns = 0;
  const onSite = (): void => {
    turns += 1;
    if (turns === 1) throw new Error('its turn fails');
  };
  await expect(gatherRollups(deps(), { days: null, tenantId: null, onSite })).rejects.toThrow('its turn fails');
  const alerts = await database.query("select tenant_id, detail from operator_alert where kind = 'night_failed'");
  expect(alerts).toEqual([{ tenant_id: first, detail: 'its turn fails' }]);
  const left = await database.query(
    "select distinct tenant_id from crossing_day where shard <> 4 and tenant_id <> $1 and bucket < date_trunc('day', now(), 'UTC')",
    [first],
  );
  expect(left).toEqual([]);
});
