import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { isLicenceSlug, LICENCE_SLUG_LIKE, licenceSlug } from '../../modules/kernel/pages/resource.ts';
import type { SeriesUnit } from '../../modules/kernel/time/series.ts';
import { MAX_BUCKETS, SERIES_UNITS } from '../../modules/kernel/time/series.ts';
import { gatherShards } from '../../modules/reports/store/rollupCheck.ts';
import type { AuditQuery } from '../../modules/reports/use/audit.ts';
import { readAudit } from '../../modules/reports/use/audit.ts';
import { bucketsOf } from '../../modules/reports/use/calendar.ts';
import type { EarningsBreakdown, EarningsQuery } from '../../modules/reports/use/earnings.ts';
import { EARNINGS_BREAKDOWNS, readEarnings } from '../../modules/reports/use/earnings.ts';
import { bordersWithin } from '../../platform/calendar.ts';
import { insertTenant } from '../support/ledger.ts';
import { createDatabase, PATIENT_MS } from '../support/parts.ts';
import type { Purchase, Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen } from '../support/reports.ts';

/** Series, filters and groups of reports beside plain SQL over the rows, and the borders of series beside Postgres' own time zones. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
/** The first days of October to the middle of November: clocks change in four of the zones' five, and at the borders of two months. */
const BASE = Date.UTC(2025, 8, 25);
const SPAN = 50 * DAY;
const NOW = BASE + SPAN + DAY;
const HOSTS = ['one.example', 'two.example'];
const SLUGS = ['a', 'b', 'licence:guide'];
/** The first two are wallets of one author; the last has no author's id. */
const WALLETS = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`);
const AUTHORS = ['ann', 'ann', 'bob', undefined];
const PAYERS = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`);
const AGENTS = ['other', 'gptbot'];

let urls: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let tenantId: string;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, statementTimeoutMs: PATIENT_MS });
  tenantId = await insertTenant(database, HOSTS[0]);
  const other = await insertTenant(database, 'else.example');
  const sold = fc.sample(purchase, { numRuns: 500, seed: 20 });
  await insertPurchases(
    database,
    sold.map((row) => asPurchase(row, tenantId)),
  );
  await insertPurchases(
    database,
    sold.slice(0, 50).map((row) => asPurchase(row, other)),
  );
  await gatherShards(database, tenantId, { fromMs: 0, toMs: null });
  await insertPurchases(
    database,
    fc.sample(purchase, { numRuns: 100, seed: 21 }).map((row) => asPurchase(row, tenantId)),
  );
  const paid = await insertPurchases(
    database,
    sold.slice(0, 60).map((row) => asPurchase(row, tenantId)),
  );
  const noted = fc.sample(seen, { numRuns: 600, seed: 22 });
  await insertSeen(
    database,
    noted.flatMap((row, n) => asSeen(row, paid[n] ?? null)),
  );
});
afterAll(async () => {
  await database?.close();
  await urls?.drop();
});

/** Moments that like full quarters of an hour, and the hours around the changes of clocks. */
const moment = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: SPAN }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: SPAN / (HOUR / 4) }).map((quarters) => (quarters * HOUR) / 4) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom(Date.UTC(2025, 9, 4, 15), Date.UTC(2025, 9, 26), Date.UTC(2025, 10, 2, 5)),
          fc.integer({ min: 0, max: 12 }),
        )
        .map(([at, quarters]) => at - BASE + (quarters * HOUR) / 4),
    },
  )
  .map((offset) => BASE + offset);
