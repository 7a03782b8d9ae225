/** From accepted payments to the call data of one transaction: groups, order, gas, limits (safety 9). Pure. */
import { encodeFunctionData } from 'viem';
import type { Address } from '../domain/legs.ts';
import { legWord } from '../domain/legs.ts';
import type { Authorization, Hex } from '../domain/payload.ts';
import { routerAbi } from './abi.ts';
import type { Lane } from './contract-wallet.ts';
import type { GroupSize } from './gas.ts';
import {
  batchGas,
  CONTRACT_AUTH_GAS,
  groupGas,
  MAX_BATCH_BYTES,
  MAX_BATCH_GAS,
  MAX_BATCH_ITEMS,
  PLAIN_AUTH_GAS,
  transferGas,
} from './gas.ts';
import type { Network } from './network.ts';
import { transferCall } from './tokenCalls.ts';

/** One payment to be sent. `words` are the leg words of its split; null where `payTo` is a single wallet. */
export interface BatchItem {
  readonly paymentId: string;
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly payTo: Address;
  readonly words: readonly Hex[] | null;
  readonly lane: Lane;
}

/** Payments to one payTo, pulled one by one, paid out once. `gas` is its `gasPerGroup`. */
export interface PlannedGroup {
  readonly payTo: Address;
  readonly words: readonly Hex[];
  readonly gas: bigint;
  readonly items: readonly BatchItem[];
}

/** Where each payment of a batch sits: the indexes that `ItemFailed` and `GroupFailed` speak of. */
export interface BatchPosition {
  readonly paymentId: string;
  readonly group: number;
  readonly item: number;
}

/** One transaction, ready to be signed. `leftOut` are the payments that wait for the next one, in order. */
export interface BatchPlan {
  readonly groups: readonly PlannedGroup[];
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly items: readonly BatchPosition[];
  readonly leftOut: readonly string[];
}

interface OpenGroup {
  readonly payTo: Address;
  readonly words: readonly Hex[];
  readonly items: BatchItem[];
}

const WORD = 32;
/** Selector, two offsets, two lengths. */
const EMPTY_BATCH_BYTES = 4 + 4 * WORD;

/**
 * Plans one transaction. Items are taken in order until one does not fit: 100 items, 12 M gas or 96 KB, whichever is first;
 * only those of the first item's lane; one group a payTo. A single payment to a single wallet goes straight to the token.
 * The same input gives the same bytes. Throws RangeError for an empty list.
 */
export function planBatch(items: readonly BatchItem[], network: Pick<Network, 'asset' | 'router'>): BatchPlan {
  const [first] = items;
  if (!first) throw new RangeError('a batch has at least one payment');
  const { open, leftOut } = fill(items, first.lane);
  const authGas = capOf(first.lane);
  const groups = open.map((group) => ({ ...group, gas: groupGas(sizeOf(group, authGas)) }));
  const positions = groups.flatMap((group, index) =>
    group.items.map(({ paymentId }, item) => ({ paymentId, group: index, item })),
  );
  const lone = positions.length === 1 && first.words === null;
  const data = lone ? transferCall(first) : batchCall(groups, network.asset);
  const gasLimit = lone
    ? transferGas(authGas, data)
    : batchGas(
        open.map((group) => sizeOf(group, authGas)),
        data,
      );
  return { groups, to: lone ? network.asset : network.router, data, gasLimit, items: positions, leftOut };
}

/** Gas cap of one payment of a lane. */
export function capOf(lane: Lane): bigint {
  return lane === 'plain' ? PLAIN_AUTH_GAS : CONTRACT_AUTH_GAS;
}

/** The router's view of a group. */
export function routerGroup(group: Pick<PlannedGroup, 'words' | 'items'>, token: Address) {
  return {
    token,
    authGas: capOf(group.items[0]?.lane ?? 'plain'),
    legs: group.words,
    auths: group.items.map(({ authorization: { from, value, validAfter, validBefore, nonce }, signature }) => ({
      ...{ from, value, validAfter, validBefore, nonce, signature },
    })),
  };
}

function fill(items: readonly BatchItem[], lane: Lane): { open: readonly OpenGroup[]; leftOut: readonly string[] } {
  const byPayTo = new Map<Address, OpenGroup>();
  const leftOut: string[] = [];
  let [count, bytes, gas, closed] = [0, EMPTY_BATCH_BYTES, 0n, false];
  for (const item of items) {
    if (closed || item.lane !== lane) {
      leftOut.push(item.paymentId);
      continue;
    }
    const present = byPayTo.get(item.payTo);
    const group = present ?? { payTo: item.payTo, words: wordsOf(item), items: [] };
    const nextBytes = bytes + itemBytes(item) + (present ? 0 : groupBytes(group));
    const nextGas = gas - gasShare(group, group.items.length, lane) + gasShare(group, group.items.length + 1, lane);
    const fits = count < MAX_BATCH_ITEMS && nextBytes <= MAX_BATCH_BYTES && nextGas + 16n * BigInt(nextBytes) <= MAX_BATCH_GAS;
    if (count > 0 && !fits) {
      closed = true;
      leftOut.push(item.paymentId);
      continue;
    }
    group.items.push(item);
    byPayTo.set(item.payTo, group);
    [count, bytes, gas] = [count + 1, nextBytes, nextGas];
  }
  return { open: [...byPayTo.values()], leftOut };
}

/** A single wallet is one leg of weight 1 for the router. */
function wordsOf(item: BatchItem): readonly Hex[] {
  return item.words ?? [legWord({ wallet: item.payTo, weight: 1n })];
}

function sizeOf(group: OpenGroup, authGas: bigint): GroupSize {
  return { authorizations: group.items.length, legs: group.words.length, deployed: false, authGas };
}

/** What a group adds to the gas of a batch when it holds `count` payments, call data aside; never too little. */
function gasShare(group: OpenGroup, count: number, lane: Lane): bigint {
  if (count === 0) return 0n;
  return batchGas([{ authorizations: count, legs: group.words.length, deployed: false, authGas: capOf(lane) }], '0x') - EMPTY_GAS;
}

const EMPTY_GAS = batchGas([], '0x');

/** Offset, four members, legs length and words, auths length, its gas. */
function groupBytes(group: OpenGroup): number {
  return WORD * (8 + group.words.length);
}

/** Offset, six members, signature length and bytes in whole words. */
function itemBytes(item: BatchItem): number {
  return WORD * (8 + Math.ceil((item.signature.length - 2) / 64));
}

function batchCall(groups: readonly PlannedGroup[], token: Address): Hex {
  const args = [groups.map((group) => routerGroup(group, token)), groups.map(({ gas }) => gas)] as const;
  return encodeFunctionData({ abi: routerAbi, functionName: 'settleBatch', args });
}
