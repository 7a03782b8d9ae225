import { storedAgent } from '../../modules/gate/rules/agent.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { NewPayment as NewRow } from '../../modules/settlement/store/intake.ts';
import type { Place } from './sqlStore.ts';
import type { NewPayment } from './store.ts';

/** A simulated payment as intake takes it: names stand for addresses, which the ledger only compares. */
export function newPaymentRow(place: Place, paymentId: string, payment: NewPayment): NewRow {
  const { auth, legs } = payment;
  return {
    tenantId: place.tenantId,
    paymentId,
    mode: 'live',
    network: place.network,
    asset: '0xasset',
    payer: auth.payer,
    payTo: auth.to,
    nonce: auth.nonce,
    validAfter: BigInt(auth.validAfter),
    validBefore: BigInt(auth.validBefore),
    signature: '0x',
    payerKind: payment.payerKind,
    x402Version: 2,
    host: 'alpha.example',
    slug: payment.resource,
    resource: `https://alpha.example/${payment.resource}`,
    resourceKey: `alpha.example/${payment.resource}`,
    kind: payment.kind,
    amountMicro: BigInt(auth.value),
    legs: legs.map(({ toAddress, amountMicro }) => ({
      toAddress: toAddress as Address,
      amountMicro,
      role: 'author',
      share: 1 / legs.length,
    })),
    legWords: legs.length === 1 ? null : legs.map((leg) => leg.toAddress as `0x${string}`),
    router: '0xrouter',
    binding: payment.id,
    purpose: 'page',
    accountId: null,
    licenceOfferId: null,
    agent: storedAgent({}, 'other'),
    unusedAtBlock: BigInt(payment.seenBlock),
    keyId: null,
    quoteId: payment.id,
    plannedGas: 120_000n,
  };
}
