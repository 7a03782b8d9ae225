import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { askedOf, DAY, startBusySite, WALLETS } from '../support/busy-site.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';
import { runPass } from '../support/webhook-pass.ts';

/** Eighteen questions that an analyst brings along, each one query within the cost of a query, whose answer is that of plain SQL. */

const ZONE = 'Europe/Berlin';
let world: Awaited<ReturnType<typeof startBusySite>>;
let sql: ReturnType<typeof askedOf>['sql'];
let receivers: readonly Receiver[];
let owner: string;
/** Two weeks that end now: what every report here is of, unless it says otherwise. */
let window: { from: number; to: number };
/** The same as a condition of SQL. */
let within: (column: string) => string;

beforeAll(async () => {
  world = await startBusySite();
  ({ sql } = askedOf(world));
  const { nowMs, site } = world;
  owner = await world.graph.owner(site.tenantId);
  window = { from: nowMs - 14 * DAY, to: nowMs + 1 };
  within = (column) => `${column} >= ${moment(window.from)} and ${column} < ${moment(window.to)}`;
  await sellMore();
  await setPricesBefore();
  receivers = [await startReceiver(), await startReceiver()];
  await sendWebhooks();
  const pages = ['solo', 'trio', 'long/way', ...Array.from({ length: 130 }, (_, n) => `quiet-${String(n).padStart(3, '0')}`)];
  await importPages(
    { database: world.graph.api.deps.database },
    {
      tenantId: site.tenantId,
      pages: pages.map((slug) => ({ slug, path: `/read/${slug}` })),
    },
  );
});
afterAll(async () => {
  for (const receiver of receivers ?? []) await receiver.stop();
  await world?.graph.stop();
});

const moment = (ms: number): string => `to_timestamp(${ms}::numeric / 1000)`;
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
const net = (condition = 'true'): string =>
  `coalesce(sum(case when sequence % 2 = 0 then 1 else -1 end) filter (where ${condition}), 0)::int`;
const hitsOf = (condition: string): string => `coalesce(sum(count) filter (where ${condition}), 0)::int`;
const microOf = (condition: string): string => `coalesce(sum(count * micro) filter (where ${condition}), 0)::text`;
/** Where a bucket begins: with its unit in the zone, or with the window. */
const bucket = (unit: string, column: string): string =>
  `${ms(`greatest(date_trunc('${unit}', ${column}, '${ZONE}'), ${moment(window.from)})`)}`;

/** Sales of several payers, licences among them, that were settled, became final and went out in batches; some are reversed a day later. */
async function sellMore(): Promise<void> {
  const { nowMs, site, hosts, graph } = world;
  const { database } = graph.api.deps;
  const sale = (n: number): Purchase => ({
    tenantId: site.tenantId,
    host: hosts[n % 2] as string,
    slug: ['solo', 'trio', 'direct'][n % 3] as string,
    kind: n % 4 === 0 ? 'citation' : 'read',
    atMs: nowMs - n * 5 * 3_600_000 - 60_000,
    steps: n % 11 === 5 ? 2 : 1,
    laterMs: DAY / 2,
    payer: `0x${String(n % 7).repeat(40)}`,
    agent: ['gptbot', 'other'][n % 2] as string,
    isLicence: n % 9 === 0,
    payTo: WALLETS[0] as string,
    legs: [{ toAddress: WALLETS[n % 3] as string, amountMicro: 2_000 + n, authorId: n % 3 === 0 ? 'ann' : 'bob' }],
  });
  const ids = await insertPurchases(
    database,
    Array.from({ length: 90 }, (_, n) => sale(n)),
  );
  const tables = await openDatabase({ url: graph.api.urls.ownerUrl });
  await tables.query('update payment_intake set accepted_at = at where payment_id = any($1)', [ids]);
  await tables.query(
    'update payment_state as s set accepted_at = i.at from payment_intake as i where i.payment_id = s.payment_id and s.payment_id = any($1)',
    [ids],
  );
  await tables.close();
  await sql(
    `update payment_state s set settled_at = s.accepted_at + n * interval '37 milliseconds',
       final_at = case when n % 4 > 0 then s.accepted_at + n * interval '1 second' end
     from unnest('{${ids.join(',')}}'::uuid[]) with ordinality as sold (id, n) where s.tenant_id = $1 and s.payment_id = sold.id`,
  );
  await sql(
    `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token, from_address,
       to_address, amount_micro, nonce)
     select p.network, p.tx_hash, 1, 1, 5, '\\x0b', now(), p.asset, p.payer, p.pay_to, p.amount_micro, p.nonce
     from unnest('{${ids.slice(0, 40).join(',')}}'::uuid[]) as sold (id) join payment p on p.tenant_id = $1 and p.payment_id = id
     where p.legs -> 0 ->> 'toAddress' = p.pay_to`,
  );
  for (let n = 0; n < 6; n++) {
    const mine = ids.slice(n * 5, n * 5 + 5);
    const batchId = randomUUID();
    await database.query(
      `insert into settlement_batch (batch_id, network, relayer, kind, nonce, gas_shares, gas_wei, gas_used, tenant_ids, payment_ids)
       values ($1, 'eip155:84532', '0x1', 'settle', $2, $3, $4, $5, $6, $7)`,
      [batchId, n, { [site.tenantId]: '1' }, 10 ** 9 + n, 300_000 + n, [site.tenantId], mine],
    );
    await database.query('update payment_state set batch_id = $3 where tenant_id = $1 and payment_id = any($2)', [
      site.tenantId,
      mine,
      batchId,
    ]);
  }
}

