import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_BUCKETS } from '../../modules/kernel/time/series.ts';
import { askedOf, DAY, startBusySite, WALLETS } from '../support/busy-site.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases } from '../support/reports.ts';

/** The questions of docs/graphql.md that came with series and groups, each one query whose answer is that of plain SQL; and what is refused. */

const ZONE = 'Europe/Berlin';
let world: Awaited<ReturnType<typeof startBusySite>>;
let tenantId: string;
let ask: ReturnType<typeof askedOf>['ask'];
let sql: ReturnType<typeof askedOf>['sql'];

beforeAll(async () => {
  world = await startBusySite();
  ({ ask, sql } = askedOf(world));
  ({ tenantId } = world.site);
  const { database } = world.graph.api.deps;
  const sale = (n: number) => ({
    tenantId,
    host: world.hosts[0]!,
    slug: 'solo',
    kind: 'read' as const,
    atMs: world.nowMs - n * 3_600_000,
    steps: 1,
    payer: `0x${String(n % 4).repeat(40)}`,
    isLicence: n % 5 === 0,
    legs: [{ toAddress: WALLETS[2]!, amountMicro: 1_000 + n, authorId: 'ann' }],
  });
  const ids = await insertPurchases(
    database,
    Array.from({ length: 60 }, (_, n) => sale(n * 7)),
  );
  for (const [n, paymentId] of ids.entries()) {
    await database.query(
      `update payment_state set settled_at = accepted_at + $3 * interval '1 millisecond', final_at = accepted_at + $4 * interval '1 second'
       where tenant_id = $1 and payment_id = $2`,
      [tenantId, paymentId, 100 + n, n % 3 === 0 ? null : n],
    );
  }
  for (let n = 0; n < 3; n++) await sellLicence(database, tenantId, world.hosts[0]!);
});
afterAll(() => world?.graph.stop());

const NET = 'sum(case when sequence % 2 = 0 then 1 when sequence % 2 = 1 then -1 else 0 end)::int';

test('what was earned on each day is what SQL adds up by the day of that zone, days of nothing included', async () => {
  const { totals, series } = (await ask('revenueByDay')).earnings;
  const rows = await sql(
    `select (extract(epoch from day at time zone '${ZONE}') * 1000)::float8 as "from", coalesce(sum(micro), 0)::text as "grossMicro",
       coalesce(${NET}, 0) as events
     from generate_series(date_trunc('day', now() at time zone '${ZONE}') - interval '27 days', now() at time zone '${ZONE}', '1 day') as day
       left join crossing c on c.tenant_id = $1 and (c.at at time zone '${ZONE}')::date = day::date group by day order by day`,
  );
  expect(series).toEqual(rows);
  expect(series).toHaveLength(28);
  const sum = series.reduce((total: bigint, { grossMicro }: { grossMicro: string }) => total + BigInt(grossMicro), 0n);
  expect(String(sum)).toBe(totals.grossMicro);
});

test('what authors earned this week stands beside the same days of the week before', async () => {
  const { nodes } = (await ask('authorsByWeek')).earnings.breakdown;
  const rows = await sql(
    `with author as (select distinct to_address, (select n.author_id from leg n where n.tenant_id = $1 and n.to_address = l.to_address
         and n.role <> 'platform' and n.author_id is not null order by n.at desc limit 1) as id
       from leg l where tenant_id = $1 and role <> 'platform'),
     week as (select date_trunc('week', now(), '${ZONE}') as monday, (now() at time zone '${ZONE}' - interval '7 days') at time zone '${ZONE}' as until)
     select coalesce(id, to_address) as key, coalesce(sum(amount_micro) filter (where at >= monday), 0)::text as now,
       coalesce(sum(amount_micro) filter (where at < until and at >= date_trunc('week', monday - interval '1 day', '${ZONE}')), 0)::text as before
     from leg join author using (to_address), week where tenant_id = $1 and role <> 'platform' group by 1`,
  );
  const plain = rows.filter(({ now, before }) => now !== '0' || before !== '0').map(({ key, now, before }) => [key, now, before]);
  type Node = { key: string; grossMicro: string; previous: { grossMicro: string } };
  expect(nodes.map(({ key, grossMicro, previous }: Node) => [key.toLowerCase(), grossMicro, previous.grossMicro]).sort()).toEqual(
    plain.sort(),
  );
  expect(nodes.length).toBeGreaterThan(0);
});

test('buyers who came back are those with a purchase that stands from before the window', async () => {
  const { nodes } = (await ask('repeatBuyers')).earnings.breakdown;
  const rows = await sql(
    `with bought as (select payer, at >= now() - interval '7 days' as is_now, sum(micro) as micro, ${NET} as events
       from crossing where tenant_id = $1 group by 1, 2)
     select case when exists (select 1 from bought b where b.payer = a.payer and not is_now and events > 0) then 'returning' else 'new' end as key,
       count(*) filter (where events > 0)::int as payers, sum(events)::int as events, sum(micro)::text as "grossMicro"
     from bought a where is_now group by 1 order by sum(micro) desc`,
  );
  expect(nodes).toEqual(rows);
  expect(nodes.length).toBeGreaterThan(0);
});