const from = fc.constantFrom;
const purchase = fc.record({
  host: from(...HOSTS),
  slug: from(...SLUGS),
  isLicence: from(false, false, false, true),
  kind: from('read' as const, 'citation' as const),
  atMs: moment,
  steps: from(1, 1, 1, 1, 2, 3),
  laterMs: from(0, 0, HOUR / 3, 2 * DAY),
  payer: fc.oneof(
    { weight: 1, arbitrary: from(...PAYERS) },
    { weight: 3, arbitrary: fc.nat(150).map((n) => `0x${n.toString(16).padStart(40, '0')}`) },
  ),
  agent: from(...AGENTS),
  wallets: fc.uniqueArray(from(0, 1, 2, 3), { minLength: 1, maxLength: 3 }),
  micro: fc.integer({ min: 1, max: 9_000 }),
  hasFee: fc.boolean(),
});
const seen = fc.record({
  host: from(...HOSTS),
  slug: from(...SLUGS),
  verdict: from('served-free', 'denied', 'blocked', 'paid', 'payment-failed'),
  classifiedAs: from('human' as const, 'agent' as const),
  kind: from('read' as const, 'citation' as const, null),
  micro: fc.option(fc.integer({ min: 0, max: 9_000 })),
  agent: from(...AGENTS),
  agentUa: from('curl/8', null),
  verified: from(true, false, null),
  sigInvalid: from(true, false, null),
  atMs: moment,
  isTakenBack: from(false, false, true),
});
type Made<T> = T extends fc.Arbitrary<infer U> ? U : never;

function asPurchase({ wallets, micro, hasFee, ...rest }: Made<typeof purchase>, tenant: string): Purchase {
  const legs = wallets.map((index, n) => {
    const authorId = AUTHORS[index];
    return { toAddress: WALLETS[index]!, amountMicro: n === 0 ? micro : n - 1, ...(authorId ? { authorId } : {}) };
  });
  const fee = hasFee ? [{ toAddress: `0x${'f'.repeat(40)}`, amountMicro: 7, role: 'platform' as const }] : [];
  return { ...rest, tenantId: tenant, legs: [...legs, ...fee] };
}

function asSeen({ isTakenBack, ...row }: Made<typeof seen>, paymentId: string | null): Seen[] {
  const one = {
    ...row,
    tenantId,
    verifiedAgent: null,
    count: 1 as const,
    reason: row.verdict === 'payment-failed' ? 'settlement_failed' : null,
    paymentId: row.verdict === 'paid' || row.verdict === 'payment-failed' ? paymentId : null,
  };
  return isTakenBack && one.verdict === 'paid' ? [one, { ...one, count: -1 }] : [one];
}

const site = () => ({ tenantId, hosts: HOSTS, plan: 'enterprise' as const });
const deps = () => ({ database, clock: () => NOW });

const aWindow = fc
  .tuple(moment, moment, from(false, false, false, true))
  .map(([a, b, isOpen]) => ({ fromMs: Math.min(a, b), toMs: isOpen ? null : Math.max(a, b) }));
type Ends = { readonly fromMs: number; readonly toMs: number | null };
const aSeries = fc.record({ every: from(...SERIES_UNITS), timeZone: from(...ZONES) });

/** Series of at most the buckets allowed: hours of 50 days are too many. */
const isShort = (ends: Ends, every: SeriesUnit): boolean => every !== 'hour' || (ends.toMs ?? NOW) - ends.fromMs < 30 * DAY;

const filters = {
  none: {},
  host: { host: 'one.example' },
  kind: { kind: 'citation' },
  slug: { slug: 'a' },
  pages: { purpose: 'page' },
  licences: { purpose: 'licence' },
  wallet: { author: WALLETS[0]! },
  author: { authorId: 'ann' },
  licencesOfAuthor: { authorId: 'ann', purpose: 'licence' },
  walletOfPage: { author: WALLETS[2]!, slug: 'a' },
  agent: { agent: 'gptbot' },
  payer: { payer: PAYERS[0]! },
  newcomers: { payerHistory: 'new' },
  returning: { payerHistory: 'returning', host: 'two.example' },
} as const satisfies Record<string, Partial<EarningsQuery>>;
type Filter = Partial<EarningsQuery>;

const LICENCE = "c.slug = 'licence:' || c.payment_id";
const AUTHOR = `(select n.author_id from leg n where n.tenant_id = l.tenant_id and n.to_address = l.to_address and n.role <> 'platform'
  and n.author_id is not null order by n.at desc limit 1)`;
/** True of a payer with a crossing from before the window that was not taken back for good. */
const HAD_PAID = `(select coalesce(sum(case when e.sequence % 2 = 0 then 1 else -1 end), 0) > 0 from crossing e
  where e.tenant_id = c.tenant_id and e.payer = c.payer and e.at < to_timestamp($FROM / 1000.0))`;