/** Three prices that were set on days of the last two weeks. */
async function setPricesBefore(): Promise<void> {
  const { graph, site, nowMs } = world;
  const call = { tenantId: site.tenantId, actor: { userId: 'ada', via: 'token' } } as const;
  for (const priceUsdc of ['0.002', '0.003', '0.004']) {
    await changePricing({ database: graph.api.deps.database }, call, 'price.set', { priceUsdc });
  }
  await sql(
    `update tenant_pricing p set valid_from = ${moment(nowMs)} - (20 - 4 * place) * interval '1 day',
       valid_until = case when later then ${moment(nowMs)} - (16 - 4 * place) * interval '1 day' end
     from (select version, row_number() over (order by version) as place, lead(version) over (order by version) is not null as later
           from tenant_pricing where tenant_id = $1) v where p.tenant_id = $1 and p.version = v.version`,
  );
}

/** Events for three endpoints; one of them answers 500. */
async function sendWebhooks(): Promise<void> {
  const { api, outbound, secretBox } = world.graph;
  const deps = { database: api.deps.database, secretBox, outbound };
  const [good, bad] = receivers;
  bad?.answer((response) => {
    response.statusCode = 500;
    response.end('down');
  });
  for (const receiver of [good, good, bad]) {
    const { endpointId } = await createEndpoint(deps, world.site.tenantId, { url: receiver!.url });
    for (let n = 0; n < 2; n++) await pingEndpoint(deps, world.site.tenantId, endpointId);
  }
  await runPass(deps);
}

/** The answer of one query with the window as `$w`, by the owner's token; nothing of it is an error. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
async function ask(fields: string): Promise<any> {
  const { data, errors } = await world.graph.ask(
    owner,
    `query${fields.includes('$w') ? ' ($w: WindowInput)' : ''} { tenant { ${fields} } }`,
    { w: window },
  );
  expect(errors).toEqual([]);
  return data.tenant;
}

type Bucket = Readonly<Record<string, unknown>> & { readonly from: number };
type Group = Readonly<Record<string, unknown>> & { readonly key: string; readonly series: readonly Bucket[] };
/** Each bucket with something in it, with the key of its group. */
const filled = (groups: readonly Group[], isEmpty: (bucket: Bucket) => boolean): unknown[] =>
  groups.flatMap(({ key, series }) =>
    series.filter((one) => !isEmpty(one)).map((one) => ({ key: key.startsWith('0x') ? key.toLowerCase() : key, ...one })),
  );
const textOf = (row: unknown): string => JSON.stringify(Object.entries(row as object).toSorted());
const byText = (a: unknown, b: unknown): number => (textOf(a) < textOf(b) ? -1 : 1);

