import { Client, Connection } from '@temporalio/client';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { revokeLicence } from '../../modules/licences/use/revoke.ts';
import { payToOf } from '../../platform/chain/router/split.ts';
import { WALLETS } from '../support/api.ts';
import { saveHistory } from '../support/histories.ts';
import { call, proofOf, signInWith, stockFetch } from '../support/licences.ts';
import { addressOf, newAccount } from '../support/payments.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { base64Of, payloadFor } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
});
afterAll(() => service?.stop());

const at = (path: string): string => `${service.baseUrl}/_svc${path}`;
const wanted = (changes: Record<string, unknown> = {}) => ({
  host: site.host,
  scope: ['/articles/*'],
  terms: ['ai-input'],
  periodDays: 30,
  kind: 'read',
  ...changes,
});
async function entitled(license: string, slug: string, changes: Record<string, unknown> = {}): Promise<boolean> {
  const body = { license, resource: `https://${site.host}/articles/${slug}`, slug, ...changes };
  return (await call(at('/license/check'), { token: site.key, body })).body.entitled;
}

test('a wallet signs in, quotes a scope, buys it with the stock client, holds it, and uses it through narrowed tokens', async () => {
  const wallet = await service.payer(1_000_000n);
  const { token, accountId } = await signInWith(service.baseUrl, wallet);
  const quote = await call(at('/licenses/quote'), { body: wanted() });
  expect(quote).toMatchObject({ status: 200, body: { priceMicro: 3_000, resourceCount: 3, patterns: ['/articles/*'] } });
  const before = await balancesOf(service, WALLETS);
  const bought = await call(at('/licenses'), { token, body: wanted(), send: stockFetch(wallet) });
  expect(bought.body).toMatchObject({ priceMicro: 3_000 });
  expect(bought.status).toBe(200);
  const settlement = decodePaymentResponseHeader(bought.headers.get('payment-response') ?? '');
  expect(settlement).toMatchObject({ success: true, payer: wallet.address.toLowerCase(), amount: '3000' });
  expect(bought.headers.get('x-payment-response')).toBe(bought.headers.get('payment-response'));
  const paid = (await balancesOf(service, WALLETS)).map((balance, n) => balance - (before[n] ?? 0n));
  const expected = new Map(
    (quote.body.legs as { toAddress: string; amountMicro: number }[]).map((leg) => [
      leg.toAddress.toLowerCase(),
      BigInt(leg.amountMicro),
    ]),
  );
  expect(paid).toEqual(WALLETS.map((address) => expected.get(address) ?? 0n));
  expect(paid.reduce((sum, amount) => sum + amount, 0n)).toBe(3_000n);

  const held = await call(at('/licenses/held'), { token });
  expect(held.body.licences).toEqual([
    {
      jti: bought.body.jti,
      host: site.host,
      patterns: ['/articles/*'],
      grantedPatterns: ['/articles/duo$', '/articles/solo$', '/articles/trio$'],
      terms: ['ai-input'],
      kind: 'read',
      period: { from: expect.any(Number), until: expect.any(Number) },
      priceMicro: 3_000,
      resourceCount: 3,
      legs: quote.body.legs,
      settlementRef: settlement.transaction,
      settlementRefKind: 'txHash',
      boughtAt: expect.any(Number),
    },
  ]);
  const rows = await service.database.query<{ slug: string; micro: string; legs: string; account_id: string }>(
    `select crossing.slug, crossing.micro, (select sum(amount_micro) from leg where leg.crossing_id = crossing.crossing_id) as legs,
       payment.account_id from crossing join payment using (tenant_id, payment_id) where crossing.tenant_id = $1 and crossing.payer = $2`,
    [site.tenantId, wallet.address.toLowerCase()],
  );
  expect(rows).toEqual([{ slug: `licence:${bought.body.jti}`, micro: '3000', legs: '3000', account_id: accountId }]);

  expect([await entitled(bought.body.license, 'solo'), await entitled(bought.body.license, 'free')]).toEqual([true, false]);
  const access = await call(at(`/licenses/${bought.body.jti}/access`), { token, body: { paths: ['/articles/solo'] } });
  expect(access).toMatchObject({ status: 200, body: { patterns: ['/articles/solo$'] } });
  expect(access.body.periodUntil).toBe(held.body.licences[0].period.until);
  const narrowed = access.body.license;
  expect(await Promise.all([entitled(narrowed, 'solo'), entitled(narrowed, 'trio')])).toEqual([true, false]);
  expect(await entitled(narrowed, 'solo', { kind: 'citation' })).toBe(false);

  const connection = await Connection.connect({ address: service.temporal.address });
  const client = new Client({ connection, namespace: service.temporal.namespace });
  const workflow = client.workflow.getHandle(`licence:${bought.body.jti}`);
  expect(await workflow.result()).toMatch(/settled|final/);
  await saveHistory(client, workflow.workflowId, 'purchaseLicence');
  await connection.close();

  await revokeLicence({ database: service.database }, { tenantId: site.tenantId, jti: bought.body.jti });
  expect(await Promise.all([entitled(narrowed, 'solo'), entitled(bought.body.license, 'solo')])).toEqual([false, false]);
  expect((await call(at(`/licenses/${bought.body.jti}/access`), { token, body: {} })).status).toBe(404);
});

