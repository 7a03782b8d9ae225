import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEAREST } from '../../bench/dearestQueries.ts';
import { Budget } from '../../graphql/limits/budget.ts';
import { ANSWER_LIMIT_BYTES, COST_LIMIT } from '../../graphql/limits/limits.ts';
import type { Answer } from '../../graphql/request/answer.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import type { QueryThread } from '../../graphql/thread/host.ts';
import { openQueryThread } from '../../graphql/thread/host.ts';
import { findKey } from '../../modules/identity/use/keys/keys.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import { askGraph, startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';
import { whileLocked } from '../support/sql.ts';
import { longestTurn, slowness } from '../support/turns.ts';

/** Questions are executed off the event loop that quotes and settlement share, and what takes too much of anything is ended. */

const AUTHORS = 50;
const CROSSINGS = 100;
/** Of this process, before anything stands back. */
const PRIORITY = getPriority();
let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let other: Awaited<ReturnType<typeof graph.api.site>>;

beforeAll(async () => {
  graph = await startTestGraphql({ isThreaded: true });
  site = await graph.api.site();
  other = await graph.api.site();
  const legs = Array.from({ length: AUTHORS }, (_, n) => ({
    toAddress: `0x${String(n + 10).repeat(20)}`,
    amountMicro: 1_000,
    authorId: `author-${n}`,
  }));
  const atMs = Date.now() - 60_000;
  const purchase = { tenantId: site.tenantId, host: site.host, slug: 'fifty', kind: 'read', atMs, steps: 1, legs } as const;
  await insertPurchases(
    graph.api.deps.database,
    Array.from({ length: CROSSINGS }, () => purchase),
  );
});
afterAll(() => graph?.stop());

/** Asks the dearest query and leaves its answer unread, but for its length. */
async function askBytes(): Promise<number> {
  const response = await fetch(graph.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: DEAREST.values }),
  });
  const bytes = await response.bytes();
  expect(Buffer.from(bytes.subarray(0, 9)).toString()).not.toBe('{"errors"');
  return bytes.byteLength;
}

test('while one key asks the dearest query in a loop, the loop of the API is free for quotes of other sites', async () => {
  const quote = `${graph.api.url}/_svc/quote?resource=${encodeURIComponent(`https://${other.host}/articles/solo`)}`;
  const headers = { authorization: `Bearer ${other.key}` };
  let isAsking = true;
  const sizes: number[] = [];
  const ask = async (): Promise<void> => {
    while (isAsking) sizes.push(await askBytes());
  };
  const asking = [ask(), ask()];
  const quotes = async (): Promise<void> => {
    for (let n = 0; n < 100 || sizes.length < 4; n++) expect((await fetch(quote, { headers })).status).toBe(200);
  };
  let longestMs = 0;
  try {
    longestMs = await longestTurn(quotes);
  } finally {
    isAsking = false;
    await Promise.all(asking);
  }
  expect(Math.min(...sizes)).toBeGreaterThan(200_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(ANSWER_LIMIT_BYTES);
  expect(getPriority()).toBe(PRIORITY); // the thread stands back, not the process
  // Of CPU, which other work of the machine does not add to: 8 here, seconds when it was executed on this loop whole. The next test measures
  // what is left of it here.
  expect(longestMs).toBeLessThan(250);
});

test('the dearest query costs the thread of the API no more than to send its bytes', async () => {
  const spentMs: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const before = process.threadCpuUsage();
    await askBytes();
    const { user, system } = process.threadCpuUsage(before);
    spentMs.push((user + system) / 1_000);
  }
  // The client is in the figure, so the least of five is the API's; executed here the query takes 100 ms and more.
  expect(Math.min(...spentMs)).toBeLessThan(25 * slowness());
});

test('an answer says what its query cost, and what a query may cost', async () => {
  const { extensions } = await graph.ask(site.key, DEAREST.values);
  expect(extensions.cost.total).toBeGreaterThan(COST_LIMIT * 0.9);
  const { total } = extensions.cost;
  expect(extensions.cost).toEqual({ total, most: COST_LIMIT, left: COST_LIMIT - total, dearest: [expect.anything()] });
  const refused = await graph.ask(site.key, DEAREST.values.replace('39', '100'));
  expect(refused.extensions.cost.total).toBeGreaterThan(COST_LIMIT);
  expect(refused.errors[0]?.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    reason: 'query_limit',
    limit: 'cost',
    asked: refused.extensions.cost.total,
    most: COST_LIMIT,
  });
});