test('what a page costs in the middle, and what licences bring, leaves each other out', async () => {
  const { pages, licences } = await ask('medianPrice');
  const [row] = await sql(
    `select percentile_disc(array[0, 0.5, 0.95, 1]) within group (order by micro) filter (where not is_licence and sequence = 0)::text[] as prices,
       sum(micro) filter (where is_licence)::text as licences, sum(sign(micro)) filter (where is_licence)::int as sold,
       sum(micro) filter (where not is_licence)::text as pages
     from (select *, slug = 'licence:' || payment_id as is_licence from crossing c where tenant_id = $1) c`,
  );
  expect(pages.prices).toEqual(
    Object.fromEntries(['smallest', 'median', 'p95', 'largest'].map((name, n) => [name, (row!['prices'] as string[])[n]])),
  );
  expect([pages.totals.grossMicro, licences.totals]).toEqual([
    row!['pages'],
    { grossMicro: row!['licences'], events: row!['sold'] },
  ]);
});

test('licences that end within two weeks come first to end first', async () => {
  const { totalCount, nodes } = (await ask('licencesEnding')).licencesSold;
  const rows = await sql(
    `select jti from licence where tenant_id = $1 and revoked_at is null and period_until < now() + interval '14 days' order by period_until, jti`,
  );
  expect([totalCount, nodes.map(({ jti }: { jti: string }) => jti)]).toEqual([3, rows.map(({ jti }) => jti)]);
});

test('who pretends to be somebody else: agents by signatures that failed, their days, and the requests themselves', async () => {
  const { agents, audit } = await ask('pretenders');
  const rows = await sql(
    `select agent, sum(count) filter (where sig_invalid)::int as n from observation where tenant_id = $1 and classified_as = 'agent'
       and at >= now() - interval '7 days' group by 1 order by 2 desc nulls last, 1 limit 5`,
  );
  const [all] = await sql(
    "select sum(count)::int as n from observation where tenant_id = $1 and sig_invalid and at >= now() - interval '7 days'",
  );
  expect(agents.nodes.map((row: { agent: string; masqueradeAttempts: number }) => [row.agent, row.masqueradeAttempts])).toEqual(
    rows.map(({ agent, n }) => [agent, n ?? 0]),
  );
  type Bucket = { totals: { masqueradeAttempts: number } };
  const attempts = audit.series.reduce((sum: number, { totals }: Bucket) => sum + totals.masqueradeAttempts, 0);
  expect(attempts).toBe(all?.n);
  const query =
    '{ tenant { observations(filter: { sigInvalid: true, window: { lastDays: 7 } }, first: 100) { totalCount nodes { sigInvalid } } } }';
  const { observations } = (await world.graph.ask(world.site.key, query)).data.tenant;
  expect([observations.totalCount, observations.nodes.every((row: { sigInvalid: boolean }) => row.sigInvalid)]).toEqual([
    attempts,
    true,
  ]);
});

test('how long sales take to be settled and final is what SQL says of the same payments', async () => {
  const { settled, final } = (await ask('timeToFinal')).settlementTimes;
  const [row] = await sql(
    `select count(coalesce(settled_at, decided_at))::int as settled, count(final_at)::int as final,
       percentile_disc(0.95) within group (order by extract(epoch from coalesce(settled_at, decided_at) - accepted_at) * 1000)::int as p95,
       percentile_disc(0.5) within group (order by extract(epoch from final_at - accepted_at) * 1000)::int as p50
     from payment where tenant_id = $1 and state in ('settled', 'final') and accepted_at >= now() - interval '7 days'`,
  );
  expect([settled.payments, settled.p95Ms, final.payments, final.p50Ms]).toEqual([
    row!['settled'],
    row!['p95'],
    row!['final'],
    row!['p50'],
  ]);
});

