/**
 * Legs: who gets which part of one payment. One rule for page offers, the ledger and the contract:
 * merge equal addresses, weight descending then address ascending, weights divided by their gcd;
 * amount_i = floor(price × w_i / Σw) for i ≥ 1, leg 0 takes the rest.
 */

/** A lower-case 0x address of 20 bytes. */
export type Address = `0x${string}`;

/** One payee and its weight, before or after canonical form. Weights are positive integers below 2^96. */
export interface WeightedPayee {
  readonly wallet: Address;
  readonly weight: bigint;
}

/** Whom a leg pays for. */
export type LegRole = 'author' | 'coauthor' | 'platform';

/** One author's share of one payment, in micro-USDC. `authorId` is absent where several authors share a wallet. */
export interface Leg {
  readonly toAddress: Address;
  readonly amountMicro: bigint;
  readonly role: LegRole;
  readonly authorId?: string;
}

/** Most payees a legs split may have (safety rule 18). */
export const MAX_LEGS = 50;
const MAX_WEIGHT = 1n << 96n;

/** Greatest common divisor of two non-negative integers. */
function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/**
 * Canonical payees: equal wallets merged, ordered, weights divided by their gcd. Throws RangeError on no payee, a weight
 * outside 1 … 2^96 - 1, or more than 50 wallets. Calling it on its own result changes nothing.
 */
export function canonicalPayees(payees: readonly WeightedPayee[]): readonly WeightedPayee[] {
  const merged = new Map<Address, bigint>();
  for (const { wallet, weight } of payees) {
    if (weight <= 0n) throw new RangeError('a weight is a positive integer');
    const key = wallet.toLowerCase() as Address;
    merged.set(key, (merged.get(key) ?? 0n) + weight);
  }
  if (merged.size === 0) throw new RangeError('at least one payee');
  if (merged.size > MAX_LEGS) throw new RangeError(`at most ${MAX_LEGS} distinct wallets`);
  const divisor = [...merged.values()].reduce(gcd);
  return [...merged]
    .map(([wallet, weight]) => ({ wallet, weight: weight / divisor }))
    .map((payee) => {
      if (payee.weight >= MAX_WEIGHT) throw new RangeError('a weight is below 2^96');
      return payee;
    })
    .sort((a, b) => (a.weight === b.weight ? (a.wallet < b.wallet ? -1 : 1) : a.weight > b.weight ? -1 : 1));
}

/**
 * Amounts of a canonical list for one value, in the same order: leg 0 takes the remainder, so they always sum to `value`.
 * A leg of 0 is legal. Throws RangeError for a negative value.
 */
export function splitAmounts(value: bigint, canonical: readonly WeightedPayee[]): readonly bigint[] {
  if (value < 0n) throw new RangeError('a value is not negative');
  const total = canonical.reduce((sum, payee) => sum + payee.weight, 0n);
  const amounts = canonical.map((payee) => (value * payee.weight) / total);
  const rest = value - amounts.reduce((sum, amount) => sum + amount, 0n);
  amounts[0] = (amounts[0] ?? 0n) + rest;
  return amounts;
}

/** The word a contract reads: `uint96 weight << 160 | address`, as 32-byte hex. */
export function legWord(payee: WeightedPayee): `0x${string}` {
  return `0x${((payee.weight << 160n) | BigInt(payee.wallet)).toString(16).padStart(64, '0')}`;
}

/**
 * True when two lists of legs pay the same amounts to the same addresses, whatever their order, after merging equal
 * addresses.
 */
export function sameLegs(
  a: readonly { readonly toAddress: string; readonly amountMicro: bigint }[],
  b: readonly { readonly toAddress: string; readonly amountMicro: bigint }[],
): boolean {
  const left = mergeAmounts(a);
  const right = mergeAmounts(b);
  if (left.size !== right.size) return false;
  for (const [address, amount] of left) if (right.get(address) !== amount) return false;
  return true;
}

function mergeAmounts(legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[]): Map<string, bigint> {
  const merged = new Map<string, bigint>();
  for (const leg of legs) {
    const key = leg.toAddress.toLowerCase();
    merged.set(key, (merged.get(key) ?? 0n) + leg.amountMicro);
  }
  return merged;
}
