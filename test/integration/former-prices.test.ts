/** A price changes between offer and payment: what is taken, for what, and what a refusal offers instead. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import type { ALPHA_PRICING } from '../support/api.ts';
import { startTestApi } from '../support/api.ts';
import { newAccount } from '../support/payments.ts';
import { payTo, receiptOf, takeIn } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let asked: SettleRequest[] = [];
let outcome: (request: SettleRequest) => SettleReceipt = settled;
const buyer = newAccount();

beforeAll(async () => {
  api = await startTestApi({
    settle: async (request) => {
      asked.push(request);
      return outcome(request);
    },
  });
});
beforeEach(() => {
  asked = [];
  outcome = settled;
  Object.assign(api.time, { offsetMs: 0, stoppedAtMs: null });
});
afterAll(() => api.stop());

/** As the settlement service does: what was signed is what the terms say, or is refused. */
function settled(request: SettleRequest): SettleReceipt {
  const { payment, terms } = request;
  const { to, value } = payment.authorization;
  if (to === terms.payTo && value === terms.priceMicro) return receiptOf(request);
  throw new PaymentError('authorization_invalid', 'the signed value differs from the price', 'cmVmdXNlZA==');
}

type Site = Awaited<ReturnType<typeof api.site>>;
const pay = (to: string, value: number): Promise<string> => payTo(api, buyer, to, value);
const quote = async ({ key }: Site, query = '') => (await api.request(`/_svc/quote?slug=trio${query}`, { key })).body;
// biome-ignore lint/suspicious/noExplicitAny: a quote as the API answers it
const verify = (site: Site, sent: any, payment: string) =>
  api.post('/_svc/verify', site.key, { payment, quote: sent, legs: sent.legs, resource: `https://${site.host}/articles/trio` });

/** Changes what a site charges, and gives the quote that is made from then on. */
async function charge(site: Site, pricing: Partial<typeof ALPHA_PRICING> | { priceUsdc: string }, query = '') {
  const before = await quote(site, query);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing });
  const changed = async () => {
    const { price, payTo: to } = await quote(site, query);
    return price !== before.price || to !== before.payTo;
  };
  await expect.poll(changed).toBe(true);
  return quote(site, query);
}

