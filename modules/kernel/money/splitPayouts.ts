/**
 * What a legs split paid out, payment by payment, from its transfers alone (safety 4). A group pays each author the sum of the
 * payments' own legs; a flush pays what lies there by the split's weights, whose rounding differs from that sum by some micro.
 * Pure.
 */

import type { PaymentState } from '../payment/state.ts';
import type { Address, WeightedPayee } from './legs.ts';
import { splitAmounts } from './legs.ts';

/** One transfer into or out of a split, in the chain's order. */
export interface SplitTransfer {
  readonly txHash: string;
  readonly direction: 'in' | 'out';
  /** For `out`: where it went. */
  readonly to: string;
  /** The wallet whose parts wait at `to` (`waitingOf`), since the token refused to pay it; null or absent for any other address. */
  readonly waitsFor?: string | null;
  readonly amountMicro: bigint;
  /** The authorization that moved it in; null for a transfer of another kind. */
  readonly authorization: string | null;
}

/** What one authorization's money became: which transaction paid it out, and how much each author got of it. */
export interface PaidOut {
  readonly txHash: string;
  readonly byFlush: boolean;
  readonly amounts: ReadonlyMap<Address, bigint>;
  /** Where the part of each author waits whom the token refused to pay, by his wallet. */
  readonly waitsAt: ReadonlyMap<Address, Address>;
}

/** The payee of a leg word (`uint96 weight << 160 | address`), the inverse of `legWord`. */
export function payeeOfWord(word: string): WeightedPayee {
  return { wallet: `0x${word.slice(-40).toLowerCase()}`, weight: BigInt(word.slice(0, -40)) };
}

/** What went into a split, by log position. */
interface Inflow {
  readonly txHash: string;
  readonly authorization: string | null;
  readonly amountMicro: bigint;
}

/** One payout of a split: what each payee got of it, in the order of payees; null for one whom the split does not pay. */
interface Payout {
  readonly txHash: string;
  readonly amounts: readonly bigint[] | null;
  readonly waitsAt: ReadonlyMap<Address, Address>;
  readonly totalMicro: bigint;
}

/**
 * What became of each authorization that paid into a split with these payees (canonical order), payout by payout in the order of
 * logs, so that whatever a stranger puts into the same transaction changes nothing. A split pays in two ways only. A group pays the
 * legs of the authorizations that its transaction brought in right before it. A flush pays the split of all that lies there, and
 * each inflow gets its part of that (`shareOut`), the part of an author whom the token refuses at the place where it waits for him; if the
 * first flush pays more than we saw come in, the rest lay there before anybody read this split. Authorizations whose money still lies there, or went in a way no rule explains, are absent: such a payout takes the oldest money and
 * no more than it paid. Transfers of nothing, which anybody can make, are passed over.
 */
export function traceSplit(payees: readonly WeightedPayee[], transfers: readonly SplitTransfer[]): ReadonlyMap<string, PaidOut> {
  const paid = new Map<string, PaidOut>();
  const lying: Inflow[] = [];
  let isFirstFlush = true;
  for (const step of stepsOf(payees, transfers)) {
    if (!isPayout(step)) {
      lying.push(step);
      continue;
    }
    const group = groupOf(payees, lying, step);
    const shares =
      group?.map(({ amountMicro }) => splitAmounts(amountMicro, payees)) ?? flushShares(payees, lying, step, isFirstFlush);
    if (shares === null) {
      takeOldest(lying, step.totalMicro);
      continue;
    }
    const paidNow = group ?? lying;
    if (group === null) isFirstFlush = false;
    for (const [index, { authorization }] of paidNow.entries()) {
      const amounts = shares[index];
      if (authorization === null || !amounts) continue;
      const byPayee = new Map(payees.map(({ wallet }, place) => [wallet, amounts[place] ?? 0n]));
      paid.set(authorization, { txHash: step.txHash, byFlush: group === null, amounts: byPayee, waitsAt: step.waitsAt });
    }
    lying.splice(lying.length - paidNow.length);
  }
  return paid;
}

/** Takes an amount off the oldest inflows; of one that it takes in part, what is left is nobody's any more. */
function takeOldest(lying: Inflow[], amountMicro: bigint): void {
  let left = amountMicro;
  while (left > 0n) {
    const oldest = lying.shift();
    if (oldest === undefined) return;
    if (oldest.amountMicro > left) lying.unshift({ ...oldest, authorization: null, amountMicro: oldest.amountMicro - left });
    left -= oldest.amountMicro;
  }
}

