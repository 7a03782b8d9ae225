/** Sites that sell through the publisher's package, to stock clients, on the whole service. */
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentPayload } from '@x402/core/types';
import type { DiscoveryExtension } from '@x402/extensions/bazaar';
import { extractDiscoveryInfo, validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import type { PublisherSite } from '../support/publisher-site.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';

let service: TestService;
beforeAll(async () => {
  service = await useTestService();
});
afterAll(() => service?.stop());

const clients = {
  '@x402/fetch 2.27': async (url: string, privateKey: `0x${string}`) => {
    const bought = await buyPage(url, privateKey);
    return { ...bought, payment: bought.settlement };
  },
  'x402-fetch 1.2': async (url: string, privateKey: `0x${string}`) => {
    const response = await wrapFetchV1(fetch, privateKeyToAccount(privateKey))(url);
    const payment = decodePaymentResponseHeader(response.headers.get('x-payment-response') ?? '');
    return { status: response.status, page: await response.text(), licence: response.headers.get('x-licence'), payment };
  },
};

async function newBuyer(micro = 10_000n) {
  const privateKey = newPrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await mintUsdc(service.chain.rpcUrl, address.toLowerCase() as Address, micro);
  return { privateKey, address };
}

describe.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])('%s', (_name, open) => {
  let site: TestSite;
  let shop: PublisherSite;
  beforeAll(async () => {
    site = await service.site();
    shop = await open({ serviceUrl: service.baseUrl, apiKey: site.key });
  });
  afterAll(() => shop?.close());

  test.each(Object.entries(clients))(
    'stock %s buys a page of three authors and reads it again by its licence',
    async (_client, buy) => {
      const buyer = await newBuyer();
      const bought = await buy(`${shop.url}/articles/trio`, buyer.privateKey);
      expect(bought).toMatchObject({ status: 200, page: '<p>trio</p>', payment: { success: true } });
      expect(await balancesOf(service, [buyer.address])).toEqual([9_000n]);
      for (let again = 0; again < 3; again++) {
        const read = await shop.get('/articles/trio', { authorization: `License ${bought.licence}` });
        expect([read.status, await read.text(), read.headers.get('cache-control')]).toEqual([
          200,
          '<p>trio</p>',
          'private, no-store',
        ]);
      }
      const elsewhere = await shop.get('/articles/solo', { authorization: `License ${bought.licence}` });
      expect(elsewhere.status).toBe(402);
      expect(await balancesOf(service, [buyer.address])).toEqual([9_000n]);
    },
  );

  test('a citation costs its own price and its licence reads the page, too; a licence to read cites nothing', async () => {
    const own = await service.site({ pricing: { ...ALPHA_PRICING, citationMultiplier: '3' } });
    const kind = ({ url = '' }: { url?: string | undefined }) => (url.includes('use=citation') ? 'citation' : 'read');
    const citing = await open({ serviceUrl: service.baseUrl, apiKey: own.key, kind });
    const [reader, citer] = [await newBuyer(), await newBuyer()];
    const buy = clients['@x402/fetch 2.27'];
    const read = await buy(`${citing.url}/articles/trio`, reader.privateKey);
    const cited = await buy(`${citing.url}/articles/trio?use=citation`, citer.privateKey);
    expect([read, cited]).toMatchObject(Array(2).fill({ status: 200, page: '<p>trio</p>' }));
    expect(await balancesOf(service, [reader.address, citer.address])).toEqual([9_000n, 7_000n]);
    const statusOf = async (path: string, licence: string | null) =>
      (await citing.get(path, { 'user-agent': UA.agent, authorization: `License ${licence}` })).status;
    expect([
      await statusOf('/articles/trio', cited.licence),
      await statusOf('/articles/trio?use=citation', cited.licence),
      await statusOf('/articles/trio?use=citation', read.licence),
    ]).toEqual([200, 200, 402]);
    await citing.close();
  });

  test('a web page of another origin may name the most it pays: the site allows what agents send', async () => {
    const headers = { origin: 'https://reader.example', 'access-control-request-method': 'GET' };
    const asked = { ...headers, 'access-control-request-headers': 'crawler-max-price' };
    const allowed = await shop.get('/articles/trio', asked, 'OPTIONS');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(allowed.headers.get('access-control-allow-headers')).toBe('*, Authorization');
    const told = await shop.get('/articles/trio', { 'user-agent': UA.person, 'crawler-max-price': 'USD 1' });
    expect([told.status, told.headers.get('access-control-allow-origin')]).toEqual([402, '*']);
  });

  test('people and search engines read free, and nothing about them leaves the site', async () => {
    for (const ua of [UA.person, UA.google]) {
      const before = shop.decisions.length;
      const read = await shop.get('/articles/trio', { 'user-agent': ua });
      expect([read.status, await read.text(), read.headers.get('payment-required')]).toEqual([200, '<p>trio</p>', null]);
      expect(shop.decisions.length).toBe(before);
    }
  });

  test('an agent gets the offer as JSON, a browser that is taken for one a page about it, and neither is to be stored', async () => {
    const offer = await shop.get('/articles/trio', { 'user-agent': UA.agent });
    expect(offer.status).toBe(402);
    expect(offer.headers.get('crawler-price')).toBe('USD 0.001');
    expect(offer.headers.get('cache-control')).toBe('private, no-store');
    expect(await offer.json()).toMatchObject({ x402Version: 1, accepts: [{ maxAmountRequired: '1000' }] });
    const page = await shop.get('/articles/trio', { 'user-agent': UA.agent, accept: 'text/html,*/*' });
    const [asked, again] = [offer, page].map(offerOf);
    expect(again).toEqual(asked);
    expect(await page.text()).toContain('<li>bob (30 %)</li>');
  });

  test("@x402/extensions takes the offer off the site's own 402 for a valid entry of a catalogue, and files all its articles under one route", async () => {
    const found = await Promise.all(
      ['solo', 'trio', 'duo'].map(async (slug) => {
        const answer = await shop.get(`/articles/${slug}`, { 'user-agent': UA.agent });
        const offer = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
        const bazaar = offer.extensions?.['bazaar'] as DiscoveryExtension;
        expect([answer.status, validateDiscoveryExtension(bazaar)]).toEqual([402, { valid: true }]);
        expect(validateDiscoveryExtensionSpec({ ...bazaar })).toEqual({ valid: true });
        // What a client sends back, and a facilitator catalogues: the resource and the extensions as they came.
        const echoed = { ...offer, accepted: offer.accepts[0], payload: {} } as unknown as PaymentPayload;
        return extractDiscoveryInfo(echoed, offer.accepts[0] as never);
      }),
    );
    const entry = { method: 'GET', serviceName: site.host, mimeType: 'text/html' };
    expect(found).toMatchObject(Array(3).fill({ ...entry, resourceUrl: `https://${site.host}/articles/:slug` }));
  });

  test('a page that cannot be made, and one with nothing in it, cost nothing of who sent a payment for them', async () => {
    const own = await service.site({
      pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: UNSERVABLE },
    });
    const ownShop = await open({ serviceUrl: service.baseUrl, apiKey: own.key });
    const buyer = await newBuyer();
    for (const [slug, status] of [
      ['broken', 500],
      ['empty', 200],
    ] as const) {
      const bought = await clients['@x402/fetch 2.27'](`${ownShop.url}/articles/${slug}`, buyer.privateKey);
      expect(bought).toMatchObject({ status, page: status === 200 ? '' : 'no', licence: null, payment: null });
      expect(ownShop.made.filter((one) => one === slug)).toHaveLength(2); // looked at for its offer, and asked for with a payment
    }
    expect(await balancesOf(service, [buyer.address])).toEqual([10_000n]);
    expect(await moneyVerdicts(service, own)).toEqual([]);
    await ownShop.close();
  });

  test('an empty wallet gets a fresh offer that says why, in header and body', async () => {
    const { privateKey } = await newBuyer(0n);
    const refused = await clients['@x402/fetch 2.27'](`${shop.url}/articles/solo`, privateKey);
    expect(refused.status).toBe(402);
    expect(JSON.parse(refused.page).error).toMatch(/^insufficient_funds: /);
  });
});

const ann = { contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] };
const UNSERVABLE = { broken: ann, empty: ann };

/** The offer of a 402 without the one thing that is new in each answer. */
function offerOf({ headers }: Response): unknown {
  const offer = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString('utf8'));
  const { nonce, ...declared } = offer.extensions['sign-in-with-x'].info;
  expect(nonce).toMatch(/^[0-9a-f]+$/);
  return { ...offer, extensions: { ...offer.extensions, 'sign-in-with-x': declared } };
}
