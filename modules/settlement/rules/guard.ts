import type { PaymentState } from '../../kernel/payment/state.ts';
import { isSettled, LEADING_STATES } from '../../kernel/payment/state.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** Another payment of the same payer for the same resource and kind, as the guard sees it under its lock. */
export interface Sibling {
  readonly paymentId: string;
  readonly state: PaymentState;
  readonly amountMicro: bigint;
  /** When it was settled for the first time, epoch ms, whatever a reorganisation did to it later; null before. */
  readonly settledAtMs: number | null;
  /** End of the licence it was answered with, epoch seconds; null while no success was answered. */
  readonly licenceExpiresAtSeconds: number | null;
  /** True where its page is owed to its payer (`owed.ts`); false unless told. */
  readonly isOwed?: boolean;
}

/** What a new authorization of a payer becomes (safety 14). */
export type GuardDecision =
  | { readonly state: 'accepted' }
  /** An open purchase is undecided: stored, not sent. */
  | { readonly state: 'held' }
  /** Nothing will move: `successorId`'s receipt answers, or with `repeatsLicence` a fresh licence under it; `isOwed`: which its wallet is owed. */
  | { readonly state: 'superseded'; readonly successorId: string; readonly repeatsLicence: boolean; readonly isOwed?: true };

/** How long after its settlement a citation still answers for another authorization of the same purchase. */
export const CITATION_GUARD_MS = 10_000;

/**
 * The open-purchase guard (safety 14): the same payer, resource, kind and amount pay once while a purchase is undecided;
 * a live re-read licence repeats itself; a citation answers for ten seconds. Any undecided payment that is not itself
 * held guards, one that a reorg took back included. A sale whose page is owed gives it for nothing, whatever the page costs now.
 */
export function guardPurchase(
  purchase: { readonly kind: CrossingKind; readonly amountMicro: bigint },
  siblings: readonly Sibling[],
  now: { readonly ms: number; readonly licenceLifeSeconds: number },
): GuardDecision {
  const same = siblings.filter((sibling) => sibling.amountMicro === purchase.amountMicro);
  const owed = siblings.find(({ state, isOwed }) => isSettled(state) && isOwed === true);
  if (!owed && same.some(isLeading)) return { state: 'held' };
  if (purchase.kind === 'read') {
    const live = siblings.find((sibling) => isSettled(sibling.state) && licenceEndMs(sibling, now.licenceLifeSeconds) > now.ms);
    if (live) return { state: 'superseded', successorId: live.paymentId, repeatsLicence: true };
  } else {
    const recent = same.find((sibling) => isSettled(sibling.state) && (sibling.settledAtMs ?? 0) > now.ms - CITATION_GUARD_MS);
    if (recent) return { state: 'superseded', successorId: recent.paymentId, repeatsLicence: false };
  }
  return owed ? { state: 'superseded', successorId: owed.paymentId, repeatsLicence: true, isOwed: true } : { state: 'accepted' };
}

/**
 * The guard of a licence purchase (safety 14): the same payer and request pay once while a purchase is undecided; a held licence
 * of the account that covers everything asked (`coveredBy`, the payment that bought it) answers, and nothing moves.
 */
export function guardLicence(
  purchase: { readonly amountMicro: bigint },
  siblings: readonly Sibling[],
  coveredBy: string | null,
): GuardDecision {
  if (siblings.some((sibling) => sibling.amountMicro === purchase.amountMicro && isLeading(sibling))) return { state: 'held' };
  return coveredBy === null ? { state: 'accepted' } : { state: 'superseded', successorId: coveredBy, repeatsLicence: true };
}

/** True for an undecided payment that may be on its way: it keeps others of the same purchase waiting. */
export function isLeading(sibling: { readonly state: PaymentState }): boolean {
  return LEADING_STATES.includes(sibling.state);
}

function licenceEndMs(sibling: Sibling, licenceLifeSeconds: number): number {
  if (sibling.licenceExpiresAtSeconds !== null) return sibling.licenceExpiresAtSeconds * 1000;
  return (sibling.settledAtMs ?? 0) + licenceLifeSeconds * 1000;
}