test('1 the pages that earn most, each beside the same time before', async () => {
  const { earnings } = await ask(
    'earnings(window: $w, compare: true, groupBy: SLUG) { breakdown(first: 10) { nodes { key grossMicro previous { grossMicro } } } }',
  );
  const before = window.from - (window.to - window.from);
  const rows = await sql(
    `select slug as key, coalesce(sum(micro) filter (where ${within('at')}), 0)::text as "grossMicro", jsonb_build_object('grossMicro',
       coalesce(sum(micro) filter (where at >= ${moment(before)} and at < ${moment(window.from)}), 0)::text) as previous
     from crossing where tenant_id = $1 and slug not like 'licence:%' group by slug
     order by coalesce(sum(micro) filter (where ${within('at')}), 0) desc limit 10`,
  );
  expect(earnings.breakdown.nodes).toEqual(rows);
  expect(rows.length).toBe(4);
});

test('2 each author week by week', async () => {
  const { earnings } = await ask(
    `earnings(window: $w, groupBy: AUTHOR_ID) { breakdown { nodes { key grossMicro events
       series(every: WEEK, timeZone: "${ZONE}") { from grossMicro events } } } }`,
  );
  const rows = await sql(
    `with author as (select distinct to_address, (select n.author_id from leg n where n.tenant_id = $1 and n.to_address = l.to_address
         and n.role <> 'platform' and n.author_id is not null order by n.at desc limit 1) as id
       from leg l where tenant_id = $1 and role <> 'platform')
     select coalesce(id, to_address) as key, ${bucket('week', 'l.at')} as "from", sum(amount_micro)::text as "grossMicro", ${net()} as events
     from leg l join author using (to_address) join crossing c using (tenant_id, crossing_id)
     where l.tenant_id = $1 and role <> 'platform' and ${within('l.at')} group by 1, 2`,
  );
  const groups: readonly (Group & { readonly grossMicro: string })[] = earnings.breakdown.nodes;
  expect(filled(groups, ({ grossMicro, events }) => grossMicro === '0' && events === 0).toSorted(byText)).toEqual(
    rows.filter(({ grossMicro, events }) => grossMicro !== '0' || events !== 0).toSorted(byText),
  );
  for (const { grossMicro, series } of groups) {
    expect([series.length, String(series.reduce((sum, one) => sum + BigInt(String(one['grossMicro'])), 0n))]).toEqual([
      3,
      grossMicro,
    ]);
  }
  expect(groups.length).toBeGreaterThan(1);
});

test.each([
  ['HOST', 'host', "'x'"],
  ['SLUG', 'slug', "'page'"],
  ['KIND', 'kind', "'x'"],
  ['PURPOSE', "case when slug like 'licence:%' then 'licence' else 'page' end", "'x'"],
  ['AGENT', 'agent', "'x'"],
  ['PAYER', 'payer', "'x'"],
])('each group by %s day by day adds up to the group, and each bucket is what SQL says', async (groupBy, key, pages) => {
  const { earnings } = await ask(
    `earnings(window: $w, groupBy: ${groupBy}) { breakdown(first: 20) { nodes { key
       series(timeZone: "${ZONE}") { from grossMicro reads citations } } } }`,
  );
  const rows = await sql(
    `select ${key} as key, ${bucket('day', 'at')} as "from", sum(micro)::text as "grossMicro", ${net("kind = 'read'")} as reads, ${net("kind = 'citation'")} as citations
     from crossing where tenant_id = $1 and ${within('at')} and (${pages} = 'x' or slug not like 'licence:%') group by 1, 2
     having sum(micro) <> 0 or ${net()} <> 0`,
  );
  const found = filled(
    earnings.breakdown.nodes,
    ({ grossMicro, reads, citations }) => grossMicro === '0' && reads === 0 && citations === 0,
  );
  expect(found.toSorted(byText)).toEqual(rows.toSorted(byText));
  expect(rows.length).toBeGreaterThan(10);
});

