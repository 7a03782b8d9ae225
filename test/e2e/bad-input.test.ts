import { randomBytes } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callChain } from '../../sandbox/parts/chain.ts';
import { newAccount } from '../support/payments.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import type { TestQuote, VerifyAnswer } from '../support/verify.ts';
import { base64Of, moneyVerdicts, payloadFor, postVerify, quoteOf, verify } from '../support/verify.ts';

/** Payments that are wrong, one way each. A site and a payer of its own for each case. */
let service: TestService;
let payer: PrivateKeyAccount;
let site: TestSite;
let quote: TestQuote;

beforeAll(async () => {
  service = await startTestService({ environment: CALM });
  payer = await service.payer(1_000_000n);
});
afterAll(() => service?.stop());

async function newCase(slug = 'trio'): Promise<void> {
  site = await service.site();
  quote = await quoteOf(service, site, slug);
}

type Payload = Awaited<ReturnType<typeof payloadFor>>;

/** What a decided refusal must be: 402 with its code, both response headers, a fresh offer that says why, and one observation with the reason. */
async function expectRefusal(answer: VerifyAnswer, reason: string): Promise<void> {
  expect(answer.body.error).toMatch(new RegExp(`^${reason}: `));
  expect(answer).toMatchObject({ status: 402, body: { ok: false } });
  expect(answer.headers.get('x-svc-error-code')).toBe(reason);
  const offer = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString('utf8'));
  expect(offer).toMatchObject({ error: answer.body.error, accepts: [{ scheme: 'exact' }] });
  const response = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString('utf8'));
  expect(response).toMatchObject({ success: false, transaction: '' });
  expect(answer.headers.get('x-payment-response')).toBe(answer.headers.get('payment-response'));
  expect(await moneyVerdicts(service, site)).toEqual([`payment-failed ${reason}`]);
}

function relayerNonce(): Promise<string> {
  return callChain<string>(service.chain.rpcUrl, 'eth_getTransactionCount', [service.relayer, 'pending']);
}

function withAuthorization(good: Payload, changes: Record<string, string>) {
  return { ...good, payload: { ...good.payload, authorization: { ...good.payload.authorization, ...changes } } };
}

test('a payment that cannot be read is refused as malformed_payment and counted once', async () => {
  await newCase();
  const payment = base64Of({ ...(await payloadFor(service, quote, payer)), padding: 'x'.repeat(20_000) });
  await expectRefusal(await postVerify(service, site, { payment, quote, legs: quote.legs }), 'malformed_payment');
});

const unsupported: [string, (good: Payload) => unknown][] = [
  ['another network', (good) => ({ ...good, accepted: { ...good.accepted, network: 'eip155:1' } })],
  ['another asset', (good) => ({ ...good, accepted: { ...good.accepted, asset: `0x${'12'.repeat(20)}` } })],
  ['the scheme upto', (good) => ({ ...good, accepted: { ...good.accepted, scheme: 'upto' } })],
  ['a v1 network we do not know', (good) => ({ x402Version: 1, scheme: 'exact', network: 'polygon', payload: good.payload })],
];

test.each(unsupported)('a payment for %s is refused as network_unsupported and counted once', async (_what, change) => {
  await newCase();
  const good = await payloadFor(service, quote, payer);
  await expectRefusal(await verify(service, site, quote, change(good)), 'network_unsupported');
});

const nowSeconds = (): bigint => BigInt(Math.floor(Date.now() / 1_000));
const invalid: [string, () => Promise<unknown>][] = [
  ['pays one micro too little', () => payloadFor(service, quote, payer, { value: BigInt(quote.price) - 1n })],
  ['pays one micro too much', () => payloadFor(service, quote, payer, { value: BigInt(quote.price) + 1n })],
  ['pays somebody else', () => payloadFor(service, quote, payer, { to: `0x${'ab'.repeat(20)}` })],
  ['has expired', () => payloadFor(service, quote, payer, { validBefore: nowSeconds() - 1n })],
  ['expires in 3 seconds', () => payloadFor(service, quote, payer, { validBefore: nowSeconds() + 3n })],
  ['is not yet valid', () => payloadFor(service, quote, payer, { validAfter: nowSeconds() + 3_600n })],
  [
    'names terms edited after signing',
    async () => {
      const good = await payloadFor(service, quote, payer);
      return { ...good, accepted: { ...good.accepted, amount: '1' } };
    },
  ],
  [
    'was signed by another key',
    async () => {
      const [good, other] = [await payloadFor(service, quote, payer), await payloadFor(service, quote, newAccount())];
      return { ...good, payload: { ...good.payload, signature: other.payload.signature } };
    },
  ],
  [
    'has another nonce than the signed one',
    async () => withAuthorization(await payloadFor(service, quote, payer), { nonce: `0x${randomBytes(32).toString('hex')}` }),
  ],
];

