import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';
import { newAccount } from '../support/payments.ts';
import { payTo, receiptOf, takeIn } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let asked: SettleRequest[] = [];
let outcome: (request: SettleRequest) => SettleReceipt = receiptOf;

beforeAll(async () => {
  // The settlement service has tests of its own, end to end on a chain; here only what reaches it and what becomes of its outcome.
  api = await startTestApi({
    settle: async (request) => {
      asked.push(request);
      return outcome(request);
    },
  });
});
beforeEach(() => {
  asked = [];
  outcome = receiptOf;
  api.time.offsetMs = 0;
  api.time.stoppedAtMs = null;
});
afterAll(() => api.stop());

const buyer = newAccount();
const pay = (to: string, value: number): Promise<string> => payTo(api, buyer, to, value);

async function quoted(key: string, slug = 'trio') {
  return (await api.request(`/_svc/quote?slug=${slug}`, { key })).body;
}

async function verifyBody(key: string, changes: Record<string, unknown> = {}) {
  const quote = await quoted(key);
  return { payment: await pay(quote.payTo, quote.price), legs: quote.legs, quote, resource: quote.resource, ...changes };
}

/** Reasons of the site's payment-failed observations. */
async function failures(tenantId: string): Promise<string[]> {
  const sql = `select reason from observation where tenant_id = $1 and verdict = 'payment-failed' order by recorded_at`;
  return (await api.deps.database.query<{ reason: string }>(sql, [tenantId])).map(({ reason }) => reason);
}

test('a good payment answers the receipt exactly as specified, with both response headers', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  const answer = await api.post('/_svc/verify', site.key, body, { 'idempotency-key': 'k1' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    ok: true,
    settlementRef: `0x${'1'.repeat(64)}`,
    payer: buyer.address.toLowerCase(),
    responseHeader: 'cmVzcG9uc2U=',
    licenseJws: 'a.b.c',
    chargedMicro: '1000',
  });
  for (const name of ['payment-response', 'x-payment-response']) expect(answer.headers.get(name)).toBe('cmVzcG9uc2U=');
  expect(answer.headers.get('cache-control')).toBe('private, no-store');
  expect(asked[0]).toMatchObject({ tenantId: site.tenantId, keyId: site.keyId, mode: 'live', idempotencyKey: 'k1' });
  const { terms } = asked[0] as SettleRequest;
  expect(terms).toMatchObject({
    slug: 'trio',
    kind: 'read',
    priceMicro: 1000n,
    quoteId: body.quote.quoteId,
    resourceKey: `${site.host}/articles/trio`,
  });
  expect(terms.legWords).toHaveLength(3);
});

test('a quote lives 600 seconds: the last millisecond settles, the next one is quote_expired', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  api.time.stoppedAtMs = body.quote.expiresAt - 1;
  expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  api.time.stoppedAtMs = body.quote.expiresAt;
  const late = await api.post('/_svc/verify', site.key, body);
  expect([late.status, late.headers.get('x-svc-error-code'), late.body.ok]).toEqual([402, 'quote_expired', false]);
  expect(await failures(site.tenantId)).toEqual(['authorization_invalid']);
});

test('a quote outlives an edit of price and authors: it settles with what it said', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  const creditsInline = { trio: { contributors: [{ authorId: 'new', wallet: `0x${'9'.repeat(40)}` }] } };
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.9', creditsInline } });
  const answer = await api.post('/_svc/verify', site.key, body);
  expect([answer.status, answer.body.chargedMicro]).toEqual([200, '1000']);
  expect(asked[0]?.terms.payTo).toBe(body.quote.payTo.toLowerCase());
});

test.each(['price', 'kind', 'slug', 'host', 'payTo', 'network', 'asset', 'quoteId', 'expiresAt', 'quoteToken'])(
  'a quote whose %s was changed settles nothing',
  async (member) => {
    const site = await api.site();
    const body = await verifyBody(site.key);
    const other = await quoted(site.key, 'solo');
    const changed: Record<string, unknown> = {
      price: 1,
      kind: 'citation',
      network: 'eip155:1',
      asset: other.payTo,
      host: 'Elsewhere',
      expiresAt: body.quote.expiresAt + 1,
    };
    const value = member in changed ? changed[member] : other[member];
    const answer = await api.post('/_svc/verify', site.key, { ...body, quote: { ...body.quote, [member]: value } });
    expect(answer.status).toBe(member === 'host' ? 403 : 402);
    expect(asked).toEqual([]);
  },
);