/** Inflows and whole payouts, in the order of logs. The first payee gets something of every payout, so that each begins with him. */
function stepsOf(payees: readonly WeightedPayee[], transfers: readonly SplitTransfer[]): (Inflow | Payout)[] {
  const steps: (Inflow | Payout)[] = [];
  const placeOf = new Map<string, number>(payees.map(({ wallet }, place) => [wallet, place]));
  for (const { direction, txHash, authorization, to, waitsFor, amountMicro } of transfers) {
    if (amountMicro === 0n) continue;
    if (direction === 'in') {
      steps.push({ txHash, authorization, amountMicro });
      continue;
    }
    const refused = waitsFor && !placeOf.has(to) ? waitsFor : null;
    const place = placeOf.get(refused ?? to);
    const last = steps.at(-1);
    const begun = last !== undefined && isPayout(last) && last.txHash === txHash && place !== 0 ? last : null;
    const amounts = place === undefined ? null : (begun ? begun.amounts : payees.map(() => 0n))?.with(place, amountMicro);
    const waiting = new Map(begun?.waitsAt);
    if (refused !== null) waiting.set(refused as Address, to as Address);
    if (begun) steps.pop();
    steps.push({ txHash, amounts: amounts ?? null, waitsAt: waiting, totalMicro: (begun?.totalMicro ?? 0n) + amountMicro });
  }
  return steps;
}

function isPayout(step: Inflow | Payout): step is Payout {
  return 'totalMicro' in step;
}

/** The authorizations that a payout pays as a group: the last ones that its transaction brought in; null when it is none. */
function groupOf(payees: readonly WeightedPayee[], lying: readonly Inflow[], payout: Payout): readonly Inflow[] | null {
  let sum = 0n;
  for (let first = lying.length - 1; sum < payout.totalMicro; first -= 1) {
    const inflow = lying[first];
    if (inflow?.authorization == null || inflow.txHash !== payout.txHash) return null;
    sum += inflow.amountMicro;
    if (sum !== payout.totalMicro) continue;
    const group = lying.slice(first);
    const legs = group.map(({ amountMicro }) => splitAmounts(amountMicro, payees));
    return equals(payout, addUp(payees, legs)) ? group : null;
  }
  return null;
}

/** What each inflow got of a flush of all that lies there; null when the payout is no flush. */
function flushShares(
  payees: readonly WeightedPayee[],
  lying: readonly Inflow[],
  payout: Payout,
  isFirst: boolean,
): readonly (readonly bigint[])[] | null {
  const values = lying.map(({ amountMicro }) => amountMicro);
  const unseen = payout.totalMicro - values.reduce((sum, value) => sum + value, 0n);
  const amounts = splitAmounts(payout.totalMicro, payees);
  if (unseen < 0n || (unseen > 0n && !isFirst) || !equals(payout, amounts)) return null;
  return shareOut(amounts, [unseen, ...values]).slice(1);
}

/**
 * Shares amounts, one a payee, among inflows of the same sum: each inflow gets exactly its value, each payee's parts add up to
 * exactly his amount, and none is negative. In order, each takes its part of what the others left, to the micro above or below.
 */
function shareOut(amounts: readonly bigint[], values: readonly bigint[]): readonly (readonly bigint[])[] {
  let left = amounts;
  let total = amounts.reduce((sum, amount) => sum + amount, 0n);
  return values.map((value) => {
    if (total === 0n) return left;
    const floors = left.map((amount) => (amount * value) / total);
    let rest = value - floors.reduce((sum, floor) => sum + floor, 0n);
    const parts = floors.map((floor, place) => {
      if (rest === 0n || ((left[place] ?? 0n) * value) % total === 0n) return floor;
      rest -= 1n;
      return floor + 1n;
    });
    left = left.map((amount, place) => amount - (parts[place] ?? 0n));
    total -= value;
    return parts;
  });
}

function addUp(payees: readonly WeightedPayee[], lists: readonly (readonly bigint[])[]): readonly bigint[] {
  return payees.map((_, index) => lists.reduce((sum, amounts) => sum + (amounts[index] ?? 0n), 0n));
}

function equals(payout: Payout, amounts: readonly bigint[]): boolean {
  return payout.amounts?.every((amount, place) => amount === amounts[place]) ?? false;
}

/**
 * True when the place where a wallet's part waits has paid since the last money that a transaction brought there: it pays all that lies there,
 * to that wallet. `transfers`: everything into and out of the place, in the chain's order.
 */
export function isPaidOn(transfers: readonly SplitTransfer[], txHash: string): boolean {
  const came = transfers.findLastIndex((transfer) => transfer.direction === 'in' && transfer.txHash === txHash);
  return came >= 0 && transfers.slice(came).some(({ direction, amountMicro }) => direction === 'out' && amountMicro > 0n);
}

/** Why a recorded leg is not settled by the chain. `payee_blocked`: the token refuses to pay its author, and it waits for him. */
export type ExceptionReason =
  | 'unsettled'
  | 'settlement_pending'
  | 'amount_mismatch'
  | 'missing_receipt'
  | 'payee_blocked'
  | 'forgone'
  | 'reverted'
  | 'written_off';

/** Why the legs of a payment are open while the chain shows no transfer of its authorization. */
export const REASON_UNSHOWN: Readonly<Record<PaymentState, ExceptionReason>> = {
  accepted: 'settlement_pending',
  held: 'settlement_pending',
  broadcast: 'settlement_pending',
  settled: 'missing_receipt',
  final: 'missing_receipt',
  failed: 'reverted',
  superseded: 'forgone',
  expired: 'forgone',
  review: 'unsettled',
};
