import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordActualLegs } from '../../modules/reconciliation/store/corrections.ts';
import { recordLedger } from '../../modules/settlement/store/recordCrossings.ts';
import { startTestGraphql } from '../support/graphql.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

/** What was reported of a month stays what it was: whatever takes a sale back is of the month in which it was recorded. */

const DAY = 86_400_000;
const ANN = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b2'.repeat(20)}`;
const HEAD = 1;

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
beforeAll(async () => {
  graph = await startTestGraphql();
});
afterAll(() => graph?.stop());

type Site = Awaited<ReturnType<typeof graph.api.site>>;

const bought = (site: Site, atMs: number, changes: Partial<Purchase> = {}): Purchase => ({
  tenantId: site.tenantId,
  host: site.host,
  slug: 'solo',
  kind: 'read',
  atMs,
  steps: 1,
  legs: [
    { toAddress: ANN, amountMicro: 700, authorId: 'ann' },
    { toAddress: BOB, amountMicro: 300, authorId: 'bob' },
  ],
  ...changes,
});

const QUESTIONS = `query ($from: EpochMs, $to: EpochMs) { tenant {
  earnings(window: { from: $from, to: $to }, groupBy: AUTHOR) {
    totals { events authors grossMicro }
    breakdown(first: 9) { nodes { key events grossMicro } }
    series(every: DAY) { from events grossMicro }
  }
  crossings(first: 9, filter: { window: { from: $from, to: $to } }) { totalCount nodes { crossingId micro at } }
  legs(first: 9, filter: { window: { from: $from, to: $to } }) { totalCount nodes { toAddress micro at } }
} }`;

/** All that is reported of a window, but for when it was and whose file it is. */
async function reportsOf(site: Site, from: number, to: number) {
  const get = async (path: string, more: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams({ from: String(from), to: String(to), ...more }).toString();
    const answer = await graph.api.request(`/_svc/earnings${path}?${search}`, { key: site.key });
    expect(answer.status).toBe(200);
    const { generatedAt: _now, ...body } = typeof answer.body === 'string' ? { csv: answer.body } : answer.body;
    return body;
  };
  const { data, errors } = await graph.ask(site.key, QUESTIONS, { from, to });
  expect(errors).toEqual([]);
  return {
    earnings: await get('', { groupBy: 'author' }),
    statements: await get('/statements'),
    csv: (await get('/export.csv')).csv as string,
    ofAnn: (await get('/export.csv', { author: 'ann' })).csv as string,
    graphql: data.tenant,
  };
}

type Changes = Parameters<typeof recordLedger>[1];

/** Records what decisions about payments ask for, as settlement does. */
async function record(
  tenantId: string,
  paymentIds: readonly string[],
  type: 'recordCrossing' | 'correctCrossing',
): Promise<void> {
  const label = `update payment_intake set agent = '{"label": "gptbot"}' where payment_id = any($1)`;
  await query(graph.api.urls.superUrl, label, [paymentIds]);
  const changes = paymentIds.map((paymentId) => ({ payment: { tenantId, paymentId }, effects: [{ type }] }));
  await graph.api.deps.database.transaction((sql) => recordLedger(sql, changes as unknown as Changes));
}

const takeBack = (tenantId: string, paymentId: string) => record(tenantId, [paymentId], 'correctCrossing');