test('a token bound to a holder needs that wallet’s proof, which counts once', async () => {
  const [wallet, stranger] = [await service.payer(1_000_000n), newAccount()];
  const { token } = await signInWith(service.baseUrl, wallet);
  const bought = await call(at('/licenses'), { token, body: wanted({ holder: wallet.address }), send: stockFetch(wallet) });
  const { license } = bought.body;
  const proof = await proofOf(wallet, license, 'solo', 'nonce-number-1');
  expect(await entitled(license, 'solo')).toBe(false);
  expect(await entitled(license, 'solo', { proof: await proofOf(stranger, license, 'solo', 'nonce-number-2') })).toBe(false);
  expect(await entitled(license, 'trio', { proof })).toBe(false);
  expect(await entitled(license, 'solo', { proof })).toBe(true);
  expect(await entitled(license, 'solo', { proof })).toBe(false);
  const stale = await proofOf(wallet, license, 'solo', 'nonce-number-3', Math.floor(Date.now() / 1000) - 200);
  expect(await entitled(license, 'solo', { proof: stale })).toBe(false);
});

test('the same payment gets the same licence; the account’s next payment for what it holds moves nothing, another account pays', async () => {
  const [wallet, other] = [await service.payer(1_000_000n), await service.payer(1_000_000n)];
  const { token } = await signInWith(service.baseUrl, wallet);
  const offer = await call(at('/licenses'), { token, body: wanted({ scope: ['/articles/solo$'] }) });
  expect(offer.status).toBe(402);
  const [accepted] = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString()).accepts;
  const quote = { ...accepted, price: Number(accepted.amount) };
  const payment = { 'payment-signature': base64Of(await payloadFor(service, quote, wallet)) };
  const body = wanted({ scope: ['/articles/solo$'] });
  const first = await call(at('/licenses'), { token, body, headers: payment });
  expect(first.status).toBe(200);
  const again = await call(at('/licenses'), { token, body, headers: payment });
  expect(again.body).toEqual(first.body);
  const fresh = { 'payment-signature': base64Of(await payloadFor(service, quote, wallet)) };
  const repeated = await call(at('/licenses'), { token, body, headers: fresh });
  expect(repeated).toMatchObject({ status: 200, body: { jti: first.body.jti, priceMicro: 1_000 } });
  expect(decodePaymentResponseHeader(repeated.headers.get('payment-response') ?? '').amount).toBe('0');
  expect(await balancesOf(service, [wallet.address])).toEqual([999_000n]);
  expect((await call(at('/licenses/held'), { token })).body.licences).toHaveLength(1);

  const stranger = await signInWith(service.baseUrl, other);
  const stolen = await call(at('/licenses'), { token: stranger.token, body, headers: payment });
  expect(stolen).toMatchObject({
    status: 402,
    body: { x402Version: 1, error: expect.stringContaining('authorization_invalid') },
  });
  expect((await call(at(`/licenses/${first.body.jti}/access`), { token: stranger.token, body: {} })).status).toBe(404);
  const own = await call(at('/licenses'), { token: stranger.token, body, send: stockFetch(other) });
  expect(own.status).toBe(200);
  expect(own.body.jti).not.toBe(first.body.jti);
});

