import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, startBusySite, WALLETS } from '../support/busy-site.ts';

/** Lists of the GraphQL endpoint: pages put together are the whole list, and filters keep what they name. */

let { graph, site, hosts, nowMs } = {} as Awaited<ReturnType<typeof startBusySite>>;
beforeAll(async () => {
  ({ graph, site, hosts, nowMs } = await startBusySite());
});
afterAll(() => graph.stop());

/** All rows of a list, page by page; its `totalCount` is their number. */
async function allOf<Row>(query: string, listIn: (tenant: Record<string, unknown>) => unknown, variables = {}): Promise<Row[]> {
  const seen: Row[] = [];
  for (let after: string | null = null, isMore = true; isMore; ) {
    const { data, errors } = await graph.ask(site.key, query, { ...variables, after });
    expect(errors).toEqual([]);
    const { nodes, pageInfo, totalCount } = listIn(data.tenant) as {
      nodes: Row[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
      totalCount: number;
    };
    seen.push(...nodes);
    ({ hasNextPage: isMore, endCursor: after } = pageInfo);
    if (!isMore) expect(seen.length).toBe(totalCount);
  }
  return seen;
}

test.each(['NEWEST', 'OLDEST', 'LARGEST', 'SMALLEST'])(
  'pages of crossings, %s first, put together, are the whole list in its order',
  async (orderBy) => {
    type Row = { crossingId: string; at: number; micro: string };
    const rows = await allOf<Row>(
      `query ($after: String, $orderBy: AmountOrder) { tenant { crossings(first: 67, after: $after, orderBy: $orderBy) {
      totalCount nodes { crossingId at micro } pageInfo { hasNextPage endCursor } } } }`,
      ({ crossings }) => crossings,
      { orderBy },
    );
    expect(new Set(rows.map(({ crossingId }) => crossingId)).size).toBe(rows.length);
    const keys = rows.map(({ at, micro }) => (/W|LD/.test(orderBy) ? at : Number(micro)));
    expect(keys).toEqual(keys.toSorted((a, b) => (orderBy === 'OLDEST' || orderBy === 'SMALLEST' ? a - b : b - a)));
  },
);

test('pages of a statement’s lines, put together, are all of its lines, the newest first', async () => {
  let gross = '';
  const lines = await allOf<{ micro: string; at: number }>(
    `query ($after: String) { tenant { statements { statements(first: 3) { nodes { wallet grossMicro
      lines(first: 40, after: $after) { totalCount nodes { micro at slug } pageInfo { hasNextPage endCursor } } } } } } }`,
    ({ statements }) => {
      const [first] = (statements as { statements: { nodes: { grossMicro: string; lines: unknown }[] } }).statements.nodes;
      gross = first?.grossMicro ?? '';
      return first?.lines;
    },
  );
  expect(String(lines.reduce((sum, { micro }) => sum + Number(micro), 0))).toBe(gross);
  expect(lines.length).toBeGreaterThan(80);
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort((a, b) => b - a));
});

test.each(['NEWEST', 'OLDEST'])(
  'pages of observations, %s first, put together, are the whole list, across days with and without rows',
  async (orderBy) => {
    const rows = await allOf<{ observationId: string; at: number }>(
      `query ($after: String, $orderBy: TimeOrder) { tenant { observations(first: 31, after: $after, orderBy: $orderBy,
      filter: { verdicts: [PAID, DENIED, BLOCKED] }) { totalCount nodes { observationId at } pageInfo { hasNextPage endCursor } } } }`,
      ({ observations }) => observations,
      { orderBy },
    );
    expect(rows.length).toBeGreaterThan(100);
    expect(new Set(rows.map(({ observationId }) => observationId)).size).toBe(rows.length);
    const times = rows.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => (orderBy === 'OLDEST' ? a - b : b - a)));
  },
);