test('a month that is over keeps its statements, CSV and figures when its sales are corrected: the corrections are in the month they were recorded in', async () => {
  const site = await graph.api.site({ plan: 'studio' });
  const [now, { database }] = [Date.now(), graph.api.deps];
  const [from, to] = [now - 60 * DAY, now - 30 * DAY];
  const [undone, paidOtherwise] = await insertPurchases(database, [
    bought(site, to - 3 * DAY),
    bought(site, to - 2 * DAY),
    bought(site, to - DAY),
  ]);
  const before = await reportsOf(site, from, to);
  expect(before.earnings.totals).toMatchObject({ events: 3, grossMicroUsdc: 3_000, authors: 2 });

  await takeBack(site.tenantId, undone as string);
  const payment = { tenantId: site.tenantId, paymentId: paidOtherwise as string };
  expect(await recordActualLegs(database, payment, new Map([[ANN, 699n], [BOB, 301n]]))).toBe(true); // biome-ignore format: one line
  expect(await reportsOf(site, from, to)).toEqual(before);

  const since = await reportsOf(site, to, Date.now() + 1);
  expect(since.earnings.totals).toMatchObject({ events: -1, reads: -1, grossMicroUsdc: -1_000, authors: 2 });
  expect(since.earnings.breakdown).toMatchObject([
    { label: 'bob', events: -1, grossMicroUsdc: -299 },
    { label: 'ann', events: -1, grossMicroUsdc: -701 },
  ]);
  expect(since.earnings.recent.map(({ micro }: { micro: number }) => micro).toSorted()).toEqual([-1_000, -1_000, 1_000]);
  const linesOf = (wallet: string) =>
    since.statements.statements
      .find((one: { wallet: string }) => one.wallet.toLowerCase() === wallet)
      .lines.map(({ micro }: { micro: number }) => micro)
      .toSorted((a: number, b: number) => a - b);
  expect([since.statements.totalMicroUsdc, linesOf(ANN), linesOf(BOB)]).toEqual([-1_000, [-700, -700, 699], [-300, -300, 301]]);
  const amounts = since.csv.trimEnd().split('\r\n').slice(HEAD).map((row) => row.split(',').slice(5, 7)); // biome-ignore format: one line
  expect(amounts.toSorted()).toEqual([['-300', '-0.000300'], ['-300', '-0.000300'], ['-700', '-0.000700'], ['-700', '-0.000700'], ['301', '0.000301'], ['699', '0.000699']]); // biome-ignore format: one line
  expect(since.ofAnn.trimEnd().split('\r\n')).toHaveLength(HEAD + 3);
  const { earnings, crossings, legs } = since.graphql;
  expect(earnings.totals).toEqual({ events: -1, authors: 2, grossMicro: '-1000' });
  expect([crossings.totalCount, crossings.nodes.length, legs.totalCount, legs.nodes.length]).toEqual([3, 3, 6, 6]);
});

test('a month’s statement lists what was taken back in it beside what was sold, and adds up to its total', async () => {
  const site = await graph.api.site({ plan: 'studio' });
  const now = Date.now();
  const [undone] = await insertPurchases(graph.api.deps.database, [bought(site, now - 40 * DAY), bought(site, now - DAY)]);
  await takeBack(site.tenantId, undone as string);
  const report = await reportsOf(site, now - 2 * DAY, Date.now() + 1);
  expect(report.earnings.totals).toMatchObject({ events: 0, grossMicroUsdc: 0, authors: 0 });
  expect(report.earnings.recent.map(({ micro }: { micro: number }) => micro)).toEqual([-1_000, 1_000]);
  expect(report.csv.trimEnd().split('\r\n')).toHaveLength(HEAD + 4);
  expect(report.graphql.crossings.totalCount).toBe(2);
});

test('a sale decided within the hour counts when it was paid; one decided later, and every correction, when it is recorded', async () => {
  const site = await graph.api.site({ plan: 'studio' });
  const { database } = graph.api.deps;
  const now = Date.now();
  const [soon, late] = [now - 50 * 60_000, now - 70 * 60_000];
  const ids = await insertPurchases(database, [bought(site, soon, { steps: 0 }), bought(site, late, { steps: 0 })]);
  await record(site.tenantId, ids, 'recordCrossing');
  await takeBack(site.tenantId, ids[0] as string);
  const rows = await database.query<{ at: Date }>(
    'select at from crossing where tenant_id = $1 order by payment_id = $2 desc, sequence',
    [site.tenantId, ids[0]],
  );
  const [first, takenBack, second] = rows.map(({ at }) => at.getTime());
  expect(first).toBe(soon);
  for (const at of [takenBack, second]) expect(at).toBeGreaterThanOrEqual(now - 1_000);
});

test('reconciliation of a month takes a sale with its corrections, whenever they were recorded: what is settled and outstanding is what is recorded', async () => {
  const site = await graph.api.site({ plan: 'studio' });
  const now = Date.now();
  const ids = await insertPurchases(graph.api.deps.database, [
    bought(site, now - 40 * DAY),
    bought(site, now - 39 * DAY),
    bought(site, now - DAY),
  ]);
  await takeBack(site.tenantId, ids[0] as string);
  const of = async (from: number, to: number) =>
    (await graph.api.request(`/_svc/earnings/reconciliation?from=${from}&to=${to}`, { key: site.key })).body;
  const [then, since] = [await of(now - 60 * DAY, now - 30 * DAY), await of(now - 30 * DAY, Date.now() + 1)];
  expect([then.recorded, since.recorded]).toEqual([
    { events: 1, grossMicroUsdc: 1_000 },
    { events: 1, grossMicroUsdc: 1_000 },
  ]);
  for (const { recorded, settled, outstanding } of [then, since]) {
    expect(settled.micro + outstanding.micro).toBe(recorded.grossMicroUsdc);
    expect(settled.legs + outstanding.legs).toBe(2);
  }
});
