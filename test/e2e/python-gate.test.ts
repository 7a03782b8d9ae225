/** The Python package in front of sites under WSGI and ASGI: the tables and the buyers that the JavaScript package is tried with. */
import { randomBytes } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { setEnforcement } from '../../modules/gate/use/enforcement.ts';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { createClient } from '../../packages/publisher/src/client.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { ALPHA_PRICING, WALLETS } from '../support/api.ts';
import { FORMS, GPT, NO_WAYS, PASSES, ROUTES, TEXT } from '../support/aside-rows.ts';
import type { Mood, MoodyService } from '../support/moody.ts';
import { startMoody } from '../support/moody.ts';
import { newAccount } from '../support/payments.ts';
import type { Play } from '../support/publisher-rows.ts';
import { ROWS } from '../support/publisher-rows.ts';
import type { PublisherSite } from '../support/publisher-site.ts';
import { UA } from '../support/publisher-site.ts';
import type { Python } from '../support/pythons.ts';
import { openPythonSite, PYTHONS } from '../support/pythons.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { base64Of, moneyVerdicts, payloadFor, quoteOf } from '../support/verify.ts';

const SERVERS = ['wsgi', 'asgi'] as const;
const agent = { 'user-agent': UA.agent };
// Where there is no Python the file says so by a test that is skipped; each version that is missing is missing from the names below.
const python = PYTHONS.at(-1) as Python;

let service: TestService;
beforeAll(async () => {
  service = await useTestService();
});
afterAll(() => service?.stop());

test.skipIf(PYTHONS.length > 0)('NOT RUN: there is no Python here', () => undefined);

async function newBuyer(micro = 10_000n) {
  const privateKey = newPrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  if (micro > 0n) await mintUsdc(service.chain.rpcUrl, address.toLowerCase() as Address, micro);
  return { privateKey, address };
}

const CLIENTS = {
  'x402 v2': buyPage,
  'x402 v1': async (url: string, privateKey: `0x${string}`) => {
    const response = await wrapFetchV1(fetch, privateKeyToAccount(privateKey))(url);
    return { status: response.status, page: await response.text(), licence: response.headers.get('x-licence') };
  },
};

describe.each(PYTHONS.flatMap((one) => SERVERS.map((server) => [one.version, server, one] as const)))(
  'Python %s under %s',
  (_version, server, one) => {
    let site: TestSite;
    let shop: PublisherSite;
    beforeAll(async () => {
      site = await service.site();
      shop = await openPythonSite(one, server, { serviceUrl: service.baseUrl, apiKey: site.key });
    });
    afterAll(() => shop?.close());

    test.each(Object.entries(CLIENTS))(
      'a stock client of %s buys a page of three authors and reads it again',
      async (_client, buy) => {
        const buyer = await newBuyer();
        const before = await balancesOf(service, WALLETS);
        const bought = await buy(`${shop.url}/articles/trio`, buyer.privateKey);
        expect(bought).toMatchObject({ status: 200, page: '<p>trio</p>' });
        const after = await balancesOf(service, [buyer.address, ...WALLETS]);
        expect(after[0]).toBe(9_000n);
        expect(after.slice(1).map((micro, at) => micro - (before[at] ?? 0n))).toEqual([500n, 300n, 200n, 0n]);
        const licence = { ...agent, authorization: `License ${bought.licence}` };
        const read = await shop.get('/articles/trio', licence);
        expect([read.status, await read.text(), read.headers.get('cache-control')]).toEqual([
          200,
          '<p>trio</p>',
          'private, no-store',
        ]);
        expect((await shop.get('/articles/solo', licence)).status).toBe(402);
      },
    );

    test('people and search engines read the page as it is, and nothing about them leaves the site', async () => {
      for (const ua of [UA.person, UA.google]) {
        const before = shop.decisions.length;
        const read = await shop.raw('/articles/trio', { 'user-agent': ua });
        expect([read.status, read.body, read.headers['payment-required']]).toEqual([200, '<p>trio</p>', undefined]);
        expect(Object.keys(read.headers).filter((name) => /crawler|licence|vary|cache/.test(name))).toEqual([]);
        expect(shop.decisions.length).toBe(before);
      }
    });

    test('the proof of the host is served, and a token of nobody is the site’s', async () => {
      const client = createClient({ serviceUrl: service.baseUrl, apiKey: site.key });
      const opened = await client.openHost(`h${randomBytes(5).toString('hex')}.alpha.example`);
      const token = opened.ok ? opened.body.challenge.token : '';
      expect(token).not.toBe('');
      const proof = await shop.get(`/.well-known/svc-challenge/${token}`, { 'user-agent': UA.person });
      expect([proof.status, await proof.text()]).toEqual([200, token]);
      expect((await shop.get('/.well-known/svc-challenge/abcdefghijklmnop')).status).toBe(404);
    });
  },
);

