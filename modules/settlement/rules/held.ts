/** What becomes of the payments that wait behind another one of the same purchase (safety 14). Pure. */

import type { PaymentState } from '../../kernel/payment/state.ts';
import { isSettled } from '../../kernel/payment/state.ts';
import { isLeading } from './guard.ts';

/** A payment of one purchase (payer, resource, kind, mode and amount), as the code that decides held payments reads it under its lock. */
export interface Waiting {
  readonly paymentId: string;
  readonly state: PaymentState;
  readonly acceptedAtMs: number;
  /** When the settlement that stands was decided, epoch ms; null in states that are not settled. */
  readonly decidedAtMs: number | null;
}

/** What a held payment becomes. */
export type HeldDecision =
  /** A sale settled while it waited: it is never sent, and that sale's receipt answers. */
  | { readonly kind: 'superseded'; readonly successorId: string }
  /** Nothing of the purchase is on its way, and it is the oldest that waits: it goes out itself. */
  | { readonly kind: 'released' }
  | { readonly kind: 'waits' };

/**
 * Decides one held payment by everything else of its purchase. Only a sale that settled after the payment was accepted answers
 * for it: an older one was there when the guard let it in, and said nothing. Ask again after each decision, with it applied:
 * what was released leads the others.
 */
export function nextHeld(held: Waiting, siblings: readonly Waiting[]): HeldDecision {
  const others = siblings.filter(({ paymentId }) => paymentId !== held.paymentId);
  const sale = others.find(({ state, decidedAtMs }) => isSettled(state) && (decidedAtMs ?? 0) >= held.acceptedAtMs);
  if (sale) return { kind: 'superseded', successorId: sale.paymentId };
  const isFirst = others.every((other) => other.state !== 'held' || isOlder(held, other));
  return isFirst && !others.some(isLeading) ? { kind: 'released' } : { kind: 'waits' };
}

function isOlder(a: Waiting, b: Waiting): boolean {
  return a.acceptedAtMs < b.acceptedAtMs || (a.acceptedAtMs === b.acceptedAtMs && a.paymentId < b.paymentId);
}
