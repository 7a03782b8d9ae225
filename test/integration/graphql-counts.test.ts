import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, SPAN, startBusySite, WALLETS } from '../support/busy-site.ts';
import type { Seen } from '../support/reports.ts';
import { insertSeen } from '../support/reports.ts';
import { whileLocked } from '../support/sql.ts';

/** `totalCount` is exact, from rollups where they know the filter and from rows where not; what takes too long says what to narrow. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
  // Payments that were taken back after they were observed: neither row is in the list.
  const seen = Array.from({ length: 5 }, (_, n): Seen[] => {
    const row: Omit<Seen, 'count'> = {
      tenantId: site.tenantId,
      host: hosts[0] as string,
      slug: 'solo',
      verdict: 'paid',
      micro: 1_000,
      reason: null,
      ...({ classifiedAs: 'agent', kind: 'read', agent: 'gptbot', agentUa: null, verified: true } as const),
      paymentId: randomUUID(),
      verifiedAgent: null,
      sigInvalid: null,
      atMs: nowMs - n * DAY,
    };
    return [
      { ...row, count: 1 },
      { ...row, count: -1 },
    ];
  });
  await insertSeen(graph.api.deps.database, seen.flat());
});
afterAll(() => graph.stop());

/** The length of a list as it says, and as its pages show. */
async function lengths(list: string, filter: string): Promise<[said: number, shown: number]> {
  const query = `query ($after: String) { tenant { ${list}(first: 100, after: $after, filter: { ${filter} }) {
    totalCount nodes { at } pageInfo { hasNextPage endCursor } } } }`;
  let shown = 0;
  let after: string | null = null;
  for (;;) {
    const { data, errors } = await graph.ask(site.key, query, { after });
    expect(errors, filter).toEqual([]);
    const { nodes, pageInfo, totalCount } = data.tenant[list];
    shown += nodes.length;
    if (!pageInfo.hasNextPage) return [totalCount, shown];
    after = pageInfo.endCursor;
  }
}

const FILTERS: Readonly<Record<string, readonly (() => string)[]>> = {
  crossings: [
    () => '',
    () => `host: "${hosts[1]}"`,
    () => 'kind: CITATION',
    () => `slug: "long/way", host: "${hosts[0]}"`,
    () => 'slug: "none"',
    () => `author: "${WALLETS[0]}"`,
    () => 'minMicro: "3000"',
  ],
  legs: [
    () => '',
    () => `author: "${WALLETS[2]}"`,
    () => `author: "${WALLETS[0]}", kind: READ, host: "${hosts[0]}"`,
    () => 'slug: "solo"',
    () => 'includePlatform: true',
    () => 'authorId: "ann"',
  ],
  observations: [
    () => '',
    () => 'verdicts: [PAID]',
    () => 'verdicts: [PAID, PAYMENT_FAILED], classifiedAs: AGENT',
    () => 'verified: true, agent: "gptbot"',
    () => `verified: false, kind: READ, host: "${hosts[0]}"`,
    () => 'reason: "insufficient_funds"',
    () => 'slug: "solo"',
  ],
};

test.each(Object.keys(FILTERS))(
  'totalCount of %s is the length of the list, whatever the filter and the window',
  async (list) => {
    let seed = 3;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    let counted = 0;
    for (const filter of FILTERS[list] ?? []) {
      const from = Math.floor(nowMs - random() * SPAN);
      const windows = [
        '',
        `window: { from: ${from}, to: ${Math.floor(from + random() * 8 * DAY)} }`,
        `window: { from: ${from} }`,
      ];
      for (const window of windows) {
        const [said, shown] = await lengths(list, `${filter()} ${window}`);
        expect(said, `${list} ${filter()} ${window}`).toBe(shown);
        counted += said;
      }
    }
    expect(counted).toBeGreaterThan(500);
  },
);

/** Asks while nobody may read a table, so that a statement on it takes as long as a statement may. */
async function askWithout(table: string, query: string) {
  return await whileLocked(graph.api.urls.ownerUrl, table, () => graph.inAHurry(() => graph.ask(site.key, query)));
}

test('a count that takes too long is null with a TIMEOUT that says what to narrow; the page comes all the same', async () => {
  const { data, errors } = await askWithout('crossing_day', '{ tenant { crossings(first: 2) { totalCount nodes { slug } } } }');
  expect(data.tenant.crossings).toEqual({
    totalCount: null,
    nodes: [{ slug: expect.any(String) }, { slug: expect.any(String) }],
  });
  expect(errors).toMatchObject([{ path: ['tenant', 'crossings', 'totalCount'], extensions: { code: 'TIMEOUT' } }]);
  expect(errors[0]?.message).toMatch(/shorter window/);
});

test('an order by amount that takes too long is a TIMEOUT that says why, and takes that list alone', async () => {
  const query = '{ tenant { plan payments(orderBy: LARGEST) { nodes { slug } } } }';
  const { data, errors } = await askWithout('payment_state', query);
  expect(data.tenant).toEqual({ plan: 'studio', payments: null });
  expect(errors).toMatchObject([{ path: ['tenant', 'payments'], extensions: { code: 'TIMEOUT', reason: 'statement_timeout' } }]);
  expect(errors[0]?.message).toMatch(/order by amount.*shorter/);
});

test('more questions than have a turn wait, and one caller’s too many are THROTTLED while an owner’s change goes through', async () => {
  const owner = await graph.owner(site.tenantId);
  const query = '{ tenant { payments(first: 1) { nodes { slug } } } }';
  const { answers, change } = await whileLocked(graph.api.urls.ownerUrl, 'payment_state', async () => {
    const asked = Array.from({ length: 30 }, () => graph.ask(site.key, query));
    const isThrottled = async (answer: (typeof asked)[number]) => {
      if ((await answer).errors[0]?.extensions.code !== 'THROTTLED') throw new Error('not this one');
    };
    await Promise.any(asked.map(isThrottled));
    const mutation = 'mutation { setFreeSlugs(input: { slugs: ["about"] }) { __typename } }';
    return { answers: asked, change: await graph.ask(owner, mutation) };
  });
  expect(change.data).toEqual({ setFreeSlugs: { __typename: 'SetFreeSlugsPayload' } });
  const codes = (await Promise.all(answers)).map(({ errors }) => errors[0]?.extensions.code ?? 'answered');
  expect(codes).toContain('THROTTLED');
  expect(codes.filter((code) => !['answered', 'THROTTLED', 'TIMEOUT', 'UNAVAILABLE'].includes(code))).toEqual([]);
});