test('each filter of a list keeps what it names and drops the rest', async () => {
  const [A, , C] = WALLETS as [string, string, string];
  const nodes = async (list: string, filter: string, fields: string): Promise<Record<string, unknown>[]> => {
    const { data, errors } = await graph.ask(
      site.key,
      `{ tenant { ${list}(first: ${fields.startsWith('crossings') ? 30 : 100}, filter: { ${filter} }) { totalCount nodes { ${fields} } } } }`,
    );
    expect(errors, filter).toEqual([]);
    expect(data.tenant[list].totalCount, filter).toBeGreaterThan(0);
    expect(data.tenant[list].totalCount, filter).toBeLessThan(400);
    return data.tenant[list].nodes;
  };
  const host = hosts[0] as string;
  const from = nowMs - 5 * DAY;
  const day = `window: { from: ${from}, to: ${from + DAY} }`;
  const dayOf = (row: Record<string, unknown>) => Number(row['at']) >= from && Number(row['at']) < from + DAY;
  const paysC = (row: Record<string, unknown>) =>
    (row['legs'] as { toAddress: string }[]).some(({ toAddress }) => toAddress.toLowerCase() === C);
  const cases: [list: string, filter: string, fields: string, holds: (row: Record<string, unknown>) => boolean][] = [
    ['crossings', `host: "${host.toUpperCase()}"`, 'host', (row) => row['host'] === host],
    ['crossings', 'kind: CITATION', 'kind', (row) => row['kind'] === 'CITATION'],
    ['crossings', 'slug: "solo"', 'slug', (row) => row['slug'] === 'solo'],
    ['crossings', `author: "${C.toUpperCase().replace('X', 'x')}"`, 'legs { toAddress }', paysC],
    [
      'crossings',
      'minMicro: "3000", maxMicro: "4000"',
      'micro',
      (row) => Number(row['micro']) >= 3_000 && Number(row['micro']) <= 4_000,
    ],
    ['crossings', day, 'at', dayOf],
    ['legs', `author: "${A}"`, 'toAddress', (row) => String(row['toAddress']).toLowerCase() === A],
    ['legs', 'authorId: "ann"', 'authorId', (row) => row['authorId'] === 'ann'],
    ['legs', 'maxMicro: "99"', 'micro role', (row) => Number(row['micro']) <= 99 && row['role'] !== 'PLATFORM'],
    ['legs', day, 'at', dayOf],
    ['payments', 'kind: CITATION', 'kind', (row) => row['kind'] === 'CITATION'],
    [
      'payments',
      `author: "${C}"`,
      'crossings { legs { toAddress } }',
      ({ crossings }) => (crossings as Record<string, unknown>[]).every(paysC),
    ],
    ['payments', 'minMicro: "3000"', 'micro', (row) => Number(row['micro']) >= 3_000],
    [
      'observations',
      'agent: "gptbot", verdicts: [DENIED, PAID]',
      'agent verdict',
      (row) => row['agent'] === 'gptbot' && /DENIED|PAID$/.test(String(row['verdict'])),
    ],
    [
      'observations',
      'classifiedAs: HUMAN, verified: false',
      'classifiedAs verified',
      (row) => row['classifiedAs'] === 'HUMAN' && row['verified'] !== true,
    ],
    ['observations', 'minMicro: "1500"', 'micro', (row) => Number(row['micro']) >= 1_500],
    ['observations', day, 'at', dayOf],
  ];
  for (const [list, filter, fields, holds] of cases) {
    const rows = await nodes(list, filter, fields);
    expect(
      rows.filter((row) => !holds(row)),
      `${list} ${filter}`,
    ).toEqual([]);
  }
  const none = await graph.ask(site.key, '{ tenant { payments(filter: { agentUa: "Nobody/1" }) { totalCount } } }');
  expect(none.data.tenant.payments.totalCount).toBe(0);
});

test('an agent is found by exactly the name it is shown under, wherever agents are shown', async () => {
  const window = '{ lastDays: 30 }';
  const shown = await graph.ask(
    site.key,
    `{ tenant { agents(window: ${window}) { nodes { agent hits } } audit(window: ${window}, groupBy: AGENT) { breakdown { nodes { key hits } } }
       earnings(window: ${window}, groupBy: AGENT) { breakdown { nodes { key grossMicro } } } } }`,
  );
  const { agents, audit, earnings } = shown.data.tenant;
  expect(agents.nodes.length).toBeGreaterThan(2);
  for (const [agent, hits] of [...agents.nodes, ...audit.breakdown.nodes].map((row) => [row.agent ?? row.key, row.hits])) {
    const { data } = await graph.ask(
      site.key,
      `query ($agent: String) { tenant { audit(window: ${window}, agent: $agent) { totals { agentHits } }
         observations(filter: { window: ${window}, agent: $agent, classifiedAs: AGENT }) { totalCount nodes { agent } } } }`,
      { agent },
    );
    const { totals } = data.tenant.audit;
    expect([agent, totals.agentHits, data.tenant.observations.totalCount]).toEqual([agent, hits, hits]);
    expect(data.tenant.observations.nodes.every((row: { agent: string }) => row.agent === agent)).toBe(true);
  }
  for (const { key: agent, grossMicro } of earnings.breakdown.nodes) {
    const query = `query ($agent: String) { tenant { earnings(window: ${window}, agent: $agent) { totals { grossMicro } } } }`;
    const { data } = await graph.ask(site.key, query, { agent });
    expect([agent, data.tenant.earnings.totals.grossMicro]).toEqual([agent, grossMicro]);
  }
});