test.each(invalid)('a payment that %s is authorization_invalid, counted once, and nothing is sent', async (_what, payload) => {
  await newCase();
  const before = await relayerNonce();
  await expectRefusal(await verify(service, site, quote, await payload()), 'authorization_invalid');
  expect(await relayerNonce()).toBe(before);
});

test('legs that are not those behind payTo are authorization_invalid, counted once', async () => {
  await newCase();
  const payment = base64Of(await payloadFor(service, quote, payer));
  const [first, second, third] = quote.legs.map((leg) => ({ ...leg }));
  const legs = [{ ...first, amountMicro: 501 }, { ...second, amountMicro: 299 }, third];
  await expectRefusal(await postVerify(service, site, { payment, quote, legs }), 'authorization_invalid');
});

test('legs in another order are the same legs', async () => {
  await newCase();
  const payload = await payloadFor(service, quote, payer);
  const answer = await postVerify(service, site, { payment: base64Of(payload), quote, legs: [...quote.legs].reverse() });
  expect(answer.status).toBe(200);
});

test('an empty wallet is insufficient_funds, counted once, and nothing is sent', async () => {
  await newCase();
  const before = await relayerNonce();
  const answer = await verify(service, site, quote, await payloadFor(service, quote, newAccount()));
  await expectRefusal(answer, 'insufficient_funds');
  expect(await relayerNonce()).toBe(before);
});

test('a wallet that holds one price and signs for two pages at once pays one, and the other is insufficient_funds', async () => {
  await newCase();
  const other = await quoteOf(service, site, 'solo');
  const poor = await service.payer(BigInt(quote.price));
  const answers = await Promise.all(
    [quote, other].map(async (one) => verify(service, site, one, await payloadFor(service, one, poor))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
  expect(answers.find(({ status }) => status === 402)?.body.error).toMatch(/^insufficient_funds: /);
  expect((await moneyVerdicts(service, site)).sort()).toEqual(['paid', 'payment-failed insufficient_funds']);
  expect(await balancesOf(service, [poor.address])).toEqual([0n]);
});

test('the same payment twenty times at once is settled once and gets twenty equal answers', async () => {
  await newCase();
  const [before] = await balancesOf(service, [payer.address]);
  const payload = await payloadFor(service, quote, payer);
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(service, site, quote, payload)));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 200, body: { ok: true, chargedMicro: '1000' } });
  expect(await moneyVerdicts(service, site)).toEqual(['paid']);
  expect(await balancesOf(service, [payer.address])).toEqual([(before as bigint) - 1_000n]);
});

test('a payment shown again for another page is refused and the first sale stays as it was', async () => {
  await newCase();
  const payload = await payloadFor(service, quote, payer);
  const first = await verify(service, site, quote, payload);
  expect(first.status).toBe(200);
  const citation = await quoteOf(service, site, 'trio', 'citation');
  const [otherPage, otherKind] = [await quoteOf(service, site, 'solo'), citation];
  for (const other of [otherPage, otherKind]) {
    const answer = await verify(service, site, other, payload);
    expect(answer).toMatchObject({ status: 402, headers: expect.anything() });
    expect(answer.body.error).toMatch(/^authorization_invalid: /);
  }
  expect(await moneyVerdicts(service, site)).toEqual([
    'paid',
    'payment-failed authorization_invalid',
    'payment-failed authorization_invalid',
  ]);
  expect((await verify(service, site, quote, payload)).body).toEqual(first.body);
});

test('the same payment with another field, other key order, as base64url or as plain JSON is the same payment', async () => {
  await newCase();
  const payload = await payloadFor(service, quote, payer);
  const first = await verify(service, site, quote, payload);
  expect(first.status).toBe(200);
  const { x402Version, accepted, payload: inner } = payload;
  const spellings = [
    base64Of({ ...payload, note: 'more' }),
    base64Of({ payload: { authorization: inner.authorization, signature: inner.signature }, accepted, x402Version }),
    Buffer.from(JSON.stringify(payload)).toString('base64url'),
    JSON.stringify(payload),
  ];
  for (const payment of spellings) {
    const again = await postVerify(service, site, { payment, quote, legs: quote.legs });
    expect(again.body).toEqual(first.body);
  }
  expect(await moneyVerdicts(service, site)).toEqual(['paid']);
});
