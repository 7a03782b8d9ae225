/** Receipts and records of payments, over the wire: what the stock package and a stranger with a node make of them. */
import { createHash } from 'node:crypto';
import {
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { askQuote, payFor, sell } from '../support/buying.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { ReceiptScript } from '../support/receiptScript.ts';
import { openReceiptScript } from '../support/receiptScript.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
let script: ReceiptScript;
beforeAll(async () => {
  // The address listened on is its own: the did document is fetched there.
  service = await startTestService({ environment: { ...CALM, PUBLIC_BASE_URL: '', TEST_KEYS_ENABLED: 'true' } });
  site = await service.site();
  script = openReceiptScript(service.chain.rpcUrl);
});
afterAll(async () => {
  script?.close();
  await service?.stop();
});

async function buy(slug: string, own: TestSite = site) {
  const quote = await askQuote(service.baseUrl, own.key, slug);
  const payer = await service.payer(10_000n);
  const answer = await sell(service.baseUrl, own.key, quote, await payFor(payer, quote));
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { quote, payer: payer.address.toLowerCase(), answer, id: answer.body.receiptId as string };
}

const record = (id: string, headers: Record<string, string> = {}) => fetch(`${service.baseUrl}/_svc/receipts/${id}`, { headers });

function claimsOf(jws: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
}

test('the stock package finds a receipt in the answer and verifies it by our did document; with one byte flipped it refuses it', async () => {
  const { quote, payer, answer } = await buy('trio');
  const receipt = extractReceiptFromResponse(answer as unknown as Response);
  if (receipt?.format !== 'jws') throw new Error('there is no receipt');
  const { settlementRef: transaction } = answer.body;
  const said = await verifyReceiptSignatureJWS(receipt);
  expect(said).toEqual({
    version: 1,
    network: 'eip155:84532',
    resourceUrl: quote.resource,
    payer,
    transaction,
    issuedAt: expect.any(Number),
  });
  const flipped = Buffer.from(receipt.signature);
  const at = flipped.lastIndexOf('.') - 5;
  flipped[at] = flipped[at] === 0x41 ? 0x42 : 0x41;
  await expect(verifyReceiptSignatureJWS({ format: 'jws', signature: flipped.toString() })).rejects.toThrow();
  const check = await fetch(`${service.baseUrl}/_svc/license/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ license: receipt.signature, resource: quote.resource, slug: 'trio' }),
  });
  expect([await check.json(), claimsOf(answer.body.licenseJws)['jti']]).toEqual([{ entitled: false }, answer.body.receiptId]);
});

test('an offer is signed when that is asked, for each of its networks, and no other is', async () => {
  const ask = async (more: string) => {
    const answer = await fetch(`${service.baseUrl}/_svc/quote?slug=trio&build=402${more}`, {
      headers: { authorization: `Bearer ${site.key}` },
    });
    const { x402, expiresAt } = (await answer.json()) as { x402: { header: string }; expiresAt: number };
    expect(x402.header.length).toBeLessThan(5_120); // 4 KB, and a signature when one is asked for
    return { offer: JSON.parse(Buffer.from(x402.header, 'base64').toString()), expiresAt };
  };
  expect(extractOffersFromPaymentRequired((await ask('')).offer)).toEqual([]);
  const { offer, expiresAt } = await ask('&sign=1&signIn=1');
  const [signed, ...others] = extractOffersFromPaymentRequired(offer);
  if (signed?.format !== 'jws') throw new Error('there is no signed offer');
  const { scheme, network, amount, asset, payTo } = offer.accepts[0];
  const resourceUrl = offer.resource.url;
  expect([others, await verifyOfferSignatureJWS(signed)]).toEqual([
    [],
    { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil: Math.floor(expiresAt / 1_000) },
  ]);
  expect(findAcceptsObjectFromSignedOffer(signed, offer.accepts)).toEqual(offer.accepts[0]);
});

test('the record says what the chain says, in JSON, signed, and as a page that runs nothing', async () => {
  const { quote, payer, answer, id } = await buy('trio');
  const json = await record(id);
  const body = await json.json();
  expect(body).toMatchObject({
    version: 1,
    id,
    url: `${service.baseUrl}/_svc/receipts/${id}`,
    transaction: answer.body.settlementRef,
    payer,
    network: 'eip155:84532',
    amountMicro: quote.price,
    currency: 'USDC',
    host: site.host,
    sells: 'page',
    kind: 'read',
    asset: quote.asset.toLowerCase(),
    payTo: quote.payTo.toLowerCase(),
    resourceUrl: quote.resource,
    body: null,
    legs: quote.legs.map(({ toAddress, amountMicro }) => ({ toAddress: toAddress.toLowerCase(), amountMicro })),
    authorization: { from: payer, to: quote.payTo.toLowerCase(), value: String(quote.price) },
    domain: { ...quote.extra, chainId: 84_532, verifyingContract: quote.asset.toLowerCase() },
  });
  expect(createHash('sha256').update(body.terms.document).digest('hex')).toBe(body.terms.sha256);
  const roles = body.transfers.map(({ role, to, amountMicro }: Record<string, unknown>) => [role, to, amountMicro]);
  expect(roles).toEqual([
    ['payment', body.payTo, quote.price],
    ...body.legs.map((leg: Record<string, unknown>) => ['payout', leg['toAddress'], leg['amountMicro']]),
  ]);
  const text = JSON.stringify(body);
  for (const personal of ['authorId', 'agent', 'account', 'ua"']) expect(text).not.toContain(personal);

  const jws = await record(id, { accept: 'application/jose' });
  const signature = await jws.text();
  expect([jws.headers.get('content-type'), await verifyReceiptSignatureJWS({ format: 'jws', signature })]).toEqual([
    'application/jose',
    body,
  ]);
  const page = await record(id, { accept: 'text/html,application/xhtml+xml' });
  const html = await page.text();
  const style = createHash('sha256')
    .update(/<style>(.*)<\/style>/s.exec(html)?.[1] ?? '')
    .digest('base64');
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect([page.headers.get('vary'), html.includes('<script'), html.includes(payer)]).toEqual(['Accept', false, true]);
  const again = await record(id, { 'if-none-match': json.headers.get('etag') ?? '' });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('unknown, malformed, a test key’s, not settled and not shown: one 404', async () => {
  const { id } = await buy('solo');
  const asked = { tenantId: site.tenantId, name: 'test', scopes: SCOPES, prefix: 'svc_test_' } as const;
  const played = await mintKey({ database: service.database, pepper: pepperOf(service.secrets) }, asked);
  const quote = await askQuote(service.baseUrl, played.token, 'solo');
  const answer = await sell(service.baseUrl, played.token, quote, await payFor(await service.payer(10_000n), quote));
  const decoded = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
  expect([answer.status, answer.body.receiptId, decoded.extensions]).toEqual([200, undefined, undefined]);
  const mock = claimsOf(answer.body.licenseJws)['jti'] as string;

  const refusals = [await record(crypto.randomUUID()), await record('..%2f'), await record(id.toUpperCase()), await record(mock)];
  const change = (column: string, table: string, value: unknown, where: string, key: string) =>
    service.database.query(`update ${table} set ${column} = $1 where ${where} = $2`, [value, key]);
  await change('state', 'payment_state', 'review', 'payment_id', id);
  refusals.push(await record(id, { accept: 'text/html' }));
  await change('state', 'payment_state', 'settled', 'payment_id', id);
  expect((await record(id)).status).toBe(200);
  await change('receipts_public', 'tenant', false, 'tenant_id', site.tenantId);
  refusals.push(await record(id), await record(id, { accept: 'application/jose' }));
  await change('receipts_public', 'tenant', true, 'tenant_id', site.tenantId);

  const told = await Promise.all(
    refusals.map(async (one) => {
      const headers = Object.fromEntries(one.headers);
      for (const name of ['date', 'x-request-id']) delete headers[name];
      return JSON.stringify([one.status, headers, await one.text()]);
    }),
  );
  expect([refusals[0]?.status, new Set(told).size]).toEqual([404, 1]);
});

test('what a site says that it served stands in the record: its first word, of its own payments', async () => {
  const { id } = await buy('duo');
  const other = await service.site();
  const say = async (key: string, sha256: string, receiptId = id) => {
    const answer = await fetch(`${service.baseUrl}/_svc/receipts/bodies`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify([{ receiptId, sha256, bytes: 10 }]),
    });
    return [answer.status, await answer.json()];
  };
  expect(await say(other.key, 'a'.repeat(64))).toEqual([200, { noted: 0 }]);
  expect(await say(site.key, 'b'.repeat(64))).toEqual([200, { noted: 1 }]);
  expect(await say(site.key, 'c'.repeat(64))).toEqual([200, { noted: 0 }]);
  expect(await say(site.key, 'd'.repeat(64), crypto.randomUUID())).toEqual([200, { noted: 0 }]);
  expect((await say(site.key, 'B'.repeat(64)))[0]).toBe(400);
  expect((await (await record(id)).json()).body).toEqual({ sha256: 'b'.repeat(64), bytes: 10 });
});

test.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])(
  'a page sold by the package with %s: its record has the hash of what came, and its receipt verifies in the site’s own name',
  async (_name, open) => {
    const own = await service.site();
    const origin = `https://${own.host}`;
    const shop = await open({ serviceUrl: service.baseUrl, apiKey: own.key, origin, receipts: { name: 'host', offers: true } });
    const refused = await shop.get('/articles/trio', { 'user-agent': UA.agent });
    const offer = JSON.parse(Buffer.from(refused.headers.get('payment-required') ?? '', 'base64').toString());
    expect(extractOffersFromPaymentRequired(offer)).toHaveLength(1);
    const quote = await askQuote(service.baseUrl, own.key, 'trio');
    const payment = await payFor(await service.payer(10_000n), quote);
    const answer = await shop.get('/articles/trio', { 'user-agent': UA.agent, 'payment-signature': payment });
    const page = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, page.toString()]).toEqual([200, '<p>trio</p>']);

    const receipt = extractReceiptFromResponse(answer);
    if (receipt?.format !== 'jws') throw new Error('there is no receipt');
    const asked: string[] = [];
    const { fetch: send } = globalThis;
    globalThis.fetch = (input, init) => {
      if (String(input).startsWith(origin)) asked.push(String(input)); // the package asks the service meanwhile
      return send(String(input).replace(origin, shop.url), init); // the host has no name server
    };
    const said = await verifyReceiptSignatureJWS(receipt).finally(() => {
      globalThis.fetch = send;
    });
    expect([said.resourceUrl, asked]).toEqual([`${origin}/articles/trio`, [`${origin}/.well-known/did.json`]]);

    await shop.flush();
    const id = claimsOf(answer.headers.get('x-licence') ?? '')['jti'] as string;
    const sha256 = createHash('sha256').update(page).digest('hex');
    expect((await (await record(id)).json()).body).toEqual({ sha256, bytes: page.length });
    await shop.close();
  },
);

test('a stranger checks a payment with the script of the guide and a node alone; what was changed in a record is found out', async () => {
  const [many, one] = [await buy('trio'), await buy('solo')];
  const body = await (await record(many.id)).json();
  const { authorization, legs } = body;
  const joined = [{ ...legs[0], amountMicro: legs[0].amountMicro + legs[1].amountMicro }, ...legs.slice(2)];
  const changed = (changes: object) => script.check({ ...body, ...changes });
  const [good, straight, ...bad] = await Promise.all([
    script.check(`${service.baseUrl}/_svc/receipts/${many.id}`),
    script.check(`${service.baseUrl}/_svc/receipts/${one.id}`),
    changed({ amountMicro: body.amountMicro + 1 }),
    changed({ authorization: { ...authorization, from: body.asset }, payer: body.asset }),
    changed({ transaction: one.answer.body.settlementRef }),
    changed({ legs: joined }),
    changed({ terms: { ...body.terms, document: '{}' } }),
  ]);
  expect([good, straight]).toEqual([
    [0, expect.not.stringContaining('NO ')],
    [0, expect.stringContaining('directly')],
  ]);
  for (const [code, said] of bad) expect([code, said]).toEqual([1, expect.stringContaining('NO ')]);
});