test('a token of another site, or one signed by nobody we know, settles nothing', async () => {
  const site = await api.site();
  const other = await api.site();
  const foreign = await verifyBody(other.key);
  const answer = await api.post('/_svc/verify', site.key, foreign);
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
  const own = await verifyBody(site.key);
  const mixed = await api.post('/_svc/verify', site.key, {
    ...own,
    quote: { ...own.quote, quoteToken: foreign.quote.quoteToken },
  });
  expect([mixed.status, mixed.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  expect(asked).toEqual([]);
});

test('a bare price is accepted while it, or its former one of the last 10 minutes, is in force', async () => {
  const site = await api.site();
  const { payTo: to, price, legs, resource } = await quoted(site.key);
  const body = { payment: await pay(to, price), legs, quote: { price }, resource };
  expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.002' } });
  expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  api.time.offsetMs = 601_000;
  const late = await api.post('/_svc/verify', site.key, body);
  expect([late.status, late.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  const unnamed = await api.post('/_svc/verify', site.key, { ...body, resource: undefined });
  expect([unnamed.status, unnamed.body.ok]).toEqual([400, false]);
});

test('a payment taken in keeps the terms of its intake: repeated after quote and price have ended, it still reaches its answer', async () => {
  const site = await api.site();
  const { payTo: to, price, legs, resource } = await quoted(site.key);
  const bare = { payment: await pay(to, price), legs, quote: { price }, resource };
  const full = await verifyBody(site.key);
  for (const body of [bare, full]) {
    expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
    await takeIn(api, asked.at(-1) as SettleRequest);
  }
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.7' } });
  api.time.offsetMs = 3_600_000;
  for (const body of [bare, full]) expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  expect(await failures(site.tenantId)).toEqual([]);
  expect(asked.slice(2).map(({ terms }) => [terms.payTo, terms.priceMicro])).toEqual(
    asked.slice(0, 2).map(({ terms }) => [terms.payTo, terms.priceMicro]),
  );
  const fresh = await api.post('/_svc/verify', site.key, { ...full, payment: await pay(to, price) });
  expect([fresh.status, fresh.headers.get('x-svc-error-code')]).toEqual([402, 'quote_expired']);
});

test('an authorization that another site took in does not lend its time and its terms: the quote is refused as anybody’s would be', async () => {
  const [first, second] = [await api.site(), await api.site()];
  const quote = await quoted(first.key);
  const payment = await pay(quote.payTo, quote.price);
  const sale = { payment, legs: quote.legs, quote: { price: quote.price }, resource: quote.resource };
  expect((await api.post('/_svc/verify', first.key, sale)).status).toBe(200);
  await takeIn(api, asked.at(-1) as SettleRequest);
  const { price, legs, resource } = await quoted(second.key);
  await setPricing(api.deps, { tenantId: second.tenantId, pricing: { priceUsdc: '0.7' } });
  api.time.offsetMs = 601_000;
  const answer = await api.post('/_svc/verify', second.key, { payment, legs, quote: { price }, resource });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  expect(await failures(second.tenantId)).toEqual(['authorization_invalid']);
  expect(asked).toHaveLength(1);
});

test('among former versions of one price, the one whose recipient was paid is settled', async () => {
  const site = await api.site();
  const before = await quoted(site.key);
  const creditsInline = { trio: { contributors: [{ authorId: 'new', wallet: `0x${'8'.repeat(40)}` }] } };
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { creditsInline } });
  const body = {
    payment: await pay(before.payTo, before.price),
    legs: before.legs,
    quote: { price: before.price },
    resource: before.resource,
  };
  expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  expect(asked[0]?.terms.payTo).toBe(before.payTo.toLowerCase());
});

test('legs in another order and merged are the same; another amount, address or sum is refused and counted', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  const [first, ...rest] = body.quote.legs as { toAddress: string; amountMicro: number }[];
  const halves = [
    { ...first, amountMicro: first!.amountMicro - 1 },
    ...rest,
    { toAddress: first!.toAddress.toLowerCase(), amountMicro: 1 },
  ];
  expect((await api.post('/_svc/verify', site.key, { ...body, legs: halves.reverse() })).status).toBe(200);
  const wrong = [
    [],
    [first],
    [{ ...first, amountMicro: first!.amountMicro + 1 }, ...rest],
    [{ ...first, toAddress: `0x${'7'.repeat(40)}` }, ...rest],
  ];
  for (const legs of wrong) {
    const answer = await api.post('/_svc/verify', site.key, { ...body, legs });
    expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
    expect(answer.headers.get('payment-response')).toBe(answer.headers.get('x-payment-response'));
  }
  expect(await failures(site.tenantId)).toEqual(wrong.map(() => 'authorization_invalid'));
});

test('bodies of the wrong shape are 400 with ok false and count nothing', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  const wrong = [
    { ...body, payment: '' },
    { ...body, payment: undefined },
    { ...body, legs: {} },
    { ...body, legs: [{ toAddress: '0x1', amountMicro: 1 }] },
    { ...body, legs: [{ toAddress: body.quote.payTo, amountMicro: 1.5 }] },
    { ...body, quote: {} },
    { ...body, quote: 'none' },
    { ...body, resource: 'not a url' },
    { ...body, agent: { verified: 'yes' } },
    [],
  ];
  for (const one of wrong)
    expect(await api.post('/_svc/verify', site.key, one)).toMatchObject({ status: 400, body: { ok: false } });
  expect(await failures(site.tenantId)).toEqual([]);
});

