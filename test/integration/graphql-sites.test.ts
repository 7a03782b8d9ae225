import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIST_COST, REPORT_COST } from '../../graphql/limits/limits.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';

/** Owners of several sites: what `viewer` shows of all of them, and what a token means that was made for one. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
type Site = Awaited<ReturnType<typeof graph.api.site>>;
let [first, second, foreign] = [] as unknown as [Site, Site, Site];
let owner: string;
const DAY_MS = 86_400_000;

beforeAll(async () => {
  graph = await startTestGraphql();
  first = await graph.api.site({ hosts: ['first.sites.example'] });
  second = await graph.api.site({ hosts: ['second.sites.example'], plan: 'starter' });
  foreign = await graph.api.site({ hosts: ['foreign.sites.example'] });
  owner = await graph.owner(first.tenantId);
  await graph.api.deps.database.query(
    "update tenant set owner_user_id = 'owner', owner_issuer = 'site:' || $1::text where tenant_id = $2",
    [first.tenantId, second.tenantId],
  );
  const legs = [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro: 1_000, authorId: 'ann' }];
  const sale = ({ tenantId, host }: Site, daysAgo: number, steps = 1) =>
    ({ tenantId, host, slug: 'solo', kind: 'read', atMs: Date.now() - daysAgo * DAY_MS - 60_000, steps, legs }) as const;
  await insertPurchases(graph.api.deps.database, [
    ...Array.from({ length: 40 }, (_, n) => sale(first, n * 3, n % 7 === 0 ? 2 : 1)),
    ...Array.from({ length: 60 }, (_, n) => ({
      ...sale(second, n),
      kind: n % 5 === 0 ? ('citation' as const) : ('read' as const),
    })),
    ...Array.from({ length: 9 }, (_, n) => sale(foreign, n)),
  ]);
});
afterAll(() => graph?.stop());

test('`viewer` lists the sites of an owner, and what they earned together is the sum of what SQL says of each, as far back as its own plan reads', async () => {
  const { data, errors } = await graph.ask(
    owner,
    `{ viewer { tenants { totalCount nodes { tenantId defaultHost plan earnings(window: { lastDays: 100 }) { totals { grossMicro } } } }
       earnings(window: { lastDays: 100 }, compare: true) { totals { events reads citations grossMicro } previous { events }
         sites { tenantId events reads citations grossMicro previous { events } window { retentionClampedTo } } } } }`,
  );
  expect(errors).toEqual([]);
  const { tenants, earnings } = data.viewer;
  const own = [first, second].map(({ tenantId }) => tenantId);
  expect([tenants.totalCount, tenants.nodes.map(({ tenantId }: { tenantId: string }) => tenantId)]).toEqual([2, own]);
  const rows = await Promise.all(
    [
      [first, 100],
      [second, 30],
    ].map(async ([site, days]) => {
      const net = (where: string) =>
        `coalesce(sum(case when sequence % 2 = 0 then 1 else -1 end) filter (where ${where}), 0)::int`;
      const [row] = await graph.api.deps.database.query(
        `select tenant_id as "tenantId", ${net('true')} as events, ${net("kind = 'read'")} as reads, ${net("kind = 'citation'")} as citations,
           sum(micro)::text as "grossMicro"
         from crossing where tenant_id = $1 and at >= now() - $2 * interval '1 day' group by 1`,
        [(site as Site).tenantId, days],
      );
      return row as Record<string, number | string>;
    }),
  );
  type Shown = { tenantId: string; previous: unknown; window: { retentionClampedTo: number | null } };
  const bySite = (a: { tenantId?: unknown }, b: { tenantId?: unknown }) => (String(a.tenantId) < String(b.tenantId) ? -1 : 1);
  expect(earnings.sites.map(({ previous: _previous, window: _window, ...sums }: Shown) => sums).toSorted(bySite)).toEqual(
    rows.toSorted(bySite),
  );
  const total = (name: string): bigint => rows.reduce((sum, row) => sum + BigInt(row[name] ?? 0), 0n);
  expect(earnings.totals).toEqual({
    events: Number(total('events')),
    reads: Number(total('reads')),
    citations: Number(total('citations')),
    grossMicro: String(total('grossMicro')),
  });
  expect(tenants.nodes.map((one: { earnings: { totals: { grossMicro: string } } }) => one.earnings.totals.grossMicro)).toEqual(
    rows.map(({ grossMicro }) => grossMicro),
  );
  const clamped = earnings.sites.map(({ tenantId, window }: Shown) => [tenantId, window.retentionClampedTo !== null]);
  expect(Object.fromEntries(clamped)).toEqual({ [first.tenantId]: false, [second.tenantId]: true });
});

test('a token goes on meaning the site that it was made for after another was added, and names the other where it wants it', async () => {
  const { data, errors } = await graph.ask(
    owner,
    'query ($id: ID!) { tenant { tenantId } other: tenant(tenantId: $id) { tenantId } viewer { tenantIds } }',
    { id: second.tenantId },
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    tenant: { tenantId: first.tenantId },
    other: { tenantId: second.tenantId },
    viewer: { tenantIds: [first.tenantId, second.tenantId] },
  });
});

test('no sum holds anything of a site that is not the caller’s, and naming one is refused in a sentence', async () => {
  const query = 'query ($ids: [ID!]) { viewer { earnings(tenantIds: $ids) { totals { events } sites { tenantId } } } }';
  for (const id of [foreign.tenantId, '00000000-0000-4000-8000-000000000000', 'x']) {
    const { data, errors } = await graph.ask(owner, query, { ids: [first.tenantId, id] });
    expect(data.viewer.earnings).toBeNull();
    expect(errors[0]).toMatchObject({
      message: expect.stringMatching(/^tenantIds: names a site that is not yours/),
      extensions: { code: 'BAD_USER_INPUT', parameter: 'tenantIds' },
    });
  }
  const one = await graph.ask(owner, query, { ids: [second.tenantId, second.tenantId.toUpperCase()] });
  expect(one.data.viewer.earnings.sites).toEqual([{ tenantId: second.tenantId }]);
  const byKey = await graph.ask(first.key, query);
  expect(byKey.data.viewer.earnings.sites).toEqual([{ tenantId: first.tenantId }]);
});

test('what sites earned together costs more with each site that is added up, and as much again for the window before', async () => {
  const costOf = async (bearer: string, args = '') => {
    const { extensions } = await graph.ask(bearer, `query @costOnly { viewer { earnings${args} { totals { events } } } }`);
    return extensions.cost.total as number;
  };
  const [one, both, compared] = [
    await costOf(owner, `(tenantIds: ["${second.tenantId}"])`),
    await costOf(owner),
    await costOf(owner, '(compare: true)'),
  ];
  expect([both - one, compared - both]).toEqual([LIST_COST, REPORT_COST + 2 * LIST_COST]);
  expect(await costOf(first.key)).toBe(one);
});

test('a key without the scope sees no sum', async () => {
  const { key } = await graph.api.site({ hosts: ['scoped.sites.example'], scopes: ['tenant.read'] });
  const { data, errors } = await graph.ask(key, '{ viewer { earnings { totals { events } } tenants { nodes { tenantId } } } }');
  expect([data.viewer.earnings, errors[0]?.extensions.code]).toEqual([null, 'FORBIDDEN']);
  expect(data.viewer.tenants.nodes).toHaveLength(1);
});
