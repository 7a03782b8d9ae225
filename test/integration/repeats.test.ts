/** A payment that was taken in has its answer whatever the rate of its key; what was not taken in has no such right. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { startTestApi } from '../support/api.ts';
import { newAccount, signPayment } from '../support/payments.ts';

const perSecond = { address: 1_000, refused: 1_000, key: 4, tenant: 400, account: 1, account_address: 1 };
let api: Awaited<ReturnType<typeof startTestApi>>;
let settled = 0;

beforeAll(async () => {
  api = await startTestApi({ rates: { perSecond, burstSeconds: 10 }, settle });
});
afterAll(() => api.stop());
// Buckets fill while time passes: it stands still, so that nothing depends on how fast the machine is.
beforeEach(() => {
  api.time.stoppedAtMs = Date.now();
});

/** Stands for the settlement service: takes the payment in, as far as a repeated call reads its row. */
async function settle({ tenantId, terms, payment }: SettleRequest): Promise<SettleReceipt> {
  const { from, to, nonce } = payment.authorization;
  const legs = JSON.stringify(terms.legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() })));
  const paymentId = randomUUID();
  const key = [terms.network, terms.asset, from, nonce, tenantId, paymentId];
  await api.deps.database.transaction(async (sql) => {
    const claimed = await sql.query(
      'insert into authorization_claim values (authorization_digest($1, $2, $3, $4), $5, $6) on conflict do nothing returning 1',
      key,
    );
    if (claimed.length === 0) return;
    await sql.query(
      `insert into test.payment (network, asset, payer, nonce, tenant_id, payment_id, pay_to, valid_after, valid_before, signature, x402_version,
         host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, state)
       values ($1, $2, $3, $4, $5, $6, $7, 0, 1, decode(substr($8, 3), 'hex'), 2, 'h', 's', 'r', 'k', 'read', $9, $10, $11, 'binding', 'accepted')`,
      [...key, to, payment.signature, terms.priceMicro.toString(), legs, terms.router],
    );
  });
  settled += 1;
  const answer = { settlementRef: null, settlementRefKind: 'none', responseHeader: 'cg==', licenseJws: 'a.b.c' } as const;
  return { ...answer, payer: from, chargedMicro: terms.priceMicro };
}

/** Calls of verify for a page of the site by one buyer: each a payment of its own. */
async function calls(site: { key: string }, count: number) {
  const { body: quote } = await api.request('/_svc/quote?slug=solo', { key: site.key });
  const network = api.deps.networks.first;
  const accepted = {
    scheme: 'exact',
    network: network.id,
    amount: String(quote.price),
    asset: network.asset,
    payTo: quote.payTo,
  };
  const buyer = newAccount();
  return Promise.all(
    Array.from({ length: count }, async () => {
      const to = quote.payTo.toLowerCase() as Address;
      const { authorization, signature } = await signPayment(network, buyer, { to, value: BigInt(quote.price) });
      const texts = Object.fromEntries(Object.entries(authorization).map(([name, part]) => [name, String(part)]));
      const bodyWith = (sig: string) => {
        const payload = { signature: sig, authorization: texts };
        return {
          payment: JSON.stringify({ x402Version: 2, accepted, payload }),
          legs: quote.legs,
          quote,
          resource: quote.resource,
        };
      };
      return { body: bodyWith(signature), forged: bodyWith(`${signature.slice(0, -4)}001b`) };
    }),
  );
}

/** A site whose key has used up its rate with payments that were all taken in. */
async function busySite() {
  const site = await api.site();
  // The quote is one point of forty, a payment four.
  const [taken, fresh] = [await calls(site, 9), await calls(await api.site(), 1)];
  for (const { body } of taken) expect((await api.post('/_svc/verify', site.key, body)).status).toBe(200);
  return { site, taken, fresh: fresh[0] };
}

test('a payment that was taken in is answered above the rate of its key; a new one, a forged one and another site’s are 429', async () => {
  const { site, taken, fresh } = await busySite();
  const verify = async (body: unknown, key = site.key) => (await api.post('/_svc/verify', key, body)).status;
  const before = settled;
  expect(await verify(taken[0]?.body)).toBe(200);
  expect(settled).toBe(before + 1);
  const refused = await Promise.all([verify(fresh?.body), verify(taken[0]?.forged), verify('no JSON'), verify({ payment: 7 })]);
  expect(refused).toEqual([429, 429, 429, 429]);
  const other = await busySite();
  expect(await verify(taken[0]?.body, other.site.key)).toBe(429);
});
