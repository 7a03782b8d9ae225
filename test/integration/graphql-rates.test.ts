/** Questions count by what they cost: what the dearest one takes, from whom, and what goes on meanwhile. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { DEAREST } from '../../bench/dearestQueries.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import type { RateLimits, Rates } from '../../platform/pacing/rates.ts';
import { startTestConsole } from '../support/console.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { whileLocked } from '../support/sql.ts';

/** Two hundred points at once, which is what the dearest query costs, and twenty a second. */
const LIMITS: RateLimits = {
  perSecond: { address: 1_000, refused: 1_000, key: 20, tenant: 1_000, account: 20, account_address: 1_000 },
  burstSeconds: 10,
};
const SMALL = '{ tenant { plan } }';
let graph: Awaited<ReturnType<typeof startTestGraphql>>;

beforeAll(async () => {
  graph = await startTestGraphql({ rates: LIMITS });
});
afterAll(() => graph?.stop());

// Buckets fill while time passes: it stands still, so that nothing depends on how fast the machine is.
beforeEach(() => {
  graph.api.time.stoppedAtMs = Date.now();
});
afterEach(() => {
  graph.api.time.stoppedAtMs = null;
});

async function status(bearer: string, query: string): Promise<number> {
  return (await graph.ask(bearer, query)).status;
}

/** Answers of calls of which none is answered before each has begun: until then nobody reads a crossing. */
async function bothBegun(tenantId: string, ask: () => readonly Promise<number>[]): Promise<number[]> {
  const counted = vi.spyOn(graph.api.deps.rates as Rates, 'count');
  try {
    const asked = await whileLocked(graph.api.urls.ownerUrl, 'crossing', async () => {
      const asking = ask();
      const begun = (): number =>
        counted.mock.calls.filter(([[one], cost]) => one?.[1] === `questions of site ${tenantId}` && cost === COSTS.heavy).length;
      await expect.poll(begun).toBe(asking.length);
      return asking;
    });
    return await Promise.all(asked);
  } finally {
    counted.mockRestore();
  }
}

test('who shows nothing may ask ten times in ten seconds from one address, and takes nothing of those who do', async () => {
  const strangers = await startTestGraphql({ rates: { ...LIMITS, perSecond: { ...LIMITS.perSecond, address: 10 } } });
  try {
    strangers.api.time.stoppedAtMs = Date.now();
    const ask = async (init: RequestInit) => (await fetch(strangers.url, init)).status;
    const asked = Array.from({ length: 20 }, (_, n) =>
      ask(n % 2 ? { method: 'POST', body: '{}' } : { headers: { accept: 'text/html' } }),
    );
    expect((await Promise.all(asked)).filter((one) => one === 429)).toHaveLength(10);
    const { key } = await strangers.api.site();
    expect((await strangers.ask(key, SMALL)).status).toBe(200);
  } finally {
    await strangers.stop();
  }
});

test('after the dearest query the keys of its site ask the next in time; its quotes, its owner and other sites go on', async () => {
  const [site, other] = [await graph.api.site(), await graph.api.site()];
  const second = (await mintKey(graph.api.deps, { ...site, name: 'second', scopes: ['tenant.read'] })).token;
  const owner = await graph.owner(site.tenantId);
  const { status: first, extensions } = await graph.ask(site.key, DEAREST.values);
  expect([first, extensions.cost.total]).toEqual([200, expect.toSatisfy((cost: number) => cost > 19_000)]);
  expect([await status(site.key, SMALL), await status(second, SMALL)]).toEqual([429, 429]);
  const quote = `/_svc/quote?resource=https://${site.host}/articles/solo`;
  expect((await graph.api.request(quote, { key: site.key })).status).toBe(200);
  expect([await status(owner, SMALL), await status(other.key, SMALL)]).toEqual([200, 200]);
  graph.api.time.offsetMs += 1_000;
  expect(await status(second, SMALL)).toBe(200);
});

test('who asked dear queries side by side owes what they came to, and is told when it has been made up', async () => {
  const { key, tenantId } = await graph.api.site();
  expect(await bothBegun(tenantId, () => [status(key, DEAREST.values), status(key, DEAREST.values)])).toEqual([200, 200]);
  const body = JSON.stringify({ query: SMALL });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const refused = await fetch(graph.url, { method: 'POST', headers, body });
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(9);
  graph.api.time.offsetMs += (seconds - 2) * 1_000;
  expect(await status(key, SMALL)).toBe(429);
  graph.api.time.offsetMs += 3_000;
  expect(await status(key, SMALL)).toBe(200);
});

test('of many dear queries at once no more are answered than may run side by side: the others are refused when their turn comes', async () => {
  const { key, ...site } = await graph.api.site();
  const keys = [key];
  for (const name of ['b', 'c'])
    keys.push((await mintKey(graph.api.deps, { ...site, name, scopes: ['earnings.read.all'] })).token);
  const statuses = await Promise.all(keys.flatMap((one) => [1, 2, 3, 4].map(() => status(one, DEAREST.values))));
  const answered = statuses.filter((one) => one === 200).length;
  expect([1, 2]).toContain(answered);
  expect(statuses.filter((one) => one === 429)).toHaveLength(statuses.length - answered);
});

test('what is refused before anything of it runs costs no more than any call', async () => {
  const { key } = await graph.api.site();
  for (let asked = 0; asked < 10; asked++) expect(await status(key, DEAREST.values.replace('39', '100'))).toBe(200);
  expect(await status(key, SMALL)).toBe(200);
});

test('an owner’s questions count for the owner in whatever session, and the console tells a refusal in its time', async () => {
  const rates = { perSecond: { ...LIMITS.perSecond, key: 1 }, burstSeconds: 200 };
  const world = await startTestConsole({ rates });
  try {
    const { tenantId } = await world.api.site();
    const [one, two] = [world.browser(), world.browser()];
    for (const browser of [one, two]) expect((await browser.signIn((await world.tokenOf(tenantId)).token)).status).toBe(200);
    expect((await one.ask(DEAREST.values)).status).toBe(200);
    const startedAt = performance.now();
    expect((await two.ask(SMALL)).status).toBe(429);
    expect(performance.now() - startedAt).toBeGreaterThan(450);
  } finally {
    await world.stop();
  }
});
