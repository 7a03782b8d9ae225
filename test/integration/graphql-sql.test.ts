import { randomUUID } from 'node:crypto';
import type { GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { schema } from '../../graphql/schema/schema.ts';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { inviteMember } from '../../modules/identity/use/members.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

/** What each query costs in statements of SQL: the same for a page of one row as for a long one, however it fans out. */

const SOME = 6;
let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let owner: string;

beforeAll(async () => {
  graph = await startTestGraphql();
  const { database, pepper } = graph.api.deps;
  const { secretBox, outbound } = graph;
  const hosts = Array.from({ length: SOME }, (_, n) => `h${n}.sql.example`);
  const { tenantId, host } = await graph.api.site({ hosts });
  owner = await graph.owner(tenantId);
  await sell(database, tenantId, host);
  for (let n = 0; n < SOME; n++) {
    const jti = await sellLicence(database, tenantId, host);
    await database.query(`insert into licence_page (tenant_id, jti, path, slug, micro) values ($1, $2, '/', 'page-0', 1)`, [
      tenantId,
      jti,
    ]);
    await database.query(
      `insert into usage_report (tenant_id, licence_jti, idempotency_id, request_hash, host, slug, use, count, at, day, place)
       values ($1, $2, 'one', '', $3, $4, 'ai-input', 1, now(), now(), 1)`,
      [tenantId, jti, host, `page-${n}`],
    );
    await mintKey({ database, pepper }, { tenantId, name: `key ${n}`, scopes: ['tenant.read'] });
    await inviteMember({ database, pepper, clock: Date.now }, { tenantId, authorId: `a${n}`, email: `a${n}@example.com` });
    await importPages({ database }, { tenantId, pages: [{ slug: `imported-${n}`, path: `/imported/${n}` }] });
    await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 10 + n });
    const call = { tenantId, actor: { userId: 'ada', via: 'token' } } as const;
    await changePricing({ database }, call, 'price.set', { priceUsdc: `0.00${n + 1}` });
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
      url: `https://h${n}.example.com/`,
    });
    const { deliveryId } = await pingEndpoint({ database }, tenantId, endpointId);
    await database.query(
      `insert into delivery_attempt (tenant_id, delivery_id, attempt, started_at, duration_ms, status, response_start)
         select $1, $2, n, now(), 5, 500, '' from generate_series(1, 2) as n`,
      [tenantId, deliveryId],
    );
  }
});
afterAll(() => graph.stop());

/** Purchases of several authors, each in a batch of its own and with what was observed of it. */
async function sell(database: Database, tenantId: string, host: string): Promise<void> {
  const wallets = Array.from({ length: SOME }, (_, n) => `0x${String(n + 1).repeat(40)}`);
  const purchases = wallets.map((toAddress, n) => ({
    ...({
      tenantId,
      host,
      slug: `page-${n}`,
      kind: 'read',
      atMs: Date.now() - n * 60_000,
      steps: 1,
      agent: `agent-${n}`,
    } as const),
    legs: [
      { toAddress, amountMicro: 1_000 + n, authorId: `a${n}` },
      { toAddress: wallets[(n + 1) % SOME] as string, amountMicro: 10, authorId: 'b' },
    ],
  }));
  for (const [n, paymentId] of (await insertPurchases(database, purchases)).entries()) {
    const batchId = randomUUID();
    await database.query(
      `insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce) values ($1, 'eip155:84532', '0x1', 'settle', $2, $3)`,
      [batchId, `settle:${n}`, n],
    );
    await database.query('update test.payment set batch_id = $3 where tenant_id = $1 and payment_id = $2', [
      tenantId,
      paymentId,
      batchId,
    ]);
    const paid = { slug: `page-${n}`, verdict: 'paid', paymentId, agent: `agent-${n}`, atMs: Date.now() - n * 60_000 };
    await insertSeen(database, [seenOn({ tenantId, host }, paid)]);
  }
}

const DELIVERY = 'state endpoint { origin }';
const PAYMENT = 'slug batch { workflowId } observations { verdict } licence { jti } successor { slug }';

/**
 * Each field of a site, asked for with everything that hangs on its rows, and the statements it costs besides the site's own. A payment's
 * observations take two, the first for their days.
 */