test.each([
  ['AGENT', 'agent', "classified_as = 'agent'"],
  ['SLUG', 'slug', 'true'],
  ['VERDICT', 'verdict', 'true'],
  ['HOST', 'host', 'true'],
])('requests of each group by %s, day by day, are what SQL says', async (groupBy, key, condition) => {
  const { audit } = await ask(
    `audit(window: $w, groupBy: ${groupBy}) { breakdown { nodes { key hits series(timeZone: "${ZONE}") { from totals { observations denied answered } } } } }`,
  );
  const rows = await sql(
    `select ${key} as key, ${bucket('day', 'at')} as "from", jsonb_build_object('observations', ${hitsOf('true')}, 'denied', ${hitsOf("verdict = 'denied'")},
       'answered', ${hitsOf("verdict = 'paid'")}) as totals
     from observation where tenant_id = $1 and ${condition} and ${within('at')} group by 1, 2`,
  );
  type Totals = { readonly observations: number };
  const found = filled(audit.breakdown.nodes, ({ totals }) => (totals as Totals).observations === 0);
  expect(found.toSorted(byText)).toEqual(rows.toSorted(byText));
  for (const { hits, series } of audit.breakdown.nodes) {
    expect(series.reduce((sum: number, { totals }: { totals: Totals }) => sum + totals.observations, 0)).toBe(hits);
  }
  expect(rows.length).toBeGreaterThan(20);
});

test('3 who paid and who did not, by operator', async () => {
  const { operators } = await ask(
    'operators(window: $w, first: 50) { nodes { agents hits paid denied unanswered paymentFailed } }',
  );
  expect(operators.nodes.length).toBe(3);
  for (const { agents, ...sums } of operators.nodes) {
    const [row] = await sql(
      `select ${hitsOf('true')} as hits, ${hitsOf("verdict = 'paid'")} as paid, ${hitsOf("verdict = 'denied'")} as denied,
         greatest(0, ${hitsOf("verdict = 'denied'")} - ${hitsOf("verdict = 'paid'")}) as unanswered,
         ${hitsOf("verdict = 'payment-failed'")} as "paymentFailed"
       from observation where tenant_id = $1 and classified_as = 'agent' and ${within('at')} and agent in (${agents.map((one: string) => `'${one}'`)})`,
    );
    expect(sums).toEqual(row);
  }
});

test('4 what was missed on each page, without what was paid afterwards', async () => {
  const { audit } = await ask(
    `audit(window: $w, groupBy: SLUG) { breakdown(orderBy: UNANSWERED_MICRO, first: 10) { nodes { key denied answered unanswered unansweredMicro } } }`,
  );
  const [denied, answered] = [hitsOf("verdict = 'denied'"), hitsOf("verdict = 'paid'")];
  const sum = (verdict: string): string => `coalesce(sum(count * micro) filter (where verdict = '${verdict}'), 0)`;
  const rows = await sql(
    `select slug as key, ${denied} as denied, ${answered} as answered, greatest(0, ${denied} - ${answered}) as unanswered,
       (greatest(0, ${sum('denied')} - ${sum('paid')}) + ${sum('blocked')})::text as "unansweredMicro"
     from observation where tenant_id = $1 and ${within('at')} group by slug
     order by greatest(0, ${sum('denied')} - ${sum('paid')}) + ${sum('blocked')} desc`,
  );
  expect(audit.breakdown.nodes).toEqual(rows);
});

test('5 how many 402s became payments, hour by hour', async () => {
  const { audit } = await ask(
    `audit(window: $w) { series(every: HOUR, timeZone: "${ZONE}") { from totals { denied answered conversion } } }`,
  );
  const rows = await sql(
    `select ${bucket('hour', 'at')} as "from", ${hitsOf("verdict = 'denied'")} as denied, ${hitsOf("verdict = 'paid'")} as answered
     from observation where tenant_id = $1 and ${within('at')} group by 1 having ${hitsOf("verdict in ('denied', 'paid')")} > 0 order by 1`,
  );
  type Hour = { readonly from: number; readonly totals: { denied: number; answered: number; conversion: number | null } };
  const hours: readonly Hour[] = audit.series;
  expect(
    hours
      .filter(({ totals }) => totals.denied + totals.answered > 0)
      .map(({ from, totals: { denied, answered } }) => ({ from, denied, answered })),
  ).toEqual(rows);
  for (const { totals } of hours) {
    expect(totals.conversion).toBe(totals.denied === 0 ? null : Math.min(1, totals.answered / totals.denied));
  }
  expect(hours.length).toBeGreaterThan(14 * 24);
});