test.each([
  ['crossings', 'orderBy: LARGEST', 'crossingId'],
  ['crossings', 'orderBy: OLDEST', 'crossingId'],
  ['observations', 'orderBy: NEWEST', 'id'],
  ['observations', 'orderBy: OLDEST', 'id'],
  ['payments', 'orderBy: SMALLEST', 'paymentId'],
  ['legs', 'filter: { authorId: "ann" }', 'id'],
])('%s (%s) read backwards are the same rows in the same order', async (list, args, id) => {
  const rowsOf = async (isBackward: boolean): Promise<string[]> => {
    const pages: string[][] = [];
    for (let cursor: string | null = null, isMore = true; isMore; ) {
      const page: string = isBackward ? 'last: 61, before: $at' : 'first: 61, after: $at';
      const { data, errors } = await graph.ask(
        site.key,
        `query ($at: String) { tenant { ${list}(${args}, ${page}) { nodes { row: ${id} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
        { at: cursor },
      );
      expect(errors).toEqual([]);
      const { nodes, pageInfo } = data.tenant[list];
      pages.push(nodes.map(({ row }: { row: string }) => row));
      const [behind, ahead] = isBackward ? ['hasNextPage', 'hasPreviousPage'] : ['hasPreviousPage', 'hasNextPage'];
      expect(pageInfo[behind]).toBe(cursor !== null);
      isMore = pageInfo[ahead];
      cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
    }
    return (isBackward ? pages.reverse() : pages).flat();
  };
  const forwards = await rowsOf(false);
  expect(await rowsOf(true)).toEqual(forwards);
  expect(new Set(forwards).size).toBe(forwards.length);
  expect(forwards.length).toBeGreaterThan(150);
});

test('pages of a breakdown, backwards too and in any order, are its groups, each with one id whatever page it is on', async () => {
  const args = 'window: { lastDays: 30 }, compare: true, groupBy: SLUG';
  const breakdown = async (page: string) => {
    const query = `{ tenant { earnings(${args}) { id breakdown(${page}) { nodes { id key reads grossMicro previous { grossMicro } } pageInfo { endCursor startCursor } } } } }`;
    const { data, errors } = await graph.ask(site.key, query);
    expect(errors).toEqual([]);
    return data.tenant.earnings;
  };
  const whole = await breakdown('first: 100');
  type Group = { id: string; key: string; reads: number };
  const all: readonly Group[] = whole.breakdown.nodes;
  expect(all.length).toBe(3);
  const tail = await breakdown('last: 2');
  expect([tail.id, tail.breakdown.nodes]).toEqual([whole.id, all.slice(-2)]);
  const head = await breakdown(`last: 2, before: "${tail.breakdown.pageInfo.startCursor}"`);
  expect(head.breakdown.nodes).toEqual(all.slice(0, 1));
  const byReads = (await breakdown('orderBy: READS')).breakdown.nodes;
  expect(byReads).toEqual(all.toSorted((a, b) => b.reads - a.reads || (a.key < b.key ? -1 : 1)));
  const byKey = (await breakdown('orderBy: KEY')).breakdown.nodes;
  expect(byKey.map(({ key }: Group) => key)).toEqual(all.map(({ key }) => key).toSorted());
  const other = await graph.ask(
    site.key,
    `{ tenant { earnings(${args.replace('30', '29')}) { id breakdown { nodes { id } } } } }`,
  );
  expect(other.data.tenant.earnings.id).not.toBe(whole.id);
  expect(other.data.tenant.earnings.breakdown.nodes.map(({ id }: Group) => id)).not.toContain(all[0]?.id);
});

test.each([
  ['crossings(first: 2, last: 2) { nodes { slug } }', 'last', /^last: give first and after, or last and before$/],
  ['crossings(first: 2, before: "x") { nodes { slug } }', 'before', /^before: give first and after/],
  ['crossings(last: 2, before: "x") { nodes { slug } }', 'before', /^before: not a cursor of this list/],
  ['crossings(last: 101) { nodes { slug } }', null, /last: must be at most 100/],
  ['earnings(groupBy: SLUG) { breakdown(orderBy: GAIN) { nodes { key } } }', 'orderBy', /^orderBy: GAIN needs `compare: true`$/],
  ['earnings(window: { from: "2026-11-02" }) { totals { events } }', 'window.from', /^window\.from: EpochMs is a whole number/],
  ['crossings(filter: { minMicro: 5 }) { nodes { slug } }', 'filter.minMicro', /^filter\.minMicro: Micro is written as a string/],
  ['earnings(window: { lastDays: "x" }) { totals { events } }', 'window.lastDays', /^window\.lastDays: Int cannot represent/],
  ['earnings(groupBy: slug) { totals { events } }', 'groupBy', /^groupBy: Value "slug" does not exist/],
])('%s is refused by the name of its argument', async (fields, parameter, sentence) => {
  const { errors, status } = await graph.ask(site.key, `{ tenant { ${fields} } }`);
  expect(status).toBeLessThan(500);
  expect(errors[0]?.message).toMatch(sentence);
  expect((errors[0]?.extensions as { parameter?: string } | undefined)?.parameter ?? null).toBe(parameter);
});

test('the key of a group, as `value`, is taken by the filter of the same name, and the rows behind it are the group', async () => {
  const filters = {
    KIND: 'kind',
    PURPOSE: 'purpose',
    PAYER_HISTORY: 'payerHistory',
    AGENT: 'agent',
    HOST: 'host',
    SLUG: 'slug',
    AUTHOR: 'author',
  };
  for (const [groupBy, name] of Object.entries(filters)) {
    const type = { kind: 'CrossingKind', purpose: 'CrossingPurpose', payerHistory: 'PayerHistory' }[name] ?? 'String';
    const window = 'window: { lastDays: 10 }';
    const { data } = await graph.ask(
      site.key,
      `{ tenant { earnings(${window}, groupBy: ${groupBy}) { breakdown { nodes { value grossMicro events } } } } }`,
    );
    const groups = data.tenant.earnings.breakdown.nodes;
    expect(groups.length, groupBy).toBeGreaterThan(0);
    for (const { value, ...sums } of groups) {
      const one = await graph.ask(
        site.key,
        `query ($of: ${type}) { tenant { earnings(${window}, ${name}: $of) { totals { grossMicro events } } } }`,
        { of: value },
      );
      expect([groupBy, one.errors, one.data.tenant.earnings.totals]).toEqual([groupBy, [], sums]);
    }
  }
  const verdicts = await graph.ask(site.key, '{ tenant { audit(groupBy: VERDICT) { breakdown { nodes { value hits } } } } }');
  for (const { value, hits } of verdicts.data.tenant.audit.breakdown.nodes) {
    const one = await graph.ask(
      site.key,
      'query ($verdict: Verdict) { tenant { audit(verdict: $verdict) { totals { observations } } } }',
      { verdict: value },
    );
    expect([value, one.data?.tenant.audit.totals.observations]).toEqual([value, hits]);
  }
});

test.each([
  [
    'seven authors by five weeks',
    'earnings(window: { lastDays: 35 }, groupBy: AUTHOR_ID) { breakdown(first: 7) { nodes { key series(every: WEEK) { from grossMicro } } } }',
    1_000,
  ],
  [
    'ten pages by 28 days',
    'earnings(window: { lastDays: 28 }, groupBy: SLUG) { breakdown(first: 10) { nodes { key series { from grossMicro events } } } }',
    2_500,
  ],
  ['28 days of settlement times', 'settlementTimes(window: { lastDays: 28 }) { series { from settled { p50Ms } } }', 1_000],
  [
    'a week of failures by hour',
    'audit(window: { lastDays: 7 }) { series(every: HOUR) { from totals { failedByReason { reason count } } } }',
    5_000,
  ],
])('%s cost what their window can have, not 750 buckets', async (_name, fields, most) => {
  const { errors, extensions } = await graph.ask(site.key, `{ tenant { ${fields} } }`);
  expect([errors, extensions.cost.total < most]).toEqual([[], true]);
});

test('a hundred groups by hour of a month are refused before anything is read', async () => {
  graph.count();
  const { errors } = await graph.ask(
    site.key,
    '{ tenant { earnings(window: { lastDays: 31 }, groupBy: SLUG) { breakdown(first: 100) { nodes { series(every: HOUR) { grossMicro } } } } } }',
  );
  expect([errors[0]?.extensions.limit, graph.count()]).toEqual(['cost', 0]);
});
