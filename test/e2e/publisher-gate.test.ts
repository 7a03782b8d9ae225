/** The rows of the gate's table, played at a site of the real service: what the table says is what happens, and what the service says of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { setEnforcement } from '../../modules/gate/use/enforcement.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { createClient } from '../../packages/publisher/src/client.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import { newAccount } from '../support/payments.ts';
import type { Play } from '../support/publisher-rows.ts';
import { ROWS } from '../support/publisher-rows.ts';
import type { PublisherSite } from '../support/publisher-site.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { base64Of, payloadFor, quoteOf } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await useTestService();
  site = await testSite('0.001');
  const crawlerPolicy = { allow: ['goodbot'], charge: ['paybot'], block: ['badbot'] };
  const settings = { ...DEFAULT_ENFORCEMENT, seoAllowlist: ['googlebot'], crawlerPolicy };
  await setEnforcement({ database: service.database }, { tenantId: site.tenantId, settings });
});
afterAll(() => service?.stop());

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

async function headersOf({ shows }: Play, shop: PublisherSite): Promise<Record<string, string>> {
  if (shows === undefined) return {};
  if (shows === 'a foreign licence') return { authorization: 'License eyJhbGciOiJFZERTQSJ9.e30.AAAA' };
  const payment = await paymentFor(site, 'solo');
  if (shows === 'payment') return { 'payment-signature': payment };
  if (shows === 'two payments') return { 'payment-signature': payment, 'x-payment': await paymentFor(site, 'solo') };
  const bought = await shop.get('/articles/solo', { 'payment-signature': payment });
  return { authorization: `License ${bought.headers.get('x-licence')}` };
}

describe.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])('%s', (_name, open) => {
  let shop: PublisherSite;
  beforeAll(async () => {
    shop = await open({ serviceUrl: service.baseUrl, apiKey: site.key });
    await shop.get('/articles/free', { 'user-agent': UA.agent }); // the settings are there
  });
  afterAll(() => shop?.close());

  const played = ROWS.flatMap(({ name, decision, play }) => (play ? [[name, decision, play] as const] : []));
  test.each(played)('%s', async (_row, decision, play) => {
    const shown = await headersOf(play, shop);
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

/** Whatever the test key's amount decides (docs/wire.md), the buyer gets what the guide says. */
test.each([
  ['0.001001', 402, 'insufficient_funds'],
  ['0.001002', 402, 'authorization_invalid'],
  ['0.001003', 402, 'settlement_failed'],
  ['0.001004', 503, null],
  ['0.001005', 402, 'malformed_payment'],
  ['0.001006', 402, 'network_unsupported'],
  ['0.001007', 200, null],
])('a payment of %s USDC in test mode: the buyer gets %i %s', async (priceUsdc, status, error) => {
  const own = await testSite(priceUsdc);
  const shop = await openExpressSite({ serviceUrl: service.baseUrl, apiKey: own.key });
  const payment = await paymentFor(own, 'trio');
  for (const name of ['payment-signature', 'x-payment']) {
    const answer = await shop.get('/articles/trio', { 'user-agent': UA.agent, [name]: payment });
    const body = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'private, no-store']);
    if (error === null) expect(answer.headers.get('payment-required')).toBeNull();
    else expect(JSON.parse(body).error).toMatch(new RegExp(`^${error}: `));
    if (status === 503)
      expect([answer.headers.get('retry-after'), body.includes('accepts')]).toEqual([expect.stringMatching(/^\d+$/), false]);
    if (status === 200) expect([body, answer.headers.get('crawler-charged')]).toEqual(['<p>trio</p>', 'USD 0.001007']);
  }
  await shop.close();
});

test('the service and the package agree which page is meant, what its slug is and what it costs', async () => {
  const client = createClient({ serviceUrl: service.baseUrl, apiKey: site.key });
  const shop = await openExpressSite({ serviceUrl: service.baseUrl, apiKey: site.key });
  for (const path of ['/articles/solo', '/articles//solo', '/ARTICLES/Solo', '/articles/free', '/articles/nobody', '/']) {
    shop.decisions.length = 0;
    const answer = await shop.raw(path, { 'user-agent': UA.agent });
    const resource = shop.decisions[0]?.resource ?? `https://${site.host}${path}`;
    const quoted = await client.quote({ resource });
    expect([path, quoted.ok && quoted.body === null]).toEqual([path, answer.status === 200 || answer.status === 404]);
    if (quoted.ok && quoted.body)
      expect(shop.decisions[0]).toMatchObject({ resource: quoted.body.resource, priceMicro: quoted.body.price });
  }
  await shop.close();
});