const FIELDS: readonly (readonly [field: string, statements: number])[] = [
  ['hosts(first: $n) { totalCount nodes { host enforcement { mode } challenge { token } } }', 3],
  ['pages(first: $n) { totalCount nodes { slug } }', 2],
  ['earnings(groupBy: SLUG) { totals { events } breakdown(first: $n) { totalCount nodes { key title url } } }', 2],
  [`crossings(first: $n) { totalCount nodes { slug title url legs { toAddress } payment { ${PAYMENT} } } }`, 8],
  ['legs(first: $n) { totalCount nodes { title crossing { slug payment { batch { state } } } } }', 6],
  [
    'statements { statements(first: $n) { totalCount nodes { wallet lines(first: 3) { totalCount nodes { url crossing { slug } } } } } }',
    5,
  ],
  [
    `reconciliation { exceptions(first: $n) { totalCount nodes { title authorId crossing { slug } payment { state } } }
       waiting(first: $n) { totalCount nodes { wallet authorId } } }`,
    9,
  ],
  [
    'audit(groupBy: SLUG) { breakdown(first: $n) { totalCount nodes { key title url } } byAgent(first: $n) { nodes { agent } } }',
    3,
  ],
  ['whatIf(priceUsdc: "0.01", groupBy: AGENT) { totals { paid } breakdown(first: $n) { totalCount nodes { key } } }', 1],
  ['operators(first: $n) { totalCount nodes { name agents } }', 1],
  ['priceHistory(first: $n) { totalCount nodes { actorId to { priceUsdc } } }', 2],
  ['agents(first: $n) { totalCount nodes { agent } }', 1],
  ['observations(first: $n) { totalCount nodes { slug title url } }', 4],
  [`payments(first: $n) { totalCount nodes { title ${PAYMENT} crossings { slug title } } }`, 8],
  [
    'licencesSold(first: $n) { totalCount nodes { jti pagesGranted(first: $n) { nodes { title } } reportedUse { use } payment { batch { state } crossings { slug } } } }',
    7,
  ],
  ['usageReports(first: $n) { totalCount nodes { use title url } }', 3],
  ['usage { pages(first: $n) { totalCount nodes { title reads reportedUse { use count } } } }', 3],
  ['webhookEndpoints(first: $n) { totalCount nodes { url } }', 2],
  [`webhookEvents(first: $n) { totalCount nodes { type deliveries { ${DELIVERY} } } }`, 4],
  [`deliveries(first: $n) { totalCount nodes { ${DELIVERY} event { type } attempts { status } } }`, 5],
  ['anomalyRules(first: $n) { totalCount nodes { metric } }', 1],
  ['keys(first: $n) { totalCount nodes { name } }', 2],
  ['members(first: $n) { totalCount nodes { authorId } }', 2],
  ['auditLog(first: $n) { totalCount nodes { action } }', 2],
  ['pricedPages(first: $n) { totalCount nodes { path title price { readMicro } payees { authorId wallet micro } } }', 4],
];
const nameOf = (field: string): string => field.split(/[ ({]/, 1)[0] as string;

test.each(FIELDS.map(([field, statements]) => [nameOf(field), field, statements] as const))(
  '%s reads long pages in no more statements than its fields say',
  async (_name, field, statements) => {
    const spent: number[] = [];
    for (const n of [1, 40]) {
      graph.count();
      const { errors, data } = await graph.ask(owner, `query ($n: Int) { tenant { ${field} } }`, { n });
      expect(errors).toEqual([]);
      spent.push(graph.count() - 1);
      const rows = [...JSON.stringify(data).matchAll(/"totalCount":(\d+),"nodes":\[(.?)/g)];
      expect(rows.every(([, total, node]) => Number(total) > 1 && node === '{')).toBe(true);
      expect(rows.length).toBeGreaterThan(0);
    }
    expect(spent[0]).toBeLessThanOrEqual(statements); // a row alone may have neither batch nor licence
    expect(spent[1]).toBe(statements);
  },
);

test('every list and report of a site stands among these fields', () => {
  const site = schema.getType('Tenant') as GraphQLObjectType;
  const wide = Object.values(site.getFields()).filter(({ type }) =>
    /Connection$|^(Earnings|Statements|Reconciliation|Audit|WhatIf|Usage)$/.test(String(type)),
  );
  expect(FIELDS.map(([field]) => nameOf(field)).toSorted()).toEqual(wide.map(({ name }) => name).toSorted());
});

test('a statement of an analyst is one core’s at most: no parallel workers, no compiled plans', async () => {
  for (const [setting, value] of [
    ['max_parallel_workers_per_gather', '0'],
    ['jit', 'off'],
  ]) {
    const rows = await graph.reading.query(`show ${setting}`);
    expect(rows).toEqual([{ [setting as string]: value }]);
  }
});