test('a payment that cannot be read is 402 malformed_payment, counted once an attempt', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  for (const payment of ['not base64 at all!', Buffer.from('[1,2]').toString('base64'), '{}']) {
    const answer = await api.post('/_svc/verify', site.key, { ...body, payment });
    expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'malformed_payment']);
  }
  expect(await failures(site.tenantId)).toEqual(['malformed_payment', 'malformed_payment', 'malformed_payment']);
});

test('ownership is asked before the payment is read', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  const answer = await api.post('/_svc/verify', site.key, {
    ...body,
    payment: 'garbage',
    resource: 'https://stranger.example/articles/trio',
  });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
  const elsewhere = await api.post('/_svc/verify', site.key, { ...body, resource: `https://${site.host}/articles/solo` });
  expect([elsewhere.status, elsewhere.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
});

test('an undecided payment is 402 with Retry-After and its response header, and no offer', async () => {
  const site = await api.site();
  outcome = () => {
    throw new PaymentError('settlement_pending', 'not decided yet', 'cGVuZGluZw==', { retryAfterSeconds: 5 });
  };
  const answer = await api.post('/_svc/verify', site.key, await verifyBody(site.key));
  expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('payment-response')]).toEqual([
    402,
    '5',
    'cGVuZGluZw==',
  ]);
  expect(answer.headers.get('payment-required')).toBeNull();
  expect(answer.body).toMatchObject({ ok: false, error: 'settlement_pending: not decided yet' });
});

test('an outage is 503 with Retry-After, a defect 500 whose text stays inside', async () => {
  const site = await api.site();
  const body = await verifyBody(site.key);
  outcome = () => {
    throw new ServiceError('chain_unavailable', 'no node answers', { retryAfterSeconds: 3 });
  };
  const down = await api.post('/_svc/verify', site.key, body);
  expect([down.status, down.headers.get('retry-after'), down.body]).toEqual([
    503,
    '3',
    { ok: false, error: 'chain_unavailable: no node answers', next: { action: 'wait', seconds: 3 } },
  ]);
  outcome = () => {
    throw new Error('secret detail');
  };
  const defect = await api.post('/_svc/verify', site.key, body);
  expect([defect.status, defect.body.ok]).toEqual([500, false]);
  expect(JSON.stringify(defect.body)).not.toContain('secret detail');
  expect(api.problems.splice(0)).toHaveLength(1);
});

test('a free page, or a site that only observes, has no price to settle', async () => {
  const site = await api.site({ pricing: { ...ALPHA_PRICING, priceUsdc: '0' } });
  const resource = `https://${site.host}/articles/trio`;
  const answer = await api.post('/_svc/verify', site.key, {
    payment: await pay(`0x${'1'.repeat(40)}`, 1000),
    legs: [],
    quote: { price: 1000 },
    resource,
  });
  expect([answer.status, asked.length]).toEqual([402, 0]);
});
