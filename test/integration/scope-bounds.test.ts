import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { longestTurn, slowness } from '../support/turns.ts';

let api: TestApi;
let large: Awaited<ReturnType<TestApi['site']>>;
const PAGES = 20_000;
beforeAll(async () => {
  api = await startTestApi();
  large = await api.site();
  await importMany(large.tenantId, PAGES);
});
afterAll(() => api.stop());

/** Imports pages of two authors each. */
async function importMany(tenantId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 5_000) {
    const pages = Array.from({ length: Math.min(5_000, count - from) }, (_, n) => ({
      slug: `page-${from + n}`,
      path: `/large/section-${n % 50}/page-number-${from + n}`,
      credits: { contributors: [1, 2].map((k) => ({ authorId: `author-${k}`, wallet: WALLETS[k], weight: 1 + (n % 7) + k })) },
    }));
    await importPages(api.deps, { tenantId, pages });
  }
}

const quote = (host: string, scope: readonly string[]) =>
  api.post('/_svc/licenses/quote', null, { host, scope, terms: ['search'], periodDays: 1, kind: 'read' });

test('the dearest anonymous quotes of 20,000 pages keep no other call waiting, the first of a site included', async () => {
  // What is asked is as large as the API takes: 100 patterns of 200 characters.
  const stars = Array.from({ length: 100 }, (_, n) => `/large/${'*e'.repeat(8)}${'n'.repeat(170)}${n}`);
  const prefixes = Array.from({ length: 100 }, (_, n) => `/large/section-${n % 50}/page-number-${n}`);
  const legs = ['/large/section-1*', '/large/section-2*'];
  const worst = await longestTurn(async () => {
    for (const scope of [legs, stars, prefixes, ['/large/*9$'], ['/*'], ['/large/*a*']]) {
      expect([200, 404, 409]).toContain((await quote(large.host, scope)).status);
    }
  });
  expect(worst).toBeLessThan(40 * slowness());
});

test('what takes more work than one answer may is refused with a sentence that helps, whoever asks', async () => {
  const { status, body } = await quote(
    large.host,
    Array.from({ length: 100 }, (_, n) => `/large/*${n}x`),
  );
  expect([status, body.error]).toEqual([409, expect.stringContaining('start them with more of the path')]);
  const narrow = Array.from({ length: 100 }, (_, n) => `/large/section-7/*9${String(n).padStart(2, '0')}$`);
  expect((await quote(large.host, narrow)).status).toBe(200);
});

test('a site has so many pages and no more: an import beyond is refused whole', async () => {
  const own = await api.site();
  const pages = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ slug: `p${from + n}`, path: `/articles/p${from + n}` }));
  const deps = { ...api.deps, sitePages: 10 };
  await importPages(deps, { tenantId: own.tenantId, pages: pages(0, 10) });
  await importPages(deps, { tenantId: own.tenantId, pages: pages(0, 10) });
  await expect(importPages(deps, { tenantId: own.tenantId, pages: pages(9, 2) })).rejects.toMatchObject({
    code: 'conflict',
    message: 'a site has at most 10 imported pages; this import would make it 11',
  });
  const rows = await api.deps.database.query('select 1 from imported_page where tenant_id = $1', [own.tenantId]);
  expect(rows).toHaveLength(10);
});

test('catalogues in memory are bounded by their pages, and a site that does not fit is told so and read once', async () => {
  const small = await startTestApi({ scopes: { atOnce: 4, pagesInMemory: 1_000 } });
  const credits = (n: number) => ({ contributors: [{ authorId: `a${n % 3}`, wallet: WALLETS[n % 3] }] });
  const pagesOf = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ slug: `p${n}`, path: `/articles/p${n}`, credits: credits(n) }));
  const sites = await Promise.all([600, 600, 600, 1_200].map(async (count) => ({ ...(await small.site()), count })));
  for (const { tenantId, count } of sites) await importPages(small.deps, { tenantId, pages: pagesOf(count) });
  let reads = 0;
  const { database } = small.deps;
  const counting = {
    ...database,
    query: (statement: string, values?: readonly unknown[], name?: string) => {
      if (/from "?imported_page"?/.test(statement)) reads++;
      return database.query(statement, values, name);
    },
  } as typeof database;
  const ask = async (index: number): Promise<number> => {
    const { tenantId } = sites[index] as (typeof sites)[number];
    const tenant = await small.deps.snapshots.tenant(tenantId);
    if (!tenant) throw new Error('no such site');
    const before = reads;
    await small.deps.scopes.catalogues
      .of(counting, tenant)
      .catch((error: { code: string }) => expect(error.code).toBe('conflict'));
    return reads - before;
  };
  expect([await ask(0), await ask(0)]).toEqual([1, 0]);
  expect([await ask(1), await ask(0)]).toEqual([1, 1]); // two of 600 do not fit together
  expect(await ask(3)).toBeGreaterThan(0);
  expect(await ask(3)).toBe(0);
  expect((await quoteAt(small, sites[3]?.host ?? '')).body.error).toMatch(/too many pages/);
  await small.stop();
});

const quoteAt = (at: TestApi, host: string) =>
  at.post('/_svc/licenses/quote', null, { host, scope: ['/'], terms: ['search'], periodDays: 1, kind: 'read' });

test('one address cannot hold all places: with two that run and sixteen that wait its next quote is 503 with Retry-After, an account’s is served', async () => {
  const { scopes } = api.deps;
  const ends: (() => void)[] = [];
  const address = '127.0.0.1';
  const hold = (tenantId: string) =>
    scopes.inTurn({ caller: address, tenantId }, () => new Promise<void>((resolve) => ends.push(resolve)));
  const held = Promise.allSettled(Array.from({ length: 18 }, (_, n) => hold(`site ${n}`)));
  const refused = await quote(large.host, ['/large/section-1/']);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  expect(ends).toHaveLength(2);
  const account = await createBuyerAccount(api.deps);
  const body = { host: large.host, scope: ['/large/section-1/'], terms: ['search'], periodDays: 1, kind: 'read' };
  expect((await api.post('/_svc/licenses', account.token, body)).status).toBe(402);
  let isOver = false;
  void held.then(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const end of ends.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await quote(large.host, ['/large/section-1/'])).status).toBe(200);
});