const KEYS: Record<EarningsBreakdown, string> = {
  host: 'c.host',
  slug: 'c.slug',
  kind: 'c.kind',
  author: 'l.to_address',
  agent: 'c.agent',
  payer: 'c.payer',
  'author-id': `coalesce(${AUTHOR}, l.to_address)`,
  purpose: `case when ${LICENCE} then 'licence' else 'page' end`,
  'payer-history': `case when ${HAD_PAID} then 'returning' else 'new' end`,
};

/** The rows that a filter means, as plain SQL: key, kind, at, events, micro; nothing of the reports' own. */
function plainRows(ends: Ends, filter: Filter, by: EarningsBreakdown | null): string {
  const isOfLegs = by === 'author' || by === 'author-id' || Boolean(filter.author) || Boolean(filter.authorId);
  const where = [
    `c.tenant_id = '${tenantId}' and c.at >= to_timestamp(${ends.fromMs} / 1000.0)`,
    ...(ends.toMs === null ? [] : [`c.at < to_timestamp(${ends.toMs} / 1000.0)`]),
    ...(filter.host ? [`c.host = '${filter.host}'`] : []),
    ...(filter.kind ? [`c.kind = '${filter.kind}'`] : []),
    ...(filter.slug ? [`c.slug = '${filter.slug}'`] : []),
    ...(filter.purpose ? [`(${LICENCE}) = ${filter.purpose === 'licence'}`] : []),
    ...(filter.agent ? [`c.agent = '${filter.agent}'`] : []),
    ...(filter.payer ? [`c.payer = '${filter.payer}'`] : []),
    ...(filter.payerHistory ? [`${HAD_PAID} = ${filter.payerHistory === 'returning'}`] : []),
    ...(filter.author ? [`l.to_address = '${filter.author}'`] : []),
    ...(filter.authorId ? [`${AUTHOR} = '${filter.authorId}'`] : []),
    ...(by === 'slug' ? [`not (${LICENCE})`] : []),
  ];
  const legs = "join leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.role <> 'platform'";
  return `select ${by === null ? "''" : KEYS[by]} as key, c.kind, c.at, c.payer, case when c.sequence % 2 = 0 then 1 else -1 end as events,
      ${isOfLegs ? 'l.amount_micro' : 'c.micro'} as micro
    from crossing c ${isOfLegs ? legs : ''} where ${where.join(' and ')}`.replaceAll('$FROM', String(ends.fromMs));
}

const SUMS = `coalesce(sum(events), 0)::int as events, coalesce(sum(events) filter (where kind = 'read'), 0)::int as reads,
  coalesce(sum(micro), 0)::bigint::text as micro`;
type PlainSums = { readonly events: number; readonly reads: number; readonly micro: string };

const shown = ({ events, reads, grossMicro }: { events: number; reads: number; grossMicro: bigint }): PlainSums => ({
  events,
  reads,
  micro: String(grossMicro),
});

/** What rows come to between neighbouring moments; the last of an open window has no end. */
async function plainBuckets<T>(rows: string, sums: string, buckets: readonly Ends[]): Promise<T[]> {
  const edges = buckets.map(({ fromMs, toMs }, n) => `(${n}, ${fromMs}::float8, ${toMs ?? "'infinity'"}::float8)`);
  const found = await database.query<Record<string, unknown>>(
    `with rows as materialized (${rows}) select n, ${sums} from (values ${edges.join(', ')}) as bucket (n, since, until)
       left join rows on extract(epoch from rows.at) * 1000 >= since and extract(epoch from rows.at) * 1000 < until group by n order by n`,
  );
  return found.map(({ n: _n, ...rest }) => rest as T);
}

const query = (ends: Ends, filter: Filter): EarningsQuery => ({
  ...ends,
  host: null,
  kind: null,
  compare: true,
  comparesGroups: true,
  pagesOnly: true,
  cursorMs: null,
  limit: null,
  groupBy: null,
  ...filter,
});

