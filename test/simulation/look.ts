import type { Sight, Simulation } from '../../modules/kernel/payment/sight.ts';
import type { JudgedPayment, Moment } from '../../modules/settlement/rules/judge.ts';
import { spendingIn } from '../../platform/chain/evidence/spending.ts';
import type { View } from './chain.ts';
import { evidenceIn } from './logs.ts';
import { RESOURCES, TWO_CONFIRMATIONS_MICRO } from './scenario.ts';
import type { PaymentRow } from './store.ts';
import { authorizationKey, whyRefused } from './token.ts';
import type { World } from './world.ts';

/** A payment as the service's judgement takes it. */
export function judgedOf(row: PaymentRow): JudgedPayment {
  const { auth, payerKind, facts } = row;
  return {
    facts,
    payerKind,
    payTo: auth.to,
    amountMicro: BigInt(auth.value),
    validAfter: BigInt(auth.validAfter),
    validBefore: BigInt(auth.validBefore),
    acceptedAt: new Date(0), // whose delay an end was changes a reason, and no money
  };
}

/** This moment: blocks of two seconds, one confirmation for small amounts and two for large ones. */
export function momentOf(world: World): Moment {
  const confirmationsFor = (amountMicro: bigint): number => (amountMicro >= TWO_CONFIRMATIONS_MICRO ? 2 : 1);
  return { seconds: world.nowSeconds, blockTimeMs: 2_000, confirmationsFor };
}

/** What nobody has looked at yet. */
export const UNSEEN: Sight = {
  head: 0n,
  nonce: 'unused',
  safe: null,
  spending: null,
  carrier: null,
  simulation: null,
  rail: null,
};

/** Reads what one node shows of a payment's authorization, as `platform/chain/evidence/sight.ts` does: where its log is missing, only that it is used. */
export function look(world: World, view: View, row: PaymentRow, atSafe: boolean): Sight {
  const receipt = view.spentIn(authorizationKey(row.auth.payer, row.auth.nonce));
  const isShown = receipt !== null && !world.isMissing();
  const isUnusedAtSafe = atSafe && (receipt === null || receipt.block > view.safe);
  return {
    ...UNSEEN,
    head: BigInt(view.head),
    nonce: receipt ? 'used' : 'unused',
    safe: { blockNumber: BigInt(view.safe), timeSeconds: BigInt(view.safeTime), nonce: isUnusedAtSafe ? 'unused' : 'used' },
    spending: isShown ? spendingIn(evidenceIn(receipt), row.auth, BigInt(receipt.time)) : null,
  };
}

/** What executing it now would do, by the node that is asked; null when that node says its nonce is used. */
export function simulateOne(world: World, view: View, row: PaymentRow): Simulation | null {
  const why = whyRefused(view.token, row.auth, world.nowSeconds + 1, true);
  if (why === 'nonce_used') return null;
  const authors = RESOURCES.find(({ name }) => name === row.resource)?.authors ?? [];
  if (why === null)
    return authors.some((author) => view.token.blocked.has(author)) ? { kind: 'payee_blocked' } : { kind: 'passed' };
  if (why === 'blocked') return { kind: 'payee_blocked' };
  const reason = why === 'insufficient_funds' ? why : 'authorization_invalid';
  return { kind: 'refused', reason, raw: why };
}
