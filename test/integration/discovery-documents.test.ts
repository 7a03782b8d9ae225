/** Documents about a site that everybody may read, and what the offers of its pages say besides their price. */
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi, WALLETS } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('a document of a verified host of a live site is told to everybody, with a tag that saves sending it again', async () => {
  await api.site({ hosts: ['docs.example'] });
  const path = '/_svc/discovery/docs.example/x402.json';
  const answer = await api.request(path);
  expect([answer.status, answer.body.x402Version]).toEqual([200, 2]);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  const again = await api.request(path, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
  expect((await api.request('/_svc/discovery/DOCS.example/x402')).body).toEqual(answer.body);
});

test('whatever there is not is one and the same 404', async () => {
  const site = await api.site({ hosts: ['closing.example'] });
  const refusals = ['nobody.example/x402.json', 'closing.example/nothing', 'closing.example/constructor', '%00/x402.json'];
  expect((await api.request('/_svc/discovery/closing.example/x402.json')).status).toBe(200);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  // Memory may be some moments behind.
  await expect.poll(async () => (await api.request('/_svc/discovery/closing.example/x402.json')).status).toBe(404);
  for (const path of [...refusals, 'closing.example/x402.json']) {
    const { status, body } = await api.request(`/_svc/discovery/${path}`);
    expect([path, status, body.error]).toEqual([path, 404, 'not_found: there is no such document']);
  }
});

test('the offer of a page links to the documents of its host, each of which is there', async () => {
  const site = await api.site({ hosts: ['linked.example'] });
  const { body } = await api.request('/_svc/quote?build=402&slug=trio', { key: site.key });
  const links = [...String(body.x402.headers.link).matchAll(/<([^>]+)>/g)].map(([, url]) => new URL(url ?? ''));
  expect(links.length).toBeGreaterThan(0);
  for (const { pathname } of links) expect((await api.request(pathname)).status).toBe(200);
  const { extensions } = decodePaymentRequiredHeader(body.x402.header);
  expect(extensions?.['bazaar']).toMatchObject({ routeTemplate: '/articles/:slug' });
});

test('the manifest tells every page that names its authors at the price and the recipients of its 402, and no pattern whose pages are free', async () => {
  const site = await api.site({ hosts: ['told.example'] });
  const manifest = (await api.request(`/_svc/discovery/${site.host}/x402.json`)).body;
  const urls = manifest.items.map(({ resource }: { resource: { url: string } }) => resource.url);
  expect(new Set(urls)).toEqual(new Set(['solo', 'trio', 'duo'].map((slug) => `https://told.example/articles/${slug}`)));
  for (const { resource, accepts } of manifest.items) {
    const query = new URLSearchParams({ build: '402', resource: resource.url });
    const { body } = await api.request(`/_svc/quote?${query}`, { key: site.key });
    expect(accepts).toEqual(decodePaymentRequiredHeader(body.x402.header).accepts);
  }
});

test('a site where everybody is paid for its pages is told by its patterns, at the price of any page there', async () => {
  const [wallet = ''] = WALLETS;
  const pricing = { priceUsdc: '0.003', articlePrefixes: ['/blog/'], defaultPayee: { authorId: 'ann', wallet } };
  const site = await api.site({ hosts: ['patterns.example'], pricing });
  const [item] = (await api.request('/_svc/discovery/patterns.example/x402.json')).body.items;
  expect(item.resource.url).toBe('https://patterns.example/blog/:slug');
  const { body } = await api.request('/_svc/quote?build=402&slug=anything', { key: site.key });
  expect(item.accepts).toEqual(decodePaymentRequiredHeader(body.x402.header).accepts);
  expect((await api.request('/_svc/discovery/patterns.example/llms.txt')).body).toContain('a read costs 0.003000 USDC');
});

test('the catalogues of a host and of the service name documents that are there', async () => {
  await api.site({ hosts: ['catalog.example'] });
  for (const path of ['/_svc/discovery/catalog.example/api-catalog', '/.well-known/api-catalog']) {
    const answer = await fetch(`${api.url}${path}`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/linkset\+json; profile="/);
    const [{ anchor: _, ...links }] = (await answer.json()).linkset;
    const targets = Object.values(links as Record<string, { href: string }[]>).flat();
    for (const { href } of targets) expect([href, (await api.request(new URL(href).pathname)).status]).toEqual([href, 200]);
  }
});
