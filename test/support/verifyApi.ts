/** Payments for the REST API of `startTestApi`, whose settlement service is a test's own. */
import { randomUUID } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import type { startTestApi } from './api.ts';
import { signPayment } from './payments.ts';

type TestApi = Awaited<ReturnType<typeof startTestApi>>;

/** A v2 payload of a buyer for this recipient and value on the first network, signed, as its header carries it. */
export async function payTo(api: TestApi, buyer: PrivateKeyAccount, to: string, value: number): Promise<string> {
  const network = api.deps.networks.first;
  const asked = { to: to.toLowerCase() as Address, value: BigInt(value) };
  const { authorization, signature } = await signPayment(network, buyer, asked);
  const text = Object.fromEntries(Object.entries(authorization).map(([name, part]) => [name, String(part)]));
  const accepted = {
    scheme: 'exact',
    network: network.id,
    amount: String(value),
    asset: network.asset,
    payTo: to,
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  };
  return Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: { signature, authorization: text } })).toString(
    'base64',
  );
}

/** What settling answers for a payment that met its terms. */
export function receiptOf({ payment, terms }: SettleRequest): SettleReceipt {
  return {
    settlementRef: `0x${'1'.repeat(64)}`,
    settlementRefKind: 'txHash',
    payer: payment.authorization.from,
    responseHeader: 'cmVzcG9uc2U=',
    licenseJws: 'a.b.c',
    chargedMicro: terms.priceMicro,
  };
}

/** The row that the settlement service writes at intake, as far as a repeated call reads it. */
export async function takeIn(api: TestApi, { tenantId, terms, payment }: SettleRequest): Promise<void> {
  const { from, to, nonce } = payment.authorization;
  const paymentId = randomUUID();
  const legs = terms.legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() }));
  await api.deps.database.transaction(async (sql) => {
    await sql.query(
      `insert into test.payment (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
         x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, state)
       values ($1, $2, $3, $4, $5, $6, $7, 0, 1, '0x', 2, $8, $9, $10, $11, $12, $13, $14, $15, 'binding', 'accepted')`,
      [
        tenantId,
        paymentId,
        terms.network,
        terms.asset,
        from,
        to,
        nonce,
        terms.host,
        terms.slug,
        terms.resource,
        terms.resourceKey,
        terms.kind,
        terms.priceMicro.toString(),
        JSON.stringify(legs),
        terms.router,
      ],
    );
    await sql.query(
      'insert into authorization_claim (digest, tenant_id, payment_id) values (authorization_digest($1, $2, $3, $4), $5, $6)',
      [terms.network, terms.asset, from, nonce, tenantId, paymentId],
    );
  });
}