test('licences are in no group of pages, and crossings and legs say and filter by what was bought', async () => {
  const query = `{ tenant {
    earnings(groupBy: SLUG) { totals { grossMicro } breakdown(first: 100) { nodes { key grossMicro } } }
    by: earnings(groupBy: PURPOSE) { breakdown { nodes { key grossMicro } } }
    none: earnings(groupBy: SLUG, purpose: LICENCE) { breakdown { totalCount } }
    crossings(filter: { purpose: LICENCE }, first: 100) { totalCount nodes { purpose slug micro } }
    pages: crossings(filter: { purpose: PAGE, authorId: "ann" }, first: 100) { nodes { purpose } }
    legs(filter: { purpose: LICENCE, authorId: "ann" }, first: 100) { totalCount nodes { purpose micro } }
    payments(first: 1) { nodes { evidence { network txHash explorerUrl } } }
  } }`;
  const { data, errors } = await world.graph.ask(world.site.key, query);
  expect(errors).toEqual([]);
  const { earnings, by, none, crossings, pages, legs, payments } = data.tenant;
  expect(earnings.breakdown.nodes.some(({ key }: { key: string }) => key.startsWith('licence:'))).toBe(false);
  expect(by.breakdown.nodes.map(({ key }: { key: string }) => key)).toEqual(['page', 'licence']);
  const micro = (nodes: readonly { grossMicro: string }[]) => nodes.reduce((sum, row) => sum + BigInt(row.grossMicro), 0n);
  expect([micro(earnings.breakdown.nodes), micro(by.breakdown.nodes)].map(String)).toEqual([
    by.breakdown.nodes[0].grossMicro,
    earnings.totals.grossMicro,
  ]);
  expect(none.breakdown.totalCount).toBe(0);
  expect([crossings.totalCount, legs.totalCount]).toEqual([12, 12]);
  for (const { purpose } of [...crossings.nodes, ...legs.nodes]) expect(purpose).toBe('LICENCE');
  for (const { purpose } of pages.nodes) expect(purpose).toBe('PAGE');
  const { evidence } = payments.nodes[0];
  expect(evidence.explorerUrl).toBe(
    /^0x[0-9a-f]{64}$/.test(evidence.txHash) ? `https://sepolia.basescan.org/tx/${evidence.txHash}` : null,
  );
});

test('several series of one report, by aliases and fragments, are of one moment with its totals', async () => {
  const query = `query ($ms: EpochMs) { tenant { earnings(window: { from: $ms, to: "2999-01-01T00:00:00+02:00" }) { totals { events } sums: totals { ...who }
      byMonth: series(every: MONTH, timeZone: "Asia/Kathmandu") { events from to } ...more } } }
    fragment who on EarningsTotals { wallets: authors }
    fragment more on Earnings { ... on Earnings { byWeek: series(every: WEEK) { events } series { ... on Bucket { from to } } } }`;
  const ms = new Date(world.nowMs - 5 * DAY).toISOString();
  const { data, errors } = await world.graph.ask(
    world.site.key,
    query.replaceAll('2999', String(new Date(world.nowMs).getFullYear() + 1)),
    { ms },
  );
  expect(errors).toEqual([]);
  const { totals, sums, byMonth, byWeek, series } = data.tenant.earnings;
  expect(sums.wallets).toBe(3);
  for (const buckets of [byMonth, byWeek]) {
    expect(buckets.reduce((sum: number, { events }: { events: number }) => sum + events, 0)).toBe(totals.events);
  }
  expect(series[0].from).toBe(Date.parse(ms));
  expect(series.every(({ to }: { to: number }, n: number) => to === (series[n + 1]?.from ?? to))).toBe(true);
});

test('what names no window, no zone, or more buckets than are allowed is refused with what to change', async () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['earnings(window: { lastDays: 400 }) { series(every: HOUR) { from } }', /more than 750 buckets by hour/],
    ['earnings { series(timeZone: "Mars/Olympus") { from } }', /IANA name/],
    ['audit(window: { named: TODAY, timeZone: "CET+1" }) { totals { denied } }', /IANA name/],
    ['earnings(window: { named: TODAY, lastDays: 3 }) { totals { events } }', /give `named`, or/],
    ['earnings(window: { lastDays: 3, timeZone: "UTC" }) { totals { events } }', /applies only to `named`/],
    ['earnings(window: { from: "2026-11-01T00:00:00" }) { totals { events } }', /ISO 8601/],
    ['earnings(window: { from: "2026-02-30T00:00:00Z" }) { totals { events } }', /ISO 8601/],
  ];
  for (const [field, sentence] of refused) {
    const { errors, status } = await world.graph.ask(world.site.key, `{ tenant { ${field} } }`);
    expect([errors[0]?.extensions.code, status < 500], field).toEqual(['BAD_USER_INPUT', true]);
    expect(errors[0]?.message).toMatch(sentence);
  }
});

test('a series is priced as the longest there can be, and a dozen of them are too many', async () => {
  const one = 'earnings { series { from to events grossMicro } }';
  const { extensions, errors } = await world.graph.ask(world.site.key, `{ tenant { ${one} } }`);
  expect(errors).toEqual([]);
  expect(extensions.cost.total).toBeGreaterThan(MAX_BUCKETS * 5);
  const many = Array.from({ length: 6 }, (_, n) => `s${n}: ${one}`).join(' ');
  const answer = await world.graph.ask(world.site.key, `{ tenant { ${many} } }`);
  expect(answer.errors[0]?.extensions.limit).toBe('cost');
});