test('6 how long payments take to be settled, day by day', async () => {
  const { settlementTimes } = await ask(
    `settlementTimes(window: $w) { settled { payments } series(every: DAY, timeZone: "${ZONE}") { from settled { payments p50Ms p95Ms } final { payments p50Ms } } }`,
  );
  const took = (column: string): string => `extract(epoch from ${column} - accepted_at) * 1000`;
  const rows = await sql(
    `select ${bucket('day', 'accepted_at')} as "from",
       jsonb_build_object('payments', count(coalesce(settled_at, decided_at)),
         'p50Ms', percentile_disc(0.5) within group (order by ${took('coalesce(settled_at, decided_at)')})::bigint,
         'p95Ms', percentile_disc(0.95) within group (order by ${took('coalesce(settled_at, decided_at)')})::bigint) as settled,
       jsonb_build_object('payments', count(final_at), 'p50Ms', percentile_disc(0.5) within group (order by ${took('final_at')})::bigint) as final
     from payment_state where tenant_id = $1 and state in ('settled', 'final') and mode = 'live' and ${within('accepted_at')} group by 1 order by 1`,
  );
  const { series, settled } = settlementTimes;
  type Day = { readonly settled: { readonly payments: number } };
  expect(series.filter((day: Day) => day.settled.payments > 0)).toEqual(
    rows.filter((row) => (row['settled'] as { payments: number }).payments > 0),
  );
  expect(series.reduce((sum: number, day: Day) => sum + day.settled.payments, 0)).toBe(settled.payments);
  expect(series.length).toBe(15);
  expect(rows.length).toBeGreaterThan(13); // shortly before midnight the window begins with a day too short for a sale
});

test('7 what the chain shows of the legs, and what is outstanding', async () => {
  const { reconciliation } = await ask(
    'reconciliation(window: $w) { settled { legs amountMicro } outstanding { legs amountMicro } }',
  );
  const [row] = await sql(
    `with standing as (
       select l.amount_micro as micro, t.amount_micro is not distinct from p.amount_micro as shown
       from leg l join crossing c using (tenant_id, crossing_id) join payment p on p.tenant_id = l.tenant_id and p.payment_id = l.payment_id
         left join chain_transfer t on t.from_address = p.payer and t.nonce = p.nonce
       where l.tenant_id = $1 and c.sequence = 0 and ${within('c.at')}
         and not exists (select from crossing k where k.tenant_id = $1 and k.payment_id = c.payment_id and k.sequence = 1))
     select jsonb_build_object('legs', count(*) filter (where shown), 'amountMicro', coalesce(sum(micro) filter (where shown), 0)::text) as settled,
       jsonb_build_object('legs', count(*) filter (where not shown), 'amountMicro', coalesce(sum(micro) filter (where not shown), 0)::text) as outstanding
     from standing`,
  );
  expect({ settled: reconciliation.settled, outstanding: reconciliation.outstanding }).toEqual(row);
  expect(reconciliation.settled.legs).toBeGreaterThan(5);
});

test('8 what was taken back: how many, how much, and which', async () => {
  const { earnings, crossings } = await ask(
    `earnings(window: $w) { corrections { count amountMicro } }
     crossings(filter: { window: $w, isCorrection: true }, first: 100) { totalCount nodes { micro at slug } }`,
  );
  const rows = await sql(
    `select micro::text as micro, ${ms('at')} as at, slug from crossing where tenant_id = $1 and sequence % 2 = 1 and ${within('at')}
     order by crossing.at desc, crossing_id desc`,
  );
  const taken = rows.reduce((sum, { micro }) => sum - BigInt(String(micro)), 0n);
  expect(earnings.corrections).toEqual({ count: rows.length, amountMicro: String(taken) });
  expect(crossings).toEqual({ totalCount: rows.length, nodes: rows });
  expect(rows.length).toBeGreaterThan(5);
});

test('9 what licences earn, and what pages do', async () => {
  const { earnings } = await ask('earnings(window: $w, groupBy: PURPOSE) { breakdown { nodes { value events grossMicro } } }');
  const rows = await sql(
    `select case when slug like 'licence:%' then 'LICENCE' else 'PAGE' end as value, ${net()} as events, sum(micro)::text as "grossMicro"
     from crossing where tenant_id = $1 and ${within('at')} group by 1 order by sum(micro) desc`,
  );
  expect(earnings.breakdown.nodes).toEqual(rows);
});