test('the buckets of a series of earnings are the plain sums of their rows and add up to the totals, for every filter', async () => {
  await fc.assert(
    fc.asyncProperty(aWindow, aSeries, from(...Object.values<Filter>(filters)), async (ends, series, filter) => {
      fc.pre(isShort(ends, series.every));
      const report = await readEarnings(deps(), site(), { ...query(ends, filter), compare: false, series: [series] });
      const [buckets] = report.series;
      const plain = buckets!.length === 0 ? [] : await plainBuckets<PlainSums>(plainRows(ends, filter, null), SUMS, buckets!);
      expect(buckets!.map(shown)).toEqual(plain);
      expect(buckets!.reduce((sum, { events }) => sum + events, 0)).toBe(report.totals.events);
      expect(buckets!.reduce((sum, { grossMicro }) => sum + grossMicro, 0n)).toBe(report.totals.grossMicro);
    }),
    { numRuns: 30 },
  );
});

test('every breakdown, and the same groups of the window before, are the plain sums of their rows', async () => {
  const grouped = async (ends: Ends, filter: Filter, by: EarningsBreakdown) => {
    const rows = await database.query<PlainSums & { key: string; payers: number }>(
      `with rows as materialized (${plainRows(ends, filter, by)})
       select key, ${SUMS}, count(distinct payer) filter (where (select sum(x.events) from rows x where x.payer = rows.payer) > 0)::int as payers
       from rows group by key`,
    );
    return new Map(rows.filter(({ events, micro }) => events !== 0 || micro !== '0').map(({ key, ...sums }) => [key, sums]));
  };
  await fc.assert(
    fc.asyncProperty(aWindow, from(...EARNINGS_BREAKDOWNS), from(...Object.values<Filter>(filters)), async (ends, by, filter) => {
      const { breakdown, previous, totals } = await readEarnings(deps(), site(), { ...query(ends, filter), groupBy: by });
      const lengthMs = (ends.toMs ?? NOW) - ends.fromMs;
      const before = await grouped({ fromMs: ends.fromMs - lengthMs, toMs: ends.fromMs }, filter, by);
      const now = await grouped(ends, filter, by);
      const rows = new Map(
        breakdown!.filter(({ events, grossMicro }) => events !== 0 || grossMicro !== 0n).map((row) => [row.key, row]),
      );
      expect(new Map([...rows].map(([key, row]) => [key, shown(row)]))).toEqual(
        new Map([...now].map(([key, { payers: _payers, ...sums }]) => [key, sums])),
      );
      if (by === 'payer-history') for (const [key, row] of rows) expect(row.payers).toBe(now.get(key)!.payers);
      const gone = breakdown!.findIndex(({ events, grossMicro }) => events === 0 && grossMicro === 0n);
      expect(gone === -1 ? rows.size : gone).toBe(rows.size);
      const earlier = new Map(breakdown!.map((row) => [row.key, shown(row.previous!)]));
      for (const [key, { payers: _payers, ...sums }] of before) expect(earlier.get(key)).toEqual(sums);
      for (const [key, sums] of earlier) if (!before.has(key)) expect(sums).toEqual({ events: 0, reads: 0, micro: '0' });
      const isAll = by !== 'slug' && (by !== 'author' && by !== 'author-id' ? true : Boolean(filter.author ?? filter.authorId));
      if (isAll) expect([...now.values()].reduce((sum, { micro }) => sum + BigInt(micro), 0n)).toBe(totals.grossMicro);
      if (isAll) expect([...before.values()].reduce((sum, { micro }) => sum + BigInt(micro), 0n)).toBe(previous!.grossMicro);
    }),
    { numRuns: 30 },
  );
});

test('a licence is told by its slug in the same way by code and by SQL', async () => {
  const slugs = [
    'solo',
    `licence:${crypto.randomUUID()}`,
    `licence:${crypto.randomUUID()}x`,
    'licence:',
    `Licence:${crypto.randomUUID()}`,
  ];
  const odd = `licence:${'\u{1f600}\n'.repeat(4)}-abcd-____-%%%%-${'é'.repeat(12)}`;
  for (const slug of [...slugs, odd, `${odd}\n`, licenceSlug(crypto.randomUUID())]) {
    const [row] = await database.query<{ is: boolean }>(`select $1::text like '${LICENCE_SLUG_LIKE}' as is`, [slug]);
    expect([slug, isLicenceSlug(slug)]).toEqual([slug, row!.is]);
  }
});

