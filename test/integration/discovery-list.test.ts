/** The public list of what is sold: over real rows, read by the stock catalogue client. */
import { HTTPFacilitatorClient } from '@x402/core/server';
import { validateDiscoveryExtension, withBazaar } from '@x402/extensions/bazaar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import { setPricing, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi, WALLETS } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const [WALLET = ''] = WALLETS;
const pricing = {
  priceUsdc: '0.003',
  articlePrefixes: ['/essays/', '/notes/'],
  defaultPayee: { authorId: 'ann', wallet: WALLET },
};
const call = (tenantId: string) => ({ actor: { userId: 'owner', via: 'token' as const }, tenantId });
const catalogue = () => withBazaar(new HTTPFacilitatorClient({ url: api.url })).extensions.bazaar;
const found = async (query: string, more: object = {}) =>
  (await catalogue().search({ query, ...more })).resources.map(({ resource }) => resource);

test('nobody is in the list who did not ask for it; who did is told by his patterns, at the price of his pages', async () => {
  const site = await api.site({ hosts: ['bridges.example'], pricing });
  await api.site({ hosts: ['quiet.example'], pricing });
  await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Essays about Bridges', tags: ['engineering'] });
  const { items, pagination } = await catalogue().listResources({ limit: 100 });
  expect(items.map(({ resource }) => resource)).toEqual([
    'https://bridges.example/essays/:slug',
    'https://bridges.example/notes/:slug',
  ]);
  expect(pagination).toEqual({ limit: 100, offset: 0, total: 2 });
  const [item] = items;
  expect(item).toMatchObject({
    type: 'http',
    serviceName: 'bridges.example',
    tags: ['engineering'],
    description: 'Essays about Bridges',
  });
  expect(item?.accepts).toEqual([expect.objectContaining({ amount: '3000', network: 'eip155:84532', scheme: 'exact' })]);
  expect(validateDiscoveryExtension(item?.extensions?.['bazaar'] as never)).toEqual({ valid: true });
});

test('a search finds sites by all of its words or by their host, filters what they take, and says nothing of anybody else', async () => {
  const site = await api.site({ hosts: ['tunnels.example'], pricing: { ...pricing, articlePrefixes: ['/t/'] } });
  await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Tunnels, old and new', tags: ['digging'] });
  const url = 'https://tunnels.example/t/:slug';
  for (const words of ['tunnels', 'new DIGGING', 'tunnels.example', '"old and new"']) expect(await found(words)).toEqual([url]);
  for (const words of ['tunnels bridges', 'quiet.example', "' or 1=1 --", '((&|!']) expect(await found(words)).toEqual([]);
  expect(
    await found('tunnels', { network: 'eip155:84532', payTo: WALLET.toUpperCase().replace('0X', '0x'), scheme: 'exact' }),
  ).toEqual([url]);
  expect(await found('tunnels', { extensions: 'bazaar', type: 'http' })).toEqual([url]);
  for (const filter of [{ network: 'eip155:1' }, { payTo: '0x1' }, { type: 'mcp' }, { extensions: 'toString' }]) {
    expect(await found('tunnels', filter)).toEqual([]);
  }
});

test('a cursor goes on where the last answer ended, and pages of the list meet each entry once', async () => {
  const hosts = ['one.paged.example', 'two.paged.example', 'three.paged.example'];
  const site = await api.site({ hosts, pricing });
  await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Turned pages', tags: [] });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const { resources, pagination } = await catalogue().search({
      query: 'turned',
      limit: 4,
      ...(cursor === null ? {} : { cursor }),
    });
    seen.push(...resources.map(({ resource }) => resource));
    cursor = pagination?.cursor ?? null;
  } while (cursor !== null);
  expect(seen.toSorted()).toEqual(
    hosts.flatMap((host) => [`https://${host}/essays/:slug`, `https://${host}/notes/:slug`]).toSorted(),
  );
  const { items, pagination: whole } = await catalogue().listResources({ limit: 100 });
  expect(whole.total, 'a total that is remembered is never less than what the answer itself holds').toBeGreaterThanOrEqual(
    items.length,
  );
  const all = items.map(({ resource }) => resource);
  const halves = await Promise.all([0, 3, 6, 9, 12].map((offset) => catalogue().listResources({ limit: 3, offset })));
  expect(halves.flatMap(({ items }) => items.map(({ resource }) => resource))).toEqual(all);
});

test('who leaves the list, is suspended, or gives all away is in no answer any more', async () => {
  const [leaves, stops, gives] = await Promise.all(
    ['leaves.example', 'stops.example', 'gives.example'].map(async (host) => {
      const site = await api.site({ hosts: [host], pricing });
      await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Fleeting', tags: [] });
      return site;
    }),
  );
  expect((await found('fleeting')).length).toBe(6);
  if (!leaves || !stops || !gives) throw new Error('three sites');
  await setSiteDiscovery(api.deps, call(leaves.tenantId), null);
  await setTenantStatus(api.deps, { tenantId: stops.tenantId, status: 'suspended' });
  await setPricing(api.deps, { tenantId: gives.tenantId, pricing: { priceUsdc: '0' } });
  expect(await found('fleeting')).toEqual([]);
});

test('what is no question of the list is 400 with its place', async () => {
  const questions = [
    'resources?limit=0',
    'resources?limit=101',
    'resources?offset=-1',
    'search',
    'search?query=',
    'search?query=%00',
    'search?query=a&cursor=x',
  ];
  const statuses = await Promise.all(questions.map(async (path) => (await api.request(`/discovery/${path}`)).status));
  expect(statuses).toEqual(questions.map(() => 400));
});
