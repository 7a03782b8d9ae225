/** A page bought by a wallet, as the ledger has it, without a chain. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import type { NewPayment } from '../../modules/settlement/store/intake.ts';
import type { TestApi } from './buyers.ts';
import { addressOf, newAccount } from './payments.ts';
import { insertPayment } from './storePayment.ts';

/** What the chain says of a payment that settled. */
export const settledBy = (): PaymentEvent => ({
  type: 'evidence',
  transfer: { txHash: `0x${randomBytes(32).toString('hex')}`, logIndex: 0, blockNumber: 2n },
});

/** A page bought by a wallet, as the ledger has it; its licence is `jti`, null for one that was never answered. */
export async function buyPage(
  api: TestApi,
  {
    site: own,
    slug,
    payer,
  }: { readonly site: Awaited<ReturnType<TestApi['site']>>; readonly slug: string; readonly payer: string },
  changes: Partial<NewPayment> & { event?: PaymentEvent | null; jti?: string | null } = {},
) {
  const { event = settledBy(), jti = randomUUID(), ...more } = changes;
  const paymentId = randomUUID();
  const { id: network, asset, router } = api.deps.networks.first;
  const resource = `https://${own.host}/articles/${slug}`;
  const wallet = addressOf(newAccount());
  const payment: NewPayment = {
    tenantId: own.tenantId,
    paymentId,
    mode: 'live',
    network,
    asset,
    payer: payer.toLowerCase() as `0x${string}`,
    payTo: wallet,
    nonce: `0x${randomBytes(32).toString('hex')}`,
    validAfter: 0n,
    validBefore: 2_000_000_000n,
    signature: '0x00',
    payerKind: 'plain',
    x402Version: 2,
    host: own.host,
    slug,
    resource,
    resourceKey: `${own.host}/articles/${slug}`,
    kind: 'read',
    amountMicro: 1_000n,
    legs: [{ toAddress: wallet, amountMicro: 1_000n, role: 'author', share: 1 }],
    legWords: null,
    router,
    binding: paymentId,
    purpose: 'page',
    accountId: null,
    licenceOfferId: null,
    agent: { label: 'other' },
    keyId: null,
    quoteId: 'q',
    plannedGas: 120_000n,
    unusedAtBlock: 1n,
    ...more,
  };
  await insertPayment(api.deps.database, payment, () => ({ state: 'accepted' }));
  if (event) await applyEvents(api.deps.database, [{ tenantId: own.tenantId, paymentId, event }]);
  if (event && jti !== null) {
    const nowSeconds = Math.floor(api.deps.clock() / 1_000);
    await api.deps.database.query(
      `update payment_state set licence_jti = $3, licence_issued_at = $4::bigint, licence_expires_at = $4::bigint + 600, licence_kid = $5
        where tenant_id = $1 and payment_id = $2`,
      [own.tenantId, paymentId, jti, nowSeconds, api.deps.keyring.current().kid],
    );
  }
  return { paymentId, jti };
}