test('an Idempotency-Key and a payment-identifier belong to one payment: another one with it is 409, the same one its answer', async () => {
  const wallet = await service.payer(1_000_000n);
  const { token } = await signInWith(service.baseUrl, wallet);
  const body = wanted({ scope: ['/articles/duo$'] });
  const offer = await call(at('/licenses'), { token, body });
  const [accepted] = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString()).accepts;
  const quote = { ...accepted, price: Number(accepted.amount) };
  const extensions = { 'payment-identifier': { info: { id: `pay_${'7'.repeat(28)}` }, schema: {} } };
  const named = { ...(await payloadFor(service, quote, wallet)), extensions };
  const buy = async (payload: unknown, headers: Record<string, string> = {}) =>
    call(at('/licenses'), { token, body, headers: { 'payment-signature': base64Of(payload), ...headers } });
  const first = await buy(named, { 'idempotency-key': 'one' });
  expect(first.status).toBe(200);
  const repeated = await buy(named, { 'idempotency-key': 'one' });
  expect(repeated.body).toEqual(first.body);
  expect(repeated.headers.get('payment-response')).toBe(first.headers.get('payment-response'));
  const other = await payloadFor(service, quote, wallet);
  const conflicts = [await buy(other, { 'idempotency-key': 'one' }), await buy({ ...other, extensions })];
  expect(conflicts.map(({ status, headers }) => [status, headers.get('x-svc-error-code')])).toEqual([
    [409, 'idempotency_conflict'],
    [409, 'idempotency_conflict'],
  ]);
  const bare = await buy({ ...other, extensions: { 'payment-identifier': { info: { required: true } } } });
  expect([bare.status, bare.headers.get('x-svc-error-code')]).toEqual([400, 'invalid_parameter']);
  const both = await buy(named, { 'x-payment': base64Of(other) });
  expect([both.status, both.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  expect((await buy(named, { 'x-payment': base64Of(named) })).body).toEqual(first.body);
});

test('a payment that is refused gets the reason and a fresh offer; one that is wrong moves nothing', async () => {
  const poor = newAccount();
  const { token } = await signInWith(service.baseUrl, poor);
  const body = wanted({ scope: ['/articles/trio$'] });
  const offer = await call(at('/licenses'), { token, body });
  const [accepted] = JSON.parse(Buffer.from(offer.headers.get('payment-required') ?? '', 'base64').toString()).accepts;
  const quote = { ...accepted, price: Number(accepted.amount) };
  const buy = async (payload: unknown) =>
    call(at('/licenses'), { token, body, headers: { 'payment-signature': base64Of(payload) } });
  const broke = await buy(await payloadFor(service, quote, poor));
  expect([broke.status, broke.headers.get('x-svc-error-code')]).toEqual([402, 'insufficient_funds']);
  expect(decodePaymentResponseHeader(broke.headers.get('payment-response') ?? '')).toMatchObject({ success: false });
  expect(broke.headers.get('payment-required')).not.toBeNull();
  expect(broke.body).toMatchObject({ x402Version: 1, licence: { priceMicro: 1_000 } });
  for (const changes of [{ value: 999n }, { to: addressOf(newAccount()) }, { validBefore: 1n }]) {
    const wrong = await buy(await payloadFor(service, quote, poor, changes));
    expect([wrong.status, wrong.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
  }
  expect((await call(at('/licenses/held'), { token })).body).toEqual({ licences: [] });
});

test('the stock v1 client buys up to its cap and refuses more by itself; the v2 client refuses more than a dollar', async () => {
  const wallet = await service.payer(10_000_000n);
  const dear = await service.site({
    pricing: { priceUsdc: '0.03', articlePrefixes: ['/articles/'], creditsInline: pagesOf(40) },
  });
  const { token } = await signInWith(service.baseUrl, wallet);
  const body = (scope: string[]) => wanted({ host: dear.host, scope });
  const v1 = wrapFetchV1(fetch, wallet as never) as typeof fetch;
  const bought = await call(at('/licenses'), {
    token,
    body: body(['/articles/p0$', '/articles/p1$', '/articles/p2$']),
    send: v1,
  });
  expect(bought).toMatchObject({ status: 200, body: { priceMicro: 90_000 } });
  await expect(call(at('/licenses'), { token, body: body(['/articles/p1*']), send: v1 })).rejects.toThrow(/maximum/);
  await expect(call(at('/licenses'), { token, body: body(['/articles/*']), send: stockFetch(wallet) })).rejects.toThrow();
  const offer = await call(at('/licenses'), { token, body: body(['/articles/*']) });
  expect(offer.body.error).toMatch(/over the default limit of stock clients/);
  expect(offer.body.licence).toMatchObject({ priceMicro: 1_200_000, resourceCount: 40 });
});

test('fifty authors fit into one offer, whose legs stand at their own address and lead to the recipient', async () => {
  const wallet = await service.payer(1_000_000n);
  const many = await service.site({ pricing: { priceUsdc: '0.001', articlePrefixes: ['/'], creditsInline: pagesOf(50) } });
  const { token } = await signInWith(service.baseUrl, wallet);
  const body = wanted({ host: many.host, scope: ['/'] });
  const offer = await call(at('/licenses'), { token, body });
  const header = offer.headers.get('payment-required') ?? '';
  expect(header.length).toBeLessThan(8_192);
  const { accepts, extensions } = JSON.parse(Buffer.from(header, 'base64').toString());
  const legs = await call(`${service.baseUrl}${new URL(extensions['svc-legs'].info.legsUrl).pathname}`);
  const payees = legs.body.legs.map((leg: { toAddress: string; weight: string }) => ({
    wallet: leg.toAddress,
    weight: BigInt(leg.weight),
  }));
  expect(payees).toHaveLength(50);
  expect(payToOf(payees, service.chain.router).payTo).toBe(accepts[0].payTo.toLowerCase());
  const bought = await call(at('/licenses'), { token, body, send: stockFetch(wallet) });
  expect(bought.status).toBe(200);
  const wallets = Object.values(pagesOf(50)).map((page) => page.contributors[0]?.wallet ?? '');
  expect(new Set(await balancesOf(service, wallets))).toEqual(new Set([1_000n]));
});

/** So many pages, each by an author of its own; the first 40 wallets are those of the dear site, too. */
function pagesOf(count: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `p${n}`,
      { contributors: [{ authorId: `a${n}`, wallet: `0x${(count * 1_000 + n).toString(16).padStart(40, '7')}` }] },
    ]),
  );
}
