/** Documents about a site that everybody may read, and what the offers of its pages say besides their price. */
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTenantStatus } from '../../services/tenants/tenants.ts';
import { startTestApi } from '../support/api.ts';

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
