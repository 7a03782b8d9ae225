/** Pages by their words: only of sites that want to be found, at what they cost now, kept in the transaction of whatever changes them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import type { FindRequest } from '../../modules/discovery/use/search/find.ts';
import { findPages } from '../../modules/discovery/use/search/find.ts';
import { removeSiteHost } from '../../modules/hosts/use/manageHosts.ts';
import { changePricing, setPageCredits } from '../../modules/quotes/use/managePrices.ts';
import { importSitePages, removeSitePages } from '../../modules/storefront/use/managePages.ts';
import { deleteListing } from '../../modules/tenants/store/publicList.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import { ruleOf } from '../support/rules/arbitrary.ts';
import { longestTurn, slowness } from '../support/turns.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const [ANN = '', BOB = ''] = WALLETS;
const call = (tenantId: string) => ({ actor: { userId: 'owner', via: 'token' as const }, tenantId });
const credits = (title: string, ...authors: string[]) => ({
  title,
  contributors: authors.map((authorId, at) => ({ authorId, wallet: at === 0 ? ANN : BOB })),
});
const pricing = {
  priceUsdc: '0.003',
  articlePrefixes: ['/essays/'],
  creditsInline: { trio: credits('On Kelp Forests', 'ann', 'bob'), solo: credits('Kelp alone', 'ann') },
};
let sites = 0;
/** A site with two pages; listed unless told. */
const siteOf = async (more: object = {}, listed = true) => {
  sites += 1;
  const host = `s${sites}.find.example`;
  const site = await api.site({ hosts: [host], pricing: { ...pricing, ...more } });
  if (listed) await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Essays', tags: [] });
  return { ...site, host, call: call(site.tenantId) };
};
const find = async (query: string, more: Partial<FindRequest> = {}) =>
  (await findPages(api.deps, { query, limit: 50, ...more })).pages;
const urls = async (query: string, more: Partial<FindRequest> = {}) => (await find(query, more)).map(({ url }) => url).toSorted();

test('a page is found by all of its words, with its price, authors, kinds and what a licence is asked for with', async () => {
  const { host } = await siteOf();
  await siteOf({}, false);
  expect(await find('FORESTS kelp', { hosts: [host] })).toEqual([
    {
      url: `https://${host}/essays/trio`,
      host,
      title: 'On Kelp Forests',
      relays: false,
      authors: ['ann', 'bob'],
      kinds: [
        { kind: 'read', priceMicro: 3_000n },
        { kind: 'citation', priceMicro: 15_000n },
      ],
      licence: { pattern: '/essays/trio$', terms: ['search', 'ai-index', 'ai-input'] },
    },
  ]);
  expect(await urls('kelp')).toEqual([`https://${host}/essays/solo`, `https://${host}/essays/trio`]);
  expect(await urls('bob')).toEqual([`https://${host}/essays/trio`]);
  expect((await find('kelp'))[0]?.title, 'a site is not found by the pages of another').toBeDefined();
  expect(await urls('kelp coral')).toEqual([]);
  expect(await urls('kelp', { hosts: ['nowhere.example'] })).toEqual([]);
});

test('an answer that is full is partial only where there is more', async () => {
  const hosts = [(await siteOf()).host];
  const isPartial = async (limit: number, more: Partial<FindRequest> = {}) =>
    (await findPages(api.deps, { query: 'kelp', limit, hosts, ...more })).isPartial;
  expect([await isPartial(1), await isPartial(2), await isPartial(3)]).toEqual([true, false, false]);
  expect(await isPartial(1, { maxPriceMicro: 0n }), 'nothing costs so little').toBe(false);
});