test('10 what was sold before each change of the price, and as long after it', async () => {
  const { priceHistory } = await ask(
    'priceHistory { nodes { at to { priceUsdc } sales(days: 3) { before { from to events grossMicro } after { from to events grossMicro } } } }',
  );
  expect(priceHistory.nodes.length).toBe(4);
  for (const { at, sales } of priceHistory.nodes) {
    const micro = (condition: string): string => `coalesce(sum(micro) filter (where ${condition}), 0)::text`;
    const [before, since] = [`at < ${moment(at)}`, `at >= ${moment(at)}`];
    const [row] = await sql(
      `select ${net(before)} as events, ${micro(before)} as micro, ${net(since)} as later, ${micro(since)} as after
       from crossing where tenant_id = $1 and at >= ${moment(at - 3 * DAY)} and at < ${moment(at + 3 * DAY)}`,
    );
    expect(sales.before).toEqual({ from: at - 3 * DAY, to: at, events: row!['events'], grossMicro: row!['micro'] });
    expect(sales.after).toEqual({ from: at, to: at + 3 * DAY, events: row!['later'], grossMicro: row!['after'] });
  }
});

test('11 new payers and those who came back, day by day', async () => {
  const { earnings } = await ask(
    `earnings(window: $w, groupBy: PAYER_HISTORY) { breakdown { nodes { key value payers series(timeZone: "${ZONE}") { from events grossMicro } } } }`,
  );
  const history = `case when exists (select from crossing b where b.tenant_id = $1 and b.payer = c.payer and b.sequence % 2 = 0 and b.at < ${moment(window.from)}
      and not exists (select from crossing k where k.tenant_id = $1 and k.payment_id = b.payment_id and k.sequence = b.sequence + 1 and k.at < ${moment(window.from)}))
    then 'returning' else 'new' end`;
  const rows = await sql(
    `select ${history} as key, ${bucket('day', 'at')} as "from", ${net()} as events, sum(micro)::text as "grossMicro"
     from crossing c where tenant_id = $1 and ${within('at')} group by 1, 2 having ${net()} <> 0 or sum(micro) <> 0`,
  );
  const groups: readonly (Group & { readonly value: string })[] = earnings.breakdown.nodes;
  expect(
    filled(
      groups.map(({ key, series }) => ({ key, series })),
      ({ events, grossMicro }) => events === 0 && grossMicro === '0',
    ).toSorted(byText),
  ).toEqual(rows.toSorted(byText));
  expect(groups.map(({ value }) => value).every((value) => value === 'NEW' || value === 'RETURNING')).toBe(true);
});

test('12 what gas a payment takes', async () => {
  const { batches, payments } = await ask(
    `batches(window: $w) { networks { payments gasUsed feeWei ownFeeWei gasAPayment { p50 } } }
     payments(filter: { window: $w }, first: 100) { nodes { paymentId batch { gasUsed feeWei payments } } }`,
  );
  const [row] = await sql(
    `select sum(cardinality(payment_ids))::int as payments, sum(gas_used)::text as "gasUsed", sum(gas_wei)::text as "feeWei", sum(gas_wei)::text as "ownFeeWei",
       jsonb_build_object('p50', percentile_disc(0.5) within group (order by gas_used / cardinality(payment_ids))::int) as "gasAPayment"
     from settlement_batch where $1 = any (tenant_ids)`,
  );
  expect(batches.networks).toEqual([row]);
  expect(payments.nodes.filter(({ batch }: { batch: unknown }) => batch !== null).length).toBeGreaterThan(10);
});

test('13 how webhooks fare, endpoint by endpoint', async () => {
  const { webhookTimes } = await ask(
    'webhookTimes(window: { lastDays: 1 }) { failing endpoints { endpointId endpoint { origin } made pending failed failedAttempts delivered { deliveries } } }',
  );
  const rows = await sql(
    `select d.endpoint_id as "endpointId", jsonb_build_object('origin', substring(e.url from '^https?://[^/]+')) as endpoint, count(*)::int as made,
       (count(*) filter (where d.state = 'pending'))::int as pending, (count(*) filter (where d.state in ('failed', 'exhausted')))::int as failed,
       sum((select count(*) from delivery_attempt a where a.tenant_id = $1 and a.delivery_id = d.delivery_id and a.reason is not null))::int as "failedAttempts",
       jsonb_build_object('deliveries', count(*) filter (where d.state = 'delivered')) as delivered
     from delivery d join webhook_endpoint e using (tenant_id, endpoint_id) where d.tenant_id = $1 group by 1, e.url order by 5 desc, 6 desc, 1`,
  );
  expect(webhookTimes.endpoints).toEqual(rows);
  expect(rows.map(({ failedAttempts }) => Number(failedAttempts) > 0)).toEqual([true, false, false]);
});

