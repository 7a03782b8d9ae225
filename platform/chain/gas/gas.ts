/**
 * Upper bounds of gas, so that a group always fits and a batch can always be mined (safety 9): never a bare estimate. Pure.
 * Calibrated against a token with USDC's costs, proxy included; test/contract/gas-budget.test.ts drives random batches through
 * exactly these limits on a real chain, with payers that burn all they get.
 */

type Hex = `0x${string}`;

/** Gas one payment of a plain key may burn in the token: a first transfer to a new wallet takes about 71,000 of it. */
export const PLAIN_AUTH_GAS = 95_000n;
/** Gas one payment of a wallet with code may burn (ERC-1271, EIP-7702): foreign code on our gas, in batches of its own. */
export const CONTRACT_AUTH_GAS = 250_000n;
/** A batch closes at whichever of these three comes first (safety 9). */
export const MAX_BATCH_GAS = 12_000_000n;
/** Most payments of one batch. */
export const MAX_BATCH_ITEMS = 100;
/** Most bytes of call data of one batch. */
export const MAX_BATCH_BYTES = 96 * 1024;

const WORD = 32;
const RESERVE_GAS = 5_000n;
const GROUP_GAS = 25_000n;
const ITEM_GAS = 7_000n;
const SHARE_GAS = 400n;
const PUSH_GAS = 34_000n;
const DEPLOY_GAS = 48_000n;
const PAIR_GAS = 180n;
const WALLET_GROUP_GAS = 4_000n;
const DISPATCH_GAS = 6_000n;
const DISPATCH_ITEM_GAS = 1_500n;
const DISPATCH_LEG_GAS = 150n;
const COPY_WORD_GAS = 6n;
const INTRINSIC_GAS = 21_000n;
/** A payment that the token refuses, and what a call for each leg takes besides a transfer. */
const AROUND_LEG_GAS = 30_000n;
/** What the router must have left for each of these calls (`LEG_GAS`), beside the 64th that it keeps. */
const AROUND_CALL_GAS = (200_000n * 64n) / 63n + RESERVE_GAS;

/** What decides how much gas a group can need. */
export interface GroupSize {
  /** Payments in the group. */
  readonly authorizations: number;
  /** 1 for a wallet, 2 to 50 for a split. */
  readonly legs: number;
  /** False where the split may not have code yet; irrelevant for one leg. */
  readonly deployed: boolean;
  /** Cap of each payment, `PLAIN_AUTH_GAS` or `CONTRACT_AUTH_GAS`. */
  readonly authGas: bigint;
  /** Call data of its legs and payments: the router copies all of it into memory, and each signature once more. */
  readonly bytes: number;
}

/**
 * Gas a group needs at most, every payment burning its whole cap: the `gasPerGroup` value of `settleBatch`. The router hands
 * a split exactly this much; for a group of one leg it only counts towards the transaction, each payment having its own cap.
 */
export function groupGas({ authorizations, legs, deployed, authGas, bytes }: GroupSize): bigint {
  const count = BigInt(authorizations);
  const legCount = BigInt(legs);
  const items = count * (authGas + ITEM_GAS) + copyGas(bytes);
  if (legs === 1) return WALLET_GROUP_GAS + items;
  const pulls = items + authGas / 63n + RESERVE_GAS;
  const deployment = deployed ? 0n : DEPLOY_GAS + legCount * legCount * (PAIR_GAS / 2n);
  return GROUP_GAS + pulls + legCount * (PUSH_GAS + count * SHARE_GAS) + deployment;
}

/** Call data of a group without its payments: offset, four members, the legs' length and words, the payments' length, its gas. */
export function groupBytes(legs: number): number {
  return WORD * (8 + legs);
}

/** Call data of one payment: offset, six members, the signature's length and its bytes in whole words. */
export function itemBytes(signatureBytes: number): number {
  return WORD * (8 + Math.ceil(signatureBytes / WORD));
}

/** Gas limit of a `settleBatch` transaction with this call data, when group g gets `groupGas(groups[g])`. */
export function batchGas(groups: readonly GroupSize[], data: Hex): bigint {
  let largest = 0n;
  let sum = 0n;
  for (const group of groups) {
    const gas = groupGas(group);
    const call = group.legs > 1 ? gas : group.authGas;
    if (call > largest) largest = call;
    sum += gas;
    if (group.legs === 1) continue;
    sum += DISPATCH_GAS + BigInt(group.authorizations) * DISPATCH_ITEM_GAS + BigInt(group.legs) * DISPATCH_LEG_GAS;
    sum += copyGas(group.bytes);
  }
  return atLeastFloor(data, sum + largest / 63n + 2n * RESERVE_GAS);
}

/** Gas of a copy of call data in fresh memory: the copy, the memory's words, and their square (the yellow paper's C_mem). */
function copyGas(bytes: number): bigint {
  const words = BigInt(Math.ceil(bytes / WORD));
  return COPY_WORD_GAS * words + (words * words) / 512n;
}

/** Gas limit of a payment sent straight to the token (a lone single-author payment). */
export function transferGas(authGas: bigint, data: Hex): bigint {
  return atLeastFloor(data, authGas);
}

/** Gas limit of a `flushAll` transaction for a split of so many legs. */
export function flushGas(legs: number, deployed: boolean, data: Hex): bigint {
  return atLeastFloor(data, groupGas({ authorizations: 1, legs: Math.max(legs, 2), deployed, authGas: 0n, bytes: 0 }));
}

/** Gas limit of a `flushAround` transaction: each payment is a call of its own, may fail, and then goes to a place that nothing was sent to. */
export function flushAroundGas(legs: number, data: Hex): bigint {
  const size = { authorizations: 1, legs, deployed: false, authGas: 0n, bytes: 0 };
  return atLeastFloor(data, groupGas(size) + BigInt(legs) * AROUND_LEG_GAS + AROUND_CALL_GAS);
}

/**
 * Gas that one transaction of several calls needs besides the limits of the calls, each of which has room for a transaction's 21,000 of its
 * own: the bytes once more, as memory, and what the last call may not be given (a 63rd part of what is left).
 */
export function aggregateGas(data: Hex): bigint {
  return atLeastFloor(data, copyGas((data.length - 2) / 2) + MAX_BATCH_GAS / 63n);
}

/** Intrinsic gas of call data plus what it executes, never under the floor of EIP-7623. */
function atLeastFloor(data: Hex, execution: bigint): bigint {
  let tokens = 0n;
  let zeros = 0n;
  for (let at = 2; at < data.length; at += 2) {
    if (data.startsWith('00', at)) zeros += 1n;
    else tokens += 4n;
  }
  const used = INTRINSIC_GAS + 4n * (tokens + zeros) + execution;
  const floor = INTRINSIC_GAS + 10n * (tokens + zeros);
  return used > floor ? used : floor;
}
