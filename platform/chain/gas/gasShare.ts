import type { BatchItem, PlannedGroup } from '../calls/calldata.ts';

const WORD = 32;
/** Gas of a byte of call data that is not zero. */
const BYTE_GAS = 16n;

/**
 * What each payment of a planned batch makes it cost, by payment id: its part of its group's gas, which holds its authorization and an
 * equal part of paying the authors and of the split's deployment, and its bytes. A weight to share by, near its cost and rather above.
 */
export function plannedGas(groups: readonly PlannedGroup[]): ReadonlyMap<string, bigint> {
  const weights = new Map<string, bigint>();
  for (const { items, words, gas } of groups) {
    const count = BigInt(items.length);
    const together = gas + BYTE_GAS * BigInt(WORD * (8 + words.length));
    for (const item of items) weights.set(item.paymentId, together / count + BYTE_GAS * bytesOf(item));
  }
  return weights;
}

/** Offset, six members, the signature's length and the signature in whole words. */
function bytesOf({ signature }: BatchItem): bigint {
  return BigInt(WORD * (8 + Math.ceil((signature.length - 2) / 64)));
}