test('what an owner changes of pages and prices is found so by the next search', async () => {
  const site = await siteOf();
  const hosts = [site.host];
  const deps = { ...api.deps, networks: api.deps.networks };
  await importSitePages(deps, site.call, [{ slug: 'far', path: '/archive/far away', title: 'Seagrass' }]);
  const [free] = await find('seagrass', { hosts });
  expect(free).toMatchObject({
    url: `https://${site.host}/archive/far%20away`,
    authors: [],
    licence: { pattern: '/archive/far%20away$' },
  });
  expect(
    free?.kinds.map(({ priceMicro }) => priceMicro),
    'outside of the article prefixes a page is free',
  ).toEqual([0n, 0n]);
  await importSitePages(deps, site.call, [{ slug: 'far', path: '/essays/near', title: 'Mangroves' }]);
  expect(await urls('seagrass', { hosts })).toEqual([]);
  expect(await urls('mangroves', { hosts })).toEqual([`https://${site.host}/essays/near`]);
  await removeSitePages(deps, site.call, ['far']);
  expect(await urls('mangroves', { hosts })).toEqual([]);

  await setPageCredits(deps, site.call, 'solo', credits('Corals', 'bob'));
  expect(await urls('kelp', { hosts })).toEqual([`https://${site.host}/essays/trio`]);
  expect((await find('corals', { hosts }))[0]?.authors).toEqual(['bob']);
  await setPageCredits(deps, site.call, 'solo', null);
  expect(await urls('corals', { hosts })).toEqual([]);

  await changePricing(deps, site.call, 'price.set', { priceUsdc: '0.5' });
  expect(await urls('kelp', { hosts, maxPriceMicro: 499_999n })).toEqual([]);
  expect((await find('kelp', { hosts, maxPriceMicro: 500_000n }))[0]?.kinds[0]).toEqual({ kind: 'read', priceMicro: 500_000n });
  await changePricing(deps, site.call, 'prefixes.set', { articlePrefixes: ['/moved/'] });
  expect(await urls('kelp', { hosts })).toEqual([`https://${site.host}/moved/trio`]);
});

test('a site that leaves the list, loses its last host or stops selling has no page in the search, and all of them when it is back', async () => {
  const rows = async (tenantId: string) =>
    (await api.deps.database.query('select count(*)::int as n from searched_page where tenant_id = $1', [tenantId]))[0]?.['n'];
  const site = await siteOf();
  expect(await rows(site.tenantId)).toBe(2);
  await setSiteDiscovery(api.deps, site.call, null);
  expect(await rows(site.tenantId)).toBe(0);
  await importSitePages(api.deps, site.call, [{ slug: 'late', path: '/essays/late', title: 'Late' }]);
  expect(await rows(site.tenantId)).toBe(0);
  await setSiteDiscovery(api.deps, site.call, { summary: 'Essays', tags: [] });
  expect(await rows(site.tenantId)).toBe(3);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  expect(await rows(site.tenantId)).toBe(0);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'active' });
  expect(await rows(site.tenantId)).toBe(3);
  await removeSiteHost(api.deps, site.call, site.host);
  expect(await rows(site.tenantId)).toBe(0);
  await api.deps.database.query('insert into tenant_host (tenant_id, host, verified_at) values ($1, $2, now())', [
    site.tenantId,
    site.host,
  ]);
  expect(await rows(site.tenantId)).toBe(3);
  await api.deps.database.transaction((sql) => deleteListing(sql, site.tenantId));
  expect(await rows(site.tenantId)).toBe(0);
});

test('hostile questions are bounded: operators are words, control characters part them, what is too long or empty is said', async () => {
  const { host } = await siteOf();
  const hosts = [host];
  for (const query of ["kelp & | ! <-> ( ' :* \\", 'kelp\0', '"kelp', "kelp'); drop table searched_page; --"]) {
    const answer = urls(query, { hosts });
    expect(query.includes('drop') ? await answer : (await answer).length).toEqual(query.includes('drop') ? [] : 2);
  }
  for (const query of ['', '   ', '&&&', '\ud800', '!kelp coral']) expect(await urls(query, { hosts })).toEqual([]);
  for (const bad of [{ limit: 0 }, { limit: 51 }, { limit: 1.5 }, { hosts: [] }, { hosts: Array(21).fill(host) }]) {
    await expect(find('kelp', bad)).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
  await expect(find('k'.repeat(10_000))).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect(await urls('kelp '.repeat(40), { hosts })).toHaveLength(2);
  expect(await urls('kelp', { hosts: ["'; drop table tenant; --", 'x'.repeat(300), host] })).toHaveLength(2);
});

test('two hundred found pages whose paths are long to compare with the rules of their site are priced while others are answered', async () => {
  const rules = Array.from({ length: 200 }, (_, n) => ruleOf({ id: `r${n}`, path: `/essays/*aaaaab*${n}`, effect: 'refuse' }));
  const site = await siteOf({ rules, defaultPayee: { authorId: 'ann', wallet: ANN } });
  const long = (n: number) => ({ slug: `long-${n}`, path: `/essays/${n}${'a'.repeat(450)}`, title: 'Sargasso' });
  await importSitePages(
    { ...api.deps, networks: api.deps.networks },
    site.call,
    Array.from({ length: 200 }, (_, n) => long(n)),
  );
  const search = () => find('sargasso', { hosts: [site.host], maxPriceMicro: 0n });
  expect(await search()).toEqual([]);
  expect(await longestTurn(search)).toBeLessThan(40 * slowness());
});