test('a payment for the former price is taken within ten minutes, whatever quote of the page is sent with it', async () => {
  const site = await api.site();
  const former = await quote(site);
  const present = await charge(site, { priceUsdc: '0.002' });
  for (const sent of [present, former, { price: 2_000, legs: present.legs }, { price: 1_000, legs: former.legs }]) {
    for (const price of [1_000, 2_000]) {
      const answer = await verify(site, sent, await pay(former.payTo, price));
      expect([answer.status, answer.body.chargedMicro]).toEqual([200, String(price)]);
    }
  }
  expect(asked.slice(0, 2).map(({ terms }) => terms.legs.map(({ amountMicro }) => amountMicro))).toEqual([
    [500n, 300n, 200n],
    [1_000n, 600n, 400n],
  ]);
  api.time.offsetMs = 601_000;
  const late = await verify(site, await quote(site), await pay(former.payTo, 1_000));
  expect([late.status, late.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
});

test('after an edit of the authors a payment to the former ones is theirs, with the legs of the quote that was sent', async () => {
  const site = await api.site();
  const former = await quote(site);
  const creditsInline = { trio: { contributors: [{ authorId: 'new', wallet: `0x${'9'.repeat(40)}` }] } };
  const present = await charge(site, { creditsInline } as never);
  const payment = await pay(former.payTo, 1_000);
  expect((await verify(site, present, payment)).status).toBe(200);
  expect(asked[0]?.terms).toMatchObject({ payTo: former.payTo.toLowerCase(), payees: [{ share: 0.5 }, {}, {}] });
  const mixed = await verify(site, { ...present, legs: former.legs }, payment);
  expect([mixed.status, mixed.body.error]).toEqual([402, 'authorization_invalid: the legs differ from those of the quote']);
});

test('no price is taken that the page did not have, and a citation never costs what a read cost', async () => {
  const site = await api.site();
  const [read, citation] = [await quote(site), await quote(site, '&kind=citation')];
  const dearer = await charge(site, { priceUsdc: '0.005' });
  const dearerCitation = await quote(site, '&kind=citation');
  expect([read.price, citation.price, dearer.price, dearerCitation.price]).toEqual([1_000, 5_000, 5_000, 25_000]);
  const status = async (sent: object, value: number) => (await verify(site, sent, await pay(read.payTo, value))).status;
  for (const value of [999, 1_001, 4_999, 25_000]) expect(await status(dearer, value)).toBe(402);
  for (const value of [1_000, 4_999]) expect(await status(dearerCitation, value)).toBe(402);
  expect(await status(dearerCitation, 5_000)).toBe(200); // what the citation cost a moment ago
  expect(asked.at(-1)?.terms).toMatchObject({ kind: 'citation', priceMicro: 5_000n });
  const solo = (await api.request('/_svc/quote?slug=solo', { key: site.key })).body;
  expect((await verify(site, dearer, await pay(solo.payTo, 1_000))).status).toBe(402);
});

test('a payment that was taken for a former price keeps its answer when it is shown again with a later quote', async () => {
  const site = await api.site();
  const former = await quote(site);
  const payment = await pay(former.payTo, 1_000);
  expect((await verify(site, await charge(site, { priceUsdc: '0.002' }), payment)).status).toBe(200);
  await takeIn(api, asked[0] as SettleRequest);
  await charge(site, { priceUsdc: '0.003' });
  api.time.offsetMs = 3_600_000;
  const later = await quote(site);
  expect((await verify(site, later, payment)).status).toBe(200);
  const [first, second] = asked.map(({ terms }) => [terms.resourceKey, terms.priceMicro, terms.payTo, terms.legs]);
  expect(second).toMatchObject(first as object);
  // Shown for a citation of the page it bought nothing, and nobody else's quote lends it a price.
  expect((await verify(site, await quote(site, '&kind=citation'), payment)).status).toBe(402);
  expect((await verify(site, later, await pay(former.payTo, 1_000))).status).toBe(402);
});

test('every refusal carries the page’s present offer with its reason, as GET quote builds it', async () => {
  const site = await api.site();
  const sent = await quote(site);
  const good = await pay(sent.payTo, sent.price);
  const refusals = [
    () => verify(site, sent, 'garbage'),
    () => verify(site, { ...sent, legs: [] }, good),
    () => verify(site, { price: 7, legs: [] }, good),
    () => verify(site, sent, good),
  ];
  outcome = () => {
    throw new PaymentError('insufficient_funds', 'the payer has too little USDC', 'cmVmdXNlZA==');
  };
  for (const refusal of refusals) {
    const { status, headers, body } = await refusal();
    const expected = await quote(site, `&build=402&error=${encodeURIComponent(body.error)}`);
    expect([status, headers.get('payment-required')]).toEqual([402, expected.x402.header]);
  }
});

test('a refusal carries no offer where none may be paid: undecided, an outage, or a page without a price', async () => {
  const site = await api.site();
  const sent = await quote(site);
  const payment = await pay(sent.payTo, sent.price);
  const offerAfter = async (error: ServiceError): Promise<string | null> => {
    outcome = () => {
      throw error;
    };
    return (await verify(site, sent, payment)).headers.get('payment-required');
  };
  expect(await offerAfter(new PaymentError('settlement_pending', 'wait', null))).toBeNull();
  expect(await offerAfter(new ServiceError('chain_unavailable', 'no node answers'))).toBeNull();
  const refusedOf = new PaymentError('settlement_failed', 'it reverted', null);
  expect(await offerAfter(refusedOf)).toMatch(/^ey/);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0' } });
  await expect.poll(() => offerAfter(refusedOf)).toBeNull();
});