describe.skipIf(PYTHONS.length === 0).each(SERVERS)('%s', (server) => {
  describe('the table of the gate', () => {
    let site: TestSite;
    let shop: PublisherSite;
    beforeAll(async () => {
      site = await testSite('0.001');
      const crawlerPolicy = { allow: ['goodbot'], charge: ['paybot'], block: ['badbot'] };
      const settings = { ...DEFAULT_ENFORCEMENT, seoAllowlist: ['googlebot'], crawlerPolicy };
      await setEnforcement({ database: service.database }, { tenantId: site.tenantId, settings });
      shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: site.key });
      await shop.get('/articles/free', agent); // the settings are there
    });
    afterAll(() => shop?.close());

    const played = ROWS.flatMap(({ name, decision, play }) => (play ? [[name, decision, play] as const] : []));
    test.each(played)('%s', async (_row, decision, play) => {
      const shown = await headersOf(play, site, shop);
      shop.decisions.length = 0;
      const answer = await shop.raw(play.path, { 'user-agent': play.ua, ...shown }, play.method);
      expect(answer.status).toBe(play.status);
      const [told] = shop.decisions;
      if (decision.act === 'serve' && ['reader', 'open'].includes(decision.as)) expect(told).toBeUndefined();
      else expect(told).toMatchObject(decision.act === 'serve' ? { act: 'serve', as: decision.as } : { act: decision.act });
      if (play.status === 402) expect(answer.headers['payment-required']).toBeDefined();
      if (decision.act === 'offer' && decision.error && play.method === undefined)
        expect(JSON.parse(answer.body).error).toBe(decision.error);
    });
  });

  describe('a gate over the whole site', () => {
    let shop: PublisherSite;
    beforeAll(async () => {
      const site = await service.site({
        pricing: {
          articlePrefixes: ['/'],
          priceUsdc: '0.001',
          defaultPayee: { authorId: 'house', wallet: WALLETS[0] as string },
        },
      });
      const settings = { ...DEFAULT_ENFORCEMENT, gateScope: { mode: 'site', excludePrefixes: [] } } as const;
      await setEnforcement({ database: service.database }, { tenantId: site.tenantId, settings });
      shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: site.key, routes: ROUTES });
      await shop.get('/healthz', agent);
    });
    afterAll(() => shop?.close());

    test.each(PASSES)('%s %s by %s passes', async (method, path, userAgent, status) => {
      const answer = await shop.raw(path, { 'user-agent': userAgent }, method);
      expect([answer.status, answer.headers['payment-required']]).toEqual([status, undefined]);
    });

    test.each(NO_WAYS)('%s %s is no way round the price of a page', async (method, path) => {
      for (let again = 0; again < 2; again++) {
        const { status, body, headers } = await shop.raw(path, { 'user-agent': GPT }, method);
        expect([status, body.includes('The whole text'), 'payment-required' in headers]).toEqual([402, false, true]);
        if (!['GET', 'HEAD'].includes(method)) expect(JSON.parse(body).error).toBe('invalid_parameter: pay with GET');
      }
    });

    test.each(FORMS)('a page that nobody has asked for yet is not had as %s with %o', async (path, headers) => {
      const { status, body } = await shop.raw(path, { 'user-agent': GPT, ...headers });
      expect([status, body.includes('The whole text')]).toEqual([402, false]);
    });

    test('a page is made once to see that it is one, and not again for those who do not pay', async () => {
      shop.made.length = 0;
      for (let time = 0; time < 3; time++) expect((await shop.get('/articles/once', agent)).status).toBe(402);
      expect(shop.made).toEqual(['once']);
      expect(await (await shop.get('/articles/once', { 'user-agent': UA.person })).text()).toBe(TEXT);
    });
  });

  describe('money', () => {
    test('a page that cannot be made, and one with nothing in it, cost nothing', async () => {
      const ann = { contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] };
      const pricing = { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: { broken: ann, empty: ann } };
      const site = await service.site({ pricing });
      const shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: site.key });
      for (const [slug, status] of [
        ['broken', 500],
        ['empty', 200],
      ] as const) {
        // Signed ahead of the look at the page: who asks first gets it without an offer.
        const account = await service.payer(5_000n);
        const header = base64Of(await payloadFor(service, await quoteOf(service, site, slug), account));
        expect((await shop.get(`/articles/${slug}`, { ...agent, 'payment-signature': header })).status).toBe(status);
        expect((await shop.get(`/articles/${slug}`, agent)).status).toBe(status);
        expect(await balancesOf(service, [account.address])).toEqual([5_000n]);
      }
      expect(await moneyVerdicts(service, site)).toEqual([]);
      await shop.close();
    });

    test('an empty wallet gets a fresh offer that says why; a browser that is taken for an agent gets a page about it; a web page may pay', async () => {
      const site = await service.site();
      const shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: site.key });
      const refused = await buyPage(`${shop.url}/articles/solo`, (await newBuyer(0n)).privateKey);
      expect(refused.status).toBe(402);
      expect(JSON.parse(refused.page)).toMatchObject({ error: expect.stringMatching(/^insufficient_funds: /), next: {} });
      const page = await shop.get('/articles/trio', { ...agent, accept: 'text/html,*/*' });
      expect(await page.text()).toContain('<li>bob (30 %)</li>');
      const asks = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'payment-signature' };
      const preflight = await shop.get('/articles/trio', { origin: 'https://reader.example', ...asks }, 'OPTIONS');
      expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, '*, Authorization']);
      await shop.close();
    });

    test('a citation costs its own price, and its licence reads the page, too', async () => {
      const site = await service.site({ pricing: { ...ALPHA_PRICING, citationMultiplier: '3' } });
      const told = { serviceUrl: service.baseUrl, apiKey: site.key, sellsCitations: true };
      const shop = await openPythonSite(python, server, told);
      const citer = await newBuyer();
      const cited = await buyPage(`${shop.url}/articles/trio?use=citation`, citer.privateKey);
      expect([cited.status, await balancesOf(service, [citer.address])]).toEqual([200, [7_000n]]);
      const read = await shop.get('/articles/trio', { ...agent, authorization: `License ${cited.licence}` });
      expect(read.status).toBe(200);
      await shop.close();
    });

    test.each([
      ['0.001003', 402, 'settlement_failed'],
      ['0.001004', 503, null],
      ['0.001006', 402, 'network_unsupported'],
      ['0.001007', 200, null],
    ])('a payment of %s USDC in test mode: the buyer gets %i %s', async (priceUsdc, status, error) => {
      const site = await testSite(priceUsdc);
      const shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: site.key });
      const payment = await paymentFor(site, 'trio');
      const answer = await shop.get('/articles/trio', { ...agent, 'payment-signature': payment });
      const body = await answer.text();
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'private, no-store']);
      if (error === null) expect(answer.headers.get('payment-required')).toBeNull();
      else expect(JSON.parse(body).error).toMatch(new RegExp(`^${error}: `));
      if (status === 503)
        expect([answer.headers.get('retry-after'), body.includes('accepts')]).toEqual([expect.any(String), false]);
      if (status === 200) expect([body, answer.headers.get('crawler-charged')]).toEqual(['<p>trio</p>', 'USD 0.001007']);
      await shop.close();
    });
  });

  describe('a service that is away', () => {
    let site: TestSite;
    let moody: MoodyService;
    beforeAll(async () => {
      site = await service.site();
      moody = await startMoody(service.baseUrl);
    });
    afterAll(() => moody?.close());
    const payment = async () => {
      const account = await service.payer(5_000n);
      return { account, header: base64Of(await payloadFor(service, await quoteOf(service, site, 'solo'), account)) };
    };

    test.each(['dead', 'hung', 'failing'] as const)(
      '%s: readers notice nothing, agents read what has no known price, and who pays waits and is charged once',
      async (mood: Mood) => {
        let offsetMs = 0;
        moody.mood = 'well';
        const told = { serviceUrl: moody.url, apiKey: site.key, now: () => Date.now() + offsetMs };
        const shop = await openPythonSite(python, server, told);
        try {
          const { account, header } = await payment();
          expect((await shop.get('/articles/solo', agent)).status).toBe(402);
          moody.mood = mood;
          const read = await shop.get('/articles/trio', { 'user-agent': UA.person });
          expect([read.status, await read.text()]).toEqual([200, '<p>trio</p>']);
          expect((await shop.get('/articles/trio', agent)).status).toBe(200);
          expect(shop.decisions.at(-1)).toMatchObject({ act: 'serve', as: 'away' });
          expect(shop.failures).toContainEqual(expect.objectContaining({ what: 'quote', count: 1 }));
          offsetMs = 300_000; // a known price stays one, also when it is no longer fresh
          expect((await shop.get('/articles/solo', agent)).status).toBe(402);
          offsetMs = 0;
          const paid = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
          expect([paid.status, paid.headers.get('payment-required')]).toEqual([503, null]);
          expect(paid.headers.get('retry-after')).toMatch(/^\d+$/);
          moody.mood = 'well';
          const sold = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
          expect([sold.status, await sold.text()]).toEqual([200, '<p>solo</p>']);
          expect(await balancesOf(service, [account.address])).toEqual([4_000n]);
        } finally {
          moody.mood = 'well';
          await shop.close();
        }
      },
    );

    test('a licence that was good or sold here a moment ago opens its page until it ends; one that was never looked at waits, and buys nothing twice', async () => {
      let offsetMs = 0;
      const told = { serviceUrl: moody.url, apiKey: site.key, now: () => Date.now() + offsetMs };
      const shop = await openPythonSite(python, server, told);
      const elsewhere = await openPythonSite(python, server, told);
      const buy = async (at: PublisherSite) => {
        const bought = await at.get('/articles/solo', { ...agent, 'payment-signature': (await payment()).header });
        return { ...agent, authorization: `License ${bought.headers.get('x-licence')}` };
      };
      const [sold, seen, unseen] = [await buy(shop), await buy(elsewhere), await buy(elsewhere)];
      await elsewhere.close();
      expect((await shop.get('/articles/solo', seen)).status).toBe(200);
      moody.mood = 'dead';
      offsetMs = 120_000;
      for (const licence of [sold, seen]) {
        expect((await shop.get('/articles/solo', licence)).status).toBe(200);
        expect(shop.decisions.at(-1)).toMatchObject({ as: 'licensed' });
      }
      const waits = await shop.get('/articles/solo', unseen);
      expect([waits.status, waits.headers.get('payment-required')]).toEqual([503, null]);
      moody.mood = 'well';
      await shop.close();
    });

    test('a service that was never there: people read at once, agents after two seconds, and what was given away is told when it is back', async () => {
      moody.mood = 'hung';
      const own = await service.site();
      const told = { serviceUrl: moody.url, apiKey: own.key, origin: `https://${own.host}` };
      const shop = await openPythonSite(python, server, told);
      expect((await shop.get('/articles/solo', { 'user-agent': UA.person })).status).toBe(200);
      expect((await shop.get('/articles/solo', agent)).status).toBe(200);
      expect(shop.decisions.at(-1)).toMatchObject({ act: 'serve', as: 'away' });
      moody.mood = 'well';
      await shop.flush();
      const rows = () =>
        service.database.query('select verdict, classify_reason, slug from observation where tenant_id = $1', [own.tenantId]);
      await expect.poll(rows).toEqual([{ verdict: 'served-free', classify_reason: 'service_away', slug: 'solo' }]);
      await shop.close();
    });
  });

  test('a revoked key: agents read free, a payment is neither taken nor answered with an offer, and the owner hears of the key', async () => {
    const own = await service.site();
    const shop = await openPythonSite(python, server, { serviceUrl: service.baseUrl, apiKey: own.key });
    const account = await service.payer(5_000n);
    const header = base64Of(await payloadFor(service, await quoteOf(service, own, 'solo'), account));
    expect((await shop.get('/articles/solo', agent)).status).toBe(402);
    const [key] = await service.database.query<{ key_id: string }>('select key_id from api_key where tenant_id = $1', [
      own.tenantId,
    ]);
    await revokeKey({ database: service.database }, { tenantId: own.tenantId, keyId: key?.key_id ?? '' });
    const gone = createClient({ serviceUrl: service.baseUrl, apiKey: own.key });
    while ((await gone.quote({ resource: `https://${own.host}/articles/solo` })).ok);
    expect((await shop.get('/articles/trio', agent)).status).toBe(200);
    expect(shop.failures).toContainEqual(expect.objectContaining({ what: 'key', status: 401 }));
    const paid = await shop.get('/articles/solo', { ...agent, 'payment-signature': header });
    expect([paid.status, paid.headers.get('payment-required')]).toEqual([503, null]);
    expect(await balancesOf(service, [account.address])).toEqual([5_000n]);
    await shop.close();
  });
});