test('payers who paid before alone fill the list behind those of now and displace none of them', async () => {
  const other = '0190a5b0-0000-7000-8000-00000000beef';
  await database.query("insert into tenant (tenant_id, price_usdc) values ($1, '0.001') on conflict do nothing", [other]);
  const sale = (n: number, atMs: number, micro: number) => ({
    tenantId: other,
    host: 'one.example',
    slug: 'a',
    kind: 'read' as const,
    atMs,
    steps: 1,
    payer: `0x${n.toString(16).padStart(40, '0')}`,
    legs: [{ toAddress: WALLETS[0]!, amountMicro: micro }],
  });
  const [fromMs, dayMs] = [NOW - 86_400_000, 86_400_000];
  const before = Array.from({ length: 1_010 }, (_, n) => sale(n, fromMs - dayMs / 2, 1_000 + n));
  await insertPurchases(database, [...before, ...[0, 5_000, 5_001].map((n) => sale(n, fromMs + 1_000, 10))]);
  const report = await readEarnings(
    deps(),
    { ...site(), tenantId: other },
    { ...query({ fromMs, toMs: null }, {}), groupBy: 'payer' },
  );
  const rows = report.breakdown!.map(({ events, previous }) => [events, Number(previous!.grossMicro)]);
  // The payer of now who had paid least before is known all the same.
  expect(rows.slice(0, 3).sort(([, a = 0], [, b = 0]) => b - a)).toEqual([[1, 1_000], [1, 0], [1, 0]]); // biome-ignore format: one line
  expect(rows.slice(3)).toEqual(Array.from({ length: 997 }, (_, n) => [0, 2_009 - n]));
  expect(report.isCut).toBe(true);
});

test('the buckets of a series of the audit are the plain sums of their rows and add up to the totals, for every filter', async () => {
  const sums = `coalesce(sum(count), 0)::int as observations, coalesce(sum(count) filter (where verdict = 'denied'), 0)::int as denied,
    coalesce(sum(count) filter (where verified), 0)::int as verified, coalesce(sum(count * micro) filter (where verdict = 'paid'), 0)::text as earned,
    coalesce(sum(count * micro) filter (where verdict = 'paid' and verified), 0)::text as proven,
    coalesce(sum(count * micro) filter (where verdict in ('denied', 'blocked')), 0)::text as missed`;
  const audits = [
    {},
    { host: 'one.example' },
    { kind: 'read' },
    { verdict: 'denied' },
    { agent: 'gptbot' },
    { agent: 'curl/8' },
    { slug: 'a' },
    { author: WALLETS[0]! },
    { author: WALLETS[2]!, slug: 'b' },
  ] as Partial<AuditQuery>[];
  await fc.assert(
    fc.asyncProperty(aWindow, aSeries, from(...audits), async (ends, series, filter) => {
      fc.pre(isShort(ends, series.every));
      const common = {
        compare: false,
        cursorMs: null,
        limit: 1,
        groupBy: null,
        host: null,
        kind: null,
        verdict: null,
        agent: null,
      };
      const { totals, series: found } = await readAudit(deps(), site(), { ...common, ...ends, ...filter, series: [series] });
      const where = [
        `o.tenant_id = '${tenantId}'`,
        ...(filter.host ? [`o.host = '${filter.host}'`] : []),
        ...(filter.kind ? [`o.kind = '${filter.kind}'`] : []),
        ...(filter.verdict ? [`o.verdict = '${filter.verdict}'`] : []),
        ...(filter.slug ? [`o.slug = '${filter.slug}'`] : []),
        ...(filter.agent === 'gptbot' ? ["o.agent = 'gptbot'"] : []),
        ...(filter.agent === 'curl/8' ? ["o.agent_ua = 'curl/8'"] : []),
      ];
      const rows = filter.author
        ? `select o.at, o.verdict, o.count, o.verified, (leg ->> 'amountMicro')::bigint as micro from observation o
             join payment_intake p using (tenant_id, payment_id), jsonb_array_elements(p.legs) leg
             where ${where.join(' and ')} and leg ->> 'toAddress' = '${filter.author}'`
        : `select o.at, o.verdict, o.count, o.verified, o.micro from observation o where ${where.join(' and ')}`;
      const buckets = found[0]!;
      const plain = buckets.length === 0 ? [] : await plainBuckets(rows, sums, buckets);
      expect(
        buckets.map(({ totals: { observations, denied, verifiedHits, earnedMicro, verifiedEarnedMicro, missedMicro } }) => ({
          observations,
          denied,
          verified: verifiedHits,
          earned: String(earnedMicro),
          proven: String(verifiedEarnedMicro),
          missed: String(missedMicro),
        })),
      ).toEqual(plain);
      const all = buckets.map((bucket) => bucket.totals);
      expect(all.reduce((sum, { observations }) => sum + observations, 0)).toBe(totals.observations);
      for (const name of ['missedMicro', 'earnedMicro', 'verifiedEarnedMicro', 'failedMicro'] as const) {
        expect(all.reduce((sum, bucket) => sum + bucket[name], 0n)).toBe(totals[name]);
      }
      expect(all.reduce((sum, bucket) => sum + bucket.failedByReason.settlement_failed, 0)).toBe(
        totals.failedByReason.settlement_failed,
      );
    }),
    { numRuns: 30 },
  );
});

