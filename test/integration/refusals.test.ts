/** What a refused payment is answered, counted and written as: the same by both APIs that take payments. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { newAccount, newWallet, signPayment } from '../support/payments.ts';

let api: TestApi;
let outcomes: string[] = [];
beforeAll(async () => {
  const metrics = {
    count: (name: string, _by?: number, labels?: Readonly<Record<string, string>>) =>
      void (name === 'svc.settle.outcome' && outcomes.push(String(labels?.['reason']))),
    record: () => undefined,
  };
  api = await startTestApi({ metrics, testKeysEnabled: true });
});
beforeEach(() => {
  outcomes = [];
});
afterAll(() => api.stop());

const buyer = newAccount();

/** A signed payment of either version, as its header carries it. */
async function paid(x402Version: 1 | 2, to: Address = newWallet(), value = 1_000n): Promise<string> {
  const network = api.deps.networks.first;
  const { authorization, signature } = await signPayment(network, buyer, { to, value });
  const text = Object.fromEntries(Object.entries(authorization).map(([name, part]) => [name, String(part)]));
  const payload = { signature, authorization: text };
  const accepted = {
    scheme: 'exact',
    network: network.id,
    amount: String(value),
    asset: network.asset,
    payTo: to,
    maxTimeoutSeconds: 300,
    extra: { name: network.assetName, version: network.assetVersion },
  };
  const body =
    x402Version === 2 ? { x402Version, accepted, payload } : { x402Version, scheme: 'exact', network: network.v1Name, payload };
  return Buffer.from(JSON.stringify(body)).toString('base64');
}

function responseOf({ headers }: { readonly headers: Headers }): { network: string; payer: string; errorReason: string } {
  const [one, other] = ['payment-response', 'x-payment-response'].map((name) => headers.get(name));
  expect(one).toBe(other);
  return JSON.parse(Buffer.from(one ?? '', 'base64').toString());
}

async function written(tenantId: string): Promise<string[]> {
  const rows = await api.deps.database.query<{ reason: string }>('select reason from observation where tenant_id = $1', [
    tenantId,
  ]);
  return rows.map(({ reason }) => reason);
}

test.each([
  [1, 'base-sepolia'],
  [2, 'eip155:84532'],
] as const)('a version %i buyer whose headers carry two payments for a licence is told %s', async (version, name) => {
  const site = await api.site();
  const { token } = await createBuyerAccount(api.deps);
  const scope = { host: site.host, scope: ['/articles/*'], terms: ['search'], periodDays: 30, kind: 'read' };
  const headers = { 'payment-signature': await paid(version), 'x-payment': await paid(version) };
  const answer = await api.post('/_svc/licenses', token, scope, headers);
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  const expected = { network: name, payer: buyer.address.toLowerCase(), errorReason: 'conflicting_headers', success: false };
  expect(responseOf(answer)).toEqual({ ...expected, transaction: '' });
  expect(answer.headers.get('cache-control')).toBe('private, no-store');
  expect(await written(site.tenantId)).toEqual(['authorization_invalid']);
  expect(outcomes).toEqual(['authorization_invalid']);
});

test('an unreadable payment is one answer to a presented payment and one observation, for a licence as for a page', async () => {
  const site = await api.site();
  const { token } = await createBuyerAccount(api.deps);
  const scope = { host: site.host, scope: ['/articles/*'], terms: ['search'], periodDays: 30, kind: 'read' };
  const licence = await api.post('/_svc/licenses', token, scope, { 'x-payment': 'e30=' });
  expect(licence.headers.get('x-svc-error-code')).toBe('malformed_payment');
  expect([outcomes, await written(site.tenantId)]).toEqual([['malformed_payment'], ['malformed_payment']]);
  const { body: quote } = await api.request('/_svc/quote?slug=solo', { key: site.key });
  const page = await api.post('/_svc/verify', site.key, { payment: 'e30=', legs: quote.legs, quote });
  expect(page.headers.get('x-svc-error-code')).toBe('malformed_payment');
  expect(responseOf(page)).toEqual(responseOf(licence));
  expect([outcomes.length, await written(site.tenantId)]).toEqual([2, ['malformed_payment', 'malformed_payment']]);
});

test('a page whose legs are not the quote’s is refused to a live key with an observation, to a test key with the same answer and none', async () => {
  const site = await api.site();
  const { token } = await mintKey(api.deps, { tenantId: site.tenantId, name: 'test', scopes: SCOPES, prefix: 'svc_test_' });
  const { body: quote } = await api.request('/_svc/quote?slug=solo', { key: site.key });
  const payment = await paid(1, quote.payTo.toLowerCase(), BigInt(quote.price));
  const sold = { payment, legs: [{ toAddress: newWallet(), amountMicro: quote.price }], quote };
  const [live, trial] = [await api.post('/_svc/verify', site.key, sold), await api.post('/_svc/verify', token, sold)];
  expect(responseOf(live)).toMatchObject({ network: 'base-sepolia', errorReason: 'legs_mismatch' });
  expect([trial.status, trial.body, responseOf(trial)]).toEqual([live.status, live.body, responseOf(live)]);
  expect(outcomes).toEqual(['authorization_invalid', 'authorization_invalid']);
  expect(await written(site.tenantId)).toEqual(['authorization_invalid']);
});
