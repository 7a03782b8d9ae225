/** What the offers of pages say besides their price, judged by software nobody here wrote. */
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import type { PaymentPayload } from '@x402/core/types';
import type { DiscoveryExtension } from '@x402/extensions/bazaar';
import { extractDiscoveryInfo, validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../support/api.ts';

/** PAYMENT-REQUIRED with everything: many servers take no more than eight in all headers, and clients send it back. */
const MAX_HEADER_CHARS = 4_096;
let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function offerOf(site: { readonly key: string }, slug: string, query = '') {
  const { body } = await api.request(`/_svc/quote?build=402&slug=${slug}${query}`, { key: site.key });
  return { header: String(body.x402.header), offer: decodePaymentRequiredHeader(body.x402.header) };
}

test('@x402/extensions takes the offer of a page off the wire for a valid entry, and files all articles under one route', async () => {
  const site = await api.site({ hosts: ['catalogued.example'] });
  const routes = await Promise.all(
    ['solo', 'trio', 'duo'].map(async (slug) => {
      const { offer } = await offerOf(site, slug);
      expect(parsePaymentRequired(offer).success).toBe(true);
      const bazaar = offer.extensions?.['bazaar'] as DiscoveryExtension;
      expect([validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec({ ...bazaar })]).toEqual([
        { valid: true },
        { valid: true },
      ]);
      // What a client sends back: the resource and the extensions as they came.
      const echoed = { ...offer, accepted: offer.accepts[0], payload: {} } as unknown as PaymentPayload;
      const found = extractDiscoveryInfo(echoed, offer.accepts[0] as never);
      expect(found).toMatchObject({ method: 'GET', serviceName: 'catalogued.example', mimeType: 'text/html' });
      return found?.resourceUrl;
    }),
  );
  expect(new Set(routes)).toEqual(new Set(['https://catalogued.example/articles/:slug']));
});

test('two offers of a page say the same of it: what clients echo is compared, so nothing in it belongs to a request', async () => {
  const site = await api.site({ hosts: ['steady.example'] });
  const [first, second] = await Promise.all([offerOf(site, 'trio'), offerOf(site, 'trio')]);
  expect(first.offer.extensions?.['bazaar']).toEqual(second.offer.extensions?.['bazaar']);
});

test('an offer with everything that it can say is under four kilobytes, signed by the host and with a sign-in, and each part has its share', async () => {
  const site = await api.site({ hosts: ['a-host-with-a-long-name.of-many-branches.example'] });
  const sizes: Record<string, number> = {};
  for (const query of ['', '&signIn=1', '&sign=1', '&signIn=1&sign=1', '&signIn=1&sign=host']) {
    const { header, offer } = await offerOf(site, 'trio', query);
    expect(parsePaymentRequired(offer).success).toBe(true);
    sizes[query] = header.length;
  }
  expect(sizes).toEqual({
    '': expect.toSatisfy((size: number) => size < 2_250),
    '&signIn=1': expect.toSatisfy((size: number) => size < 3_000),
    '&sign=1': expect.toSatisfy((size: number) => size < 3_250),
    '&signIn=1&sign=1': expect.toSatisfy((size: number) => size < MAX_HEADER_CHARS),
    '&signIn=1&sign=host': expect.toSatisfy((size: number) => size < MAX_HEADER_CHARS),
  });
});

test('an offer says where many pages can be had at once and whose keys sign for them, and stays under four kilobytes', async () => {
  const site = await api.site({ hosts: ['a-host-with-a-long-name.of-many-labels.example'] });
  const { header, offer } = await offerOf(site, 'trio');
  const { extensions = {} } = offer;
  expect(header.length).toBeLessThan(MAX_HEADER_CHARS);
  const { info } = extensions['svc-licence'] as { readonly info: Readonly<Record<string, string>> };
  const [jwks, quote] = [new URL(info['jwks'] ?? ''), new URL(info['quote'] ?? '')];
  expect((await api.request(jwks.pathname)).body.keys.length).toBeGreaterThan(0);
  const asked = { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
  expect((await api.post(quote.pathname, null, asked)).body.priceMicro).toBeGreaterThan(0);
});
