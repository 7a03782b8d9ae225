import { afterAll, beforeAll, expect, test } from 'vitest';
import { WALLETS } from '../support/api.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases } from '../support/reports.ts';

/** Reported use beside sales: counted apart from money, by page and by licence, of one's own site alone. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let jti: string;
const DAY_MS = 86_400_000;

beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site({ hosts: ['used.example'] });
  const { database } = graph.api.deps;
  const { tenantId, host } = site;
  jti = await sellLicence(database, tenantId, host);
  const legs = [{ toAddress: WALLETS[0] as string, amountMicro: 1_000, authorId: 'ann' }];
  const bought = { tenantId, host, kind: 'read', atMs: Date.now() - 60_000, steps: 1, legs } as const;
  await insertPurchases(database, [
    { ...bought, slug: 'solo' },
    { ...bought, slug: 'solo', kind: 'citation' },
    { ...bought, slug: 'never-used' },
  ]);
  const rows: readonly (readonly [slug: string, use: string, count: number, within: boolean | null, ageDays: number])[] = [
    ['solo', 'ai-input', 3, true, 0],
    ['solo', 'ai-input', 2_000_000_000, true, 1],
    ['solo', 'ai-input', 2_000_000_000, true, 1],
    ['solo', 'ai-train', 5, false, 1],
    ['trio', 'search', 1, null, 1],
    ['duo', 'search', 7, null, 40],
    ['duo', 'search', 9, null, 401],
  ];
  for (const [n, [slug, use, count, within, ageDays]] of rows.entries()) {
    await database.query(
      `insert into usage_report (tenant_id, licence_jti, idempotency_id, request_hash, host, slug, use, count, within_terms, at, day, place)
       values ($1, $2, $3, '', $4, $5, $6, $7, $8, $9::timestamptz, $9, $10)`,
      [tenantId, jti, `${n}`, host, slug, use, count, within, new Date(Date.now() - ageDays * DAY_MS - 1_000), n + 1],
    );
  }
});
afterAll(() => graph.stop());

test('pages are told by their reported use, the most used first, beside what was sold of them, and money knows nothing of it', async () => {
  const { data, errors } = await graph.ask(
    site.key,
    `{ tenant { usage(window: { lastDays: 7 }) { window { from } pages { totalCount nodes { slug title reads citations reportedUse { use reports count outside } } } }
       earnings(window: { lastDays: 7 }) { totals { events grossMicro } } } }`,
  );
  expect(errors).toEqual([]);
  expect(data.tenant.usage.pages).toEqual({
    totalCount: 2,
    nodes: [
      {
        slug: 'solo',
        title: 'Alone',
        reads: 1,
        citations: 1,
        reportedUse: [
          { use: 'ai-input', reports: 3, count: 4_000_000_003, outside: 0 },
          { use: 'ai-train', reports: 1, count: 5, outside: 5 },
        ],
      },
      { slug: 'trio', title: null, reads: 0, citations: 0, reportedUse: [{ use: 'search', reports: 1, count: 1, outside: 0 }] },
    ],
  });
  expect(data.tenant.earnings.totals).toEqual({ events: 3, grossMicro: '3000' });
});

test('a licence that was sold shows what its buyer reported, and each report is listed as far back as the plan reads', async () => {
  const { data, errors } = await graph.ask(
    site.key,
    `query ($jti: ID!) { tenant { licenceSold(jti: $jti) { reportedUse { use count } }
       all: usageReports { totalCount } usageReports(filter: { withinTerms: false, licenceJti: $jti }) { nodes { slug use count withinTerms } }
       pages: usageReports(first: 2, orderBy: OLDEST, filter: { use: "search" }) { totalCount nodes { slug } pageInfo { hasNextPage } } } }`,
    { jti },
  );
  expect(errors).toEqual([]);
  expect(data.tenant).toEqual({
    licenceSold: {
      reportedUse: [
        { use: 'ai-input', count: 4_000_000_003 },
        { use: 'ai-train', count: 5 },
        { use: 'search', count: 17 },
      ],
    },
    all: { totalCount: 6 },
    usageReports: { nodes: [{ slug: 'solo', use: 'ai-train', count: 5, withinTerms: false }] },
    pages: { totalCount: 2, nodes: [{ slug: 'duo' }, { slug: 'trio' }], pageInfo: { hasNextPage: false } },
  });
});

test('another site sees none of it', async () => {
  const other = await graph.api.site();
  const { data } = await graph.ask(
    other.key,
    `query ($jti: ID!) { tenant { usage { pages { totalCount } } usageReports(filter: { licenceJti: $jti }) { totalCount } } }`,
    { jti },
  );
  expect(data.tenant).toEqual({ usage: { pages: { totalCount: 0 } }, usageReports: { totalCount: 0 } });
});
