import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';

/** Files of earnings hold what was asked for: with a filter its rows and no others, or a refusal that names it. */

const wallet = (n: number): string => `0x${String(n).padStart(2, '0').repeat(20)}`;
const HOUR = 3_600_000;

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site({ plan: 'studio' });
  const other = await graph.api.site({ plan: 'studio' });
  const sales = Array.from({ length: 60 }, (_, n) => ({
    tenantId: n % 10 === 9 ? other.tenantId : site.tenantId,
    host: n % 7 === 0 ? 'second.example' : site.host,
    slug: `page-${n % 4}`,
    kind: n % 3 === 0 ? ('citation' as const) : ('read' as const),
    atMs: Date.now() - (n + 1) * HOUR,
    steps: n % 11 === 0 ? 2 : n % 13 === 0 ? 3 : 1,
    payer: wallet(20 + (n % 3)),
    agent: ['gptbot', 'claudebot', 'other'][n % 3] as string,
    isLicence: n % 6 === 5,
    legs: [
      {
        toAddress: wallet(1 + (n % 3)),
        amountMicro: 1_000 + n,
        authorId: ['ann', 'bob', "o'; drop table leg --"][n % 3] as string,
      },
      { toAddress: wallet(4), amountMicro: 10 + n, authorId: 'cyd' },
    ],
  }));
  await insertPurchases(graph.api.deps.database, sales);
});
afterAll(() => graph?.stop());

const FILTERS = [
  {},
  { host: 'second.example' },
  { kind: 'citation' },
  { slug: 'page-1' },
  { agent: 'gptbot' },
  { purpose: 'licence' },
  { payer: wallet(21) },
  { wallet: wallet(4) },
  { author: 'ann' },
  { author: "o'; drop table leg --" },
  { author: 'nobody' },
  { author: 'ann', wallet: wallet(4) },
  { author: 'cyd', kind: 'read', agent: 'other', host: 'second.example' },
  { slug: "page-1' or true --" },
] as const;

async function csv(query: Readonly<Record<string, string>>) {
  const answer = await fetch(`${graph.api.url}/_svc/earnings/export.csv?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${site.key}` },
  });
  const [head = '', ...rows] = (await answer.text()).trimEnd().split('\r\n');
  const place = head.split(',').indexOf('amount_micro');
  const amounts = rows.map((row) => BigInt(row.split(',')[place] as string));
  return { answer, count: amounts.length, sum: amounts.reduce((all, one) => all + one, 0n) };
}

test('a CSV has exactly the rows of its filters: they add up to what earnings say under the same', async () => {
  const seen = new Set<bigint>();
  for (const filters of FILTERS) {
    const { answer, count, sum } = await csv(filters);
    const said = JSON.stringify(filters);
    expect(answer.status, said).toBe(200);
    expect(answer.headers.get('x-svc-row-count'), said).toBe(String(count));
    const { author: authorId, wallet: author, kind, purpose, ...rest } = filters as Readonly<Record<string, string>>;
    const variables = { ...rest, authorId, author, kind: kind?.toUpperCase(), purpose: purpose?.toUpperCase() };
    const { data, errors } = await graph.ask(
      site.key,
      `query ($host: String, $kind: CrossingKind, $purpose: CrossingPurpose, $slug: String, $author: String, $authorId: String, $agent: String, $payer: String) {
        tenant { earnings(window: { lastDays: 30 }, host: $host, kind: $kind, purpose: $purpose, slug: $slug, author: $author, authorId: $authorId,
          agent: $agent, payer: $payer) { totals { grossMicro } } } }`,
      variables,
    );
    expect(errors, said).toEqual([]);
    expect(String(sum), said).toBe(data.tenant.earnings.totals.grossMicro);
    seen.add(sum);
  }
  expect(seen.size).toBeGreaterThan(9); // each filter takes something else
});

test('a filter that a PDF or statements do not have is refused by its name, and a wrong one of the CSV too', async () => {
  for (const path of ['export.pdf', 'statements']) {
    for (const name of ['host', 'kind', 'slug', 'agent', 'purpose', 'payer', 'wallet']) {
      const { status, body } = await graph.api.request(`/_svc/earnings/${path}?${name}=read`, { key: site.key });
      expect([status, body.error], `${path} ${name}`).toEqual([
        400,
        expect.stringMatching(`^invalid_parameter: unknown parameter "${name}"; there are from, `),
      ]);
    }
  }
  expect((await graph.api.request('/_svc/earnings/statements?author=ann', { key: site.key })).status).toBe(400);
  for (const wrong of [
    { payer: 'bob' },
    { wallet: '0x1' },
    { kind: 'all' },
    { purpose: 'both' },
    { author: '' },
    { timeZone: 'Mars/Base' },
  ])
    expect((await csv(wrong)).answer.status, JSON.stringify(wrong)).toBe(400);
});

test('a file is named by the days of the zone that is asked for', async () => {
  const nameOf = async (query: Readonly<Record<string, string>>): Promise<string | null> =>
    (await csv(query)).answer.headers.get('content-disposition');
  // November 2026 in Berlin.
  const window = { from: String(Date.UTC(2026, 9, 31, 23)), to: String(Date.UTC(2026, 10, 30, 23)) };
  expect(await nameOf({ ...window, timeZone: 'Europe/Berlin' })).toContain('-2026-11-01-2026-11-30.csv');
  expect(await nameOf(window)).toContain('-2026-10-31-2026-11-30.csv');
});