/** A site with a key of test mode: its payments are checked, decided by their amount, and move nothing. */
async function testSite(priceUsdc: string): Promise<TestSite> {
  const made = await service.site({ pricing: { ...ALPHA_PRICING, priceUsdc } });
  const request = { tenantId: made.tenantId, name: 'test', scopes: SCOPES, prefix: 'svc_test_' } as const;
  const { token } = await mintKey({ database: service.database, pepper: pepperOf(service.secrets) }, request);
  return { ...made, key: token };
}

async function paymentFor(own: TestSite, slug: string): Promise<string> {
  return base64Of(await payloadFor(service, await quoteOf(service, own, slug), newAccount()));
}

async function headersOf({ shows }: Play, site: TestSite, shop: PublisherSite): Promise<Record<string, string>> {
  if (shows === undefined) return {};
  if (shows === 'a foreign licence') return { authorization: 'License eyJhbGciOiJFZERTQSJ9.e30.AAAA' };
  const payment = await paymentFor(site, 'solo');
  if (shows === 'payment') return { 'payment-signature': payment };
  if (shows === 'two payments') return { 'payment-signature': payment, 'x-payment': await paymentFor(site, 'solo') };
  const bought = await shop.get('/articles/solo', { 'payment-signature': payment });
  return { authorization: `License ${bought.headers.get('x-licence')}` };
}