test('14 failed payments by reason, day by day', async () => {
  const { audit } = await ask(
    `audit(window: $w) { series(timeZone: "${ZONE}") { from totals { failedByReason { reason count } } } }`,
  );
  const rows = await sql(
    `select ${bucket('day', 'at')} as "from", upper(reason) as reason, ${hitsOf('true')} as count from observation
     where tenant_id = $1 and verdict = 'payment-failed' and ${within('at')} group by 1, 2`,
  );
  type Day = {
    readonly from: number;
    readonly totals: { readonly failedByReason: readonly { reason: string; count: number }[] };
  };
  const found = audit.series.flatMap(({ from, totals }: Day) =>
    totals.failedByReason.filter(({ count }) => count > 0).map((one) => ({ from, ...one })),
  );
  expect(found.toSorted(byText)).toEqual(rows.toSorted(byText));
  expect(rows.length).toBeGreaterThan(10);
});

test('15 what agents paid that proved who they are, and what the others did', async () => {
  const { audit } = await ask('audit(window: $w) { totals { agentHits verifiedHits earnedMicro verifiedEarnedMicro } }');
  const [row] = await sql(
    `select ${hitsOf("classified_as = 'agent'")} as "agentHits", ${hitsOf('verified')} as "verifiedHits", ${microOf("verdict = 'paid'")} as "earnedMicro",
       ${microOf("verdict = 'paid' and verified")} as "verifiedEarnedMicro"
     from observation where tenant_id = $1 and ${within('at')}`,
  );
  expect(audit.totals).toEqual(row);
});

test('16 citations beside reads', async () => {
  const { earnings } = await ask(
    'earnings(window: $w, groupBy: KIND) { breakdown(orderBy: KEY) { nodes { key value events grossMicro } } }',
  );
  const rows = await sql(
    `select kind as key, upper(kind) as value, ${net()} as events, sum(micro)::text as "grossMicro" from crossing
     where tenant_id = $1 and ${within('at')} group by kind order by kind`,
  );
  expect(earnings.breakdown.nodes).toEqual(rows);
});

test('17 the pages of the catalogue that nobody bought', async () => {
  const { pages } = await ask(
    'pages(filter: { unsoldIn: $w }, first: 100) { totalCount nodes { slug path } pageInfo { hasNextPage } }',
  );
  const rows = await sql(
    `select slug, path from imported_page i where tenant_id = $1 and not exists (
       select from crossing c where c.tenant_id = $1 and c.slug = i.slug and ${within('c.at')} group by c.slug having ${net()} > 0)
     order by path`,
  );
  expect(pages).toEqual({ totalCount: rows.length, nodes: rows.slice(0, 100), pageInfo: { hasNextPage: true } });
  expect(rows.length).toBe(130);
});

test('18 what this month will come to at its pace', async () => {
  const { earnings } = await ask(
    `earnings(window: { named: THIS_MONTH, timeZone: "${ZONE}" }) { generatedAt window { from } totals { grossMicro } projectedMicro }`,
  );
  const [row] = await sql(
    `select coalesce(sum(micro), 0)::text as gross, ${ms(`date_trunc('month', now(), '${ZONE}')`)} as first,
       ${ms(`((date_trunc('month', now() at time zone '${ZONE}') + interval '1 month') at time zone '${ZONE}')`)} as end
     from crossing where tenant_id = $1 and at >= date_trunc('month', now(), '${ZONE}')`,
  );
  const [first, end] = [Number(row!['first']), Number(row!['end'])];
  expect([earnings.totals.grossMicro, earnings.window.from]).toEqual([row!['gross'], first]);
  const expected = (BigInt(String(row!['gross'])) * BigInt(end - first)) / BigInt(earnings.generatedAt - first);
  expect(earnings.projectedMicro).toBe(String(expected));
  const { ended } = await ask('ended: earnings(window: { named: PREVIOUS_MONTH }) { projectedMicro }');
  expect(ended.projectedMicro).toBeNull();
});
