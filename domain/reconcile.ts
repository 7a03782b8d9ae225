/**
 * What a legs split paid out, payment by payment, from its transfers alone (safety 4). A group pays each author the sum of the
 * payments' own legs; a flush pays what lies there by the split's weights, whose rounding differs from that sum by some micro.
 * Pure.
 */
import type { Address, WeightedPayee } from './legs.ts';
import { splitAmounts } from './legs.ts';

/** One transfer into or out of a split, in the chain's order. */
export interface SplitTransfer {
  readonly txHash: string;
  readonly direction: 'in' | 'out';
  /** For `out`: whom it paid. */
  readonly to: string;
  readonly amountMicro: bigint;
  /** The authorization that moved it in; null for a transfer of another kind. */
  readonly authorization: string | null;
}

/** What one authorization's money became: which transaction paid it out, and how much each author got of it. */
export interface PaidOut {
  readonly txHash: string;
  readonly byFlush: boolean;
  readonly amounts: ReadonlyMap<Address, bigint>;
}

/** The payee of a leg word (`uint96 weight << 160 | address`), the inverse of `legWord`. */
export function payeeOfWord(word: string): WeightedPayee {
  return { wallet: `0x${word.slice(-40).toLowerCase()}`, weight: BigInt(word.slice(0, -40)) };
}

interface Inflow {
  readonly authorization: string | null;
  readonly amountMicro: bigint;
}

/**
 * What became of each authorization that paid into a split with these payees (canonical order). A transaction whose transfers out
 * are exactly the legs of its own authorizations paid those; otherwise, transfers out that are the split of all that lay there paid
 * all that lay there, each inflow the difference it makes (so that the amounts sum to what was paid, to the micro). Anything else
 * pays nobody that could be named. Authorizations whose money still lies there, or went in a way no rule explains, are absent.
 */
export function traceSplit(payees: readonly WeightedPayee[], transfers: readonly SplitTransfer[]): ReadonlyMap<string, PaidOut> {
  const paid = new Map<string, PaidOut>();
  let pool: Inflow[] = [];
  for (const [txHash, group] of Map.groupBy(transfers, (transfer) => transfer.txHash)) {
    const own = group.filter(({ direction }) => direction === 'in');
    const out = sumByAuthor(group.filter(({ direction }) => direction === 'out'));
    if (out.size === 0) {
      pool.push(...own);
      continue;
    }
    const authorized = own.filter(({ authorization }) => authorization !== null);
    const separately = authorized.map(({ amountMicro }) => splitAmounts(amountMicro, payees));
    if (authorized.length > 0 && equals(payees, out, addUp(payees, separately))) {
      authorized.forEach((inflow, index) => {
        record(paid, payees, inflow, { txHash, byFlush: false, amounts: separately[index] ?? [] });
      });
      pool.push(...own.filter(({ authorization }) => authorization === null));
      continue;
    }
    const all = [...pool, ...own];
    const total = all.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
    if (equals(payees, out, splitAmounts(total, payees))) payTogether(paid, payees, all, txHash);
    pool = [];
  }
  return paid;
}

/** Shares one payout of everything among what lay there, in order; inflow n gets what it adds to the split of the sum so far. */
function payTogether(
  paid: Map<string, PaidOut>,
  payees: readonly WeightedPayee[],
  inflows: readonly Inflow[],
  txHash: string,
): void {
  let sum = 0n;
  let before = splitAmounts(0n, payees);
  for (const inflow of inflows) {
    sum += inflow.amountMicro;
    const after = splitAmounts(sum, payees);
    const amounts = after.map((amount, index) => amount - (before[index] ?? 0n));
    record(paid, payees, inflow, { txHash, byFlush: true, amounts });
    before = after;
  }
}

function record(
  paid: Map<string, PaidOut>,
  payees: readonly WeightedPayee[],
  { authorization }: Inflow,
  { txHash, byFlush, amounts }: { txHash: string; byFlush: boolean; amounts: readonly bigint[] },
): void {
  if (authorization === null || amounts.some((amount) => amount < 0n)) return;
  paid.set(authorization, {
    txHash,
    byFlush,
    amounts: new Map(payees.map(({ wallet }, index) => [wallet, amounts[index] ?? 0n])),
  });
}

function sumByAuthor(transfers: readonly SplitTransfer[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { to, amountMicro } of transfers) sums.set(to, (sums.get(to) ?? 0n) + amountMicro);
  return sums;
}

function addUp(payees: readonly WeightedPayee[], lists: readonly (readonly bigint[])[]): readonly bigint[] {
  return payees.map((_, index) => lists.reduce((sum, amounts) => sum + (amounts[index] ?? 0n), 0n));
}

function equals(payees: readonly WeightedPayee[], out: ReadonlyMap<string, bigint>, amounts: readonly bigint[]): boolean {
  const total = [...out.values()].reduce((sum, amount) => sum + amount, 0n);
  return (
    total === amounts.reduce((sum, amount) => sum + amount, 0n) &&
    payees.every(({ wallet }, index) => (out.get(wallet) ?? 0n) === amounts[index])
  );
}

/** Why a recorded leg is not settled by the chain (decisions §4). */
export type ExceptionReason = 'unsettled' | 'settlement_pending' | 'amount_mismatch' | 'missing_receipt' | 'forgone' | 'reverted';