test('a bucket ends where Postgres’ own time zones show another hour, day, week or month, or another offset', async () => {
  for (const zone of [...ZONES, 'America/Havana', 'Africa/Casablanca']) {
    for (const unit of SERIES_UNITS) {
      const [fromMs, toMs] = unit === 'hour' ? [BASE, BASE + 30 * DAY] : [Date.UTC(2025, 5, 3), Date.UTC(2026, 5, 3)];
      const offset = unit === 'hour' ? " || (shown - (q at time zone 'UTC'))::text" : '';
      const rows = await database.query<{ ms: string }>(
        `select (extract(epoch from q) * 1000)::bigint as ms from (
           select q, label, lag(label) over (order by q) as before from (
             select q, date_trunc('${unit}', shown)::text${offset} as label from (
               select q, q at time zone $1 as shown from generate_series($2::timestamptz, $3::timestamptz, '15 minutes') as q
             ) a) b) c where label <> before order by q`,
        [zone, new Date(fromMs), new Date(toMs - 1)],
      );
      expect(bordersWithin({ fromMs, toMs }, unit, zone, MAX_BUCKETS), `${unit} in ${zone}`).toEqual(
        rows.map(({ ms }) => Number(ms)),
      );
    }
  }
});

test('a day on which clocks change has 23 or 25 hours, or 23 and a half', () => {
  const hours = (zone: string, day: string) => {
    const [day0] = bucketsOf(
      { fromMs: Date.parse(day), toMs: Date.parse(day) + 3 * DAY },
      { every: 'day', timeZone: zone },
      NOW,
    ).slice(1);
    return [(day0!.toMs! - day0!.fromMs) / HOUR, bucketsOf(day0!, { every: 'hour', timeZone: zone }, NOW).length];
  };
  expect(hours('Europe/Berlin', '2026-03-28T12:00Z')).toEqual([23, 23]);
  expect(hours('Europe/Berlin', '2026-10-24T12:00Z')).toEqual([25, 25]);
  expect(hours('America/New_York', '2026-10-31T12:00Z')).toEqual([25, 25]);
  expect(hours('Australia/Lord_Howe', '2026-10-03T02:00Z')).toEqual([23.5, 24]);
  expect(hours('Asia/Kathmandu', '2026-10-24T12:00Z')).toEqual([24, 24]);
});

test('a series of more buckets than are allowed is refused with a sentence that says what to change, at no cost', () => {
  const window = { fromMs: 0, toMs: Date.UTC(9999, 0) };
  const refused = { code: 'invalid_parameter', message: expect.stringMatching(/more than 750 buckets by hour.*shorter window/) };
  expect(() => bucketsOf(window, { every: 'hour', timeZone: 'Europe/Berlin' }, NOW)).toThrow(expect.objectContaining(refused));
  for (const timeZone of ['Mars/Olympus', '+01:00', '', 'europe/berlin\u0000']) {
    expect(() => bucketsOf(window, { every: 'day', timeZone }, NOW)).toThrow(/IANA name/);
  }
  expect(bucketsOf({ fromMs: 5, toMs: 5 }, { every: 'day', timeZone: 'UTC' }, NOW)).toEqual([]);
  expect(bucketsOf({ fromMs: NOW, toMs: null }, { every: 'day', timeZone: 'UTC' }, NOW)).toEqual([{ fromMs: NOW, toMs: null }]);
});