test('an answer that would have too many bytes, or values, is ended whole with the limit it met', async () => {
  const { database } = graph.api.deps;
  const long = await graph.api.site();
  const title = 'x'.repeat(400);
  const credits = Object.fromEntries(
    Array.from({ length: 500 }, (_, n) => [`page-${n}`, { ...ALPHA_PRICING.creditsInline.solo, title }]),
  );
  const creditsFreeSlugs = Array.from({ length: 21_000 }, (_, n) => `free-${n}`);
  await setPricing(
    { database },
    { tenantId: long.tenantId, pricing: { ...ALPHA_PRICING, creditsInline: credits, creditsFreeSlugs } },
  );
  const aliases = Array.from({ length: 15 }, (_, n) => `a${n}: creditsInline`).join(' ');
  const bytes = await graph.ask(long.key, `{ tenant { ${aliases} } }`);
  expect([bytes.data, bytes.errors[0]?.extensions]).toMatchObject([null, { reason: 'query_limit', limit: 'bytes' }]);
  const values = await graph.ask(long.key, '{ tenant { freeSlugs } }');
  expect([values.data, values.errors[0]?.extensions]).toMatchObject([null, { reason: 'query_limit', limit: 'values' }]);
});

test('a query that waits too long for its rows is given up with a TIMEOUT, whatever its statements may take', async () => {
  const deps = { ...graph.api.deps, reading: graph.reading, networkIds: [] };
  const ask = openEngine(deps, null, () => new Budget({ ms: 200 }));
  const key = await findKey(graph.api.deps, site.key);
  const body = new TextEncoder().encode(JSON.stringify({ query: '{ tenant { payments { nodes { slug } } } }' }));
  const answer = await whileLocked(graph.api.urls.ownerUrl, 'payment_state', () =>
    ask({ key, owner: null, account: null, requestId: 'x', accept: 'application/json', body }),
  );
  expect(JSON.parse(Buffer.from(answer.body).toString()).errors).toMatchObject([
    { extensions: { code: 'TIMEOUT', reason: 'query_limit', limit: 'time' } },
  ]);
});

test('owners change and members are shown as ever, with no pool of the thread in between', async () => {
  const owner = await graph.owner(site.tenantId);
  const change = await askGraph(graph.url, owner, 'mutation { setFreeSlugs(input: { slugs: ["about"] }) { __typename } }');
  expect(change.data).toEqual({ setFreeSlugs: { __typename: 'SetFreeSlugsPayload' } });
  const read = await askGraph(graph.url, owner, '{ tenant { freeSlugs members { nodes { inviteToken } } } }');
  expect(read.data.tenant).toEqual({ freeSlugs: ['about'], members: { nodes: [] } });
});

/** Hosts the greedy thread; questions are texts, of a site each, and take at most `limitMs`. */
async function hostGreedy(
  onStart: () => void = () => undefined,
  limitMs = 1_000,
): Promise<{
  readonly thread: QueryThread;
  readonly ask: (site: string, text: string) => Promise<string>;
}> {
  const start = () => {
    onStart();
    return new Worker(new URL('../support/greedyThread.ts', import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
  };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const thread = await openQueryThread({ start, log, limitMs });
  const text = ({ body }: Answer): string => Buffer.from(body).toString();
  return {
    thread,
    ask: async (userId, asked) => {
      const owner = { userId, via: 'token', tenantIds: [userId] } as const;
      const call = {
        key: null,
        owner,
        account: null,
        requestId: '',
        accept: 'application/json',
        body: new TextEncoder().encode(asked),
      };
      return text(await thread.ask(call));
    },
  };
}

test.each([
  ['never ends', 'loop', 'time', 'TIMEOUT', 1_000],
  ['takes all memory', 'eat', 'memory', 'BAD_USER_INPUT', 30_000], // long enough for a slow machine to fill 32 MB
])(
  'a query that %s ends its thread and is told so; others with it are answered, and its site waits',
  async (_name, greedy, limit, code, limitMs) => {
    const { thread, ask } = await hostGreedy(undefined, limitMs);
    try {
      const [bad, ...good] = await Promise.all([ask('mallory', greedy), ask('ann', 'wait'), ask('bob', 'hello')]);
      expect(JSON.parse(bad).errors).toMatchObject([{ extensions: { code, reason: 'query_limit', limit } }]);
      expect(good).toEqual(['wait', 'hello']);
      await expect(ask('mallory', 'again')).rejects.toMatchObject({ code: 'throttled' });
      expect(await ask('ann', 'again')).toBe('again');
    } finally {
      await thread.close();
    }
    await expect(ask('ann', 'after the end')).rejects.toMatchObject({ code: 'overloaded' });
  },
);

test('two hostile queries of one site end the thread together and one of them once more; the other is not asked again', async () => {
  let started = 0;
  const { thread, ask } = await hostGreedy(() => started++);
  try {
    const both = await Promise.allSettled([ask('mallory', 'loop'), ask('mallory', 'loop')]);
    expect(both).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'throttled' } }]);
    expect(started).toBe(2);
    expect(await ask('ann', 'hello')).toBe('hello');
  } finally {
    await thread.close();
  }
});
