/** From accepted payments to the call data of one transaction: groups, order, gas, limits (safety 9). Pure. */
import type { Address } from '../../../modules/kernel/money/legs.ts';
import { legWord } from '../../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../../modules/kernel/x402/payload.ts';
import type { GroupSize } from '../gas/gas.ts';
import {
  batchGas,
  CONTRACT_AUTH_GAS,
  groupBytes,
  groupGas,
  itemBytes,
  MAX_BATCH_BYTES,
  MAX_BATCH_GAS,
  MAX_BATCH_ITEMS,
  PLAIN_AUTH_GAS,
  transferGas,
} from '../gas/gas.ts';
import type { Network } from '../network.ts';
import type { RouterGroup } from '../router/routerCalls.ts';
import { settleBatchCall } from '../router/routerCalls.ts';
import type { PayerKind } from '../signature/contractWallet.ts';
import { transferCall } from './tokenCalls.ts';

/** One payment to be sent. `words` are the leg words of its split; null where `payTo` is a single wallet. */
export interface BatchItem {
  readonly paymentId: string;
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly payTo: Address;
  readonly words: readonly Hex[] | null;
  readonly payerKind: PayerKind;
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
const EMPTY_GAS = batchGas([], '0x');
/** Intrinsic gas of a byte of call data that is not zero. */
const CALL_BYTE_GAS = 16n;

/**
 * Plans one transaction. Items are taken in order, those of the first one's payer kind that fit (`openRoom`); one that does not fit is
 * skipped, so that it keeps no smaller one waiting. One group a payTo. A single payment to a single wallet goes straight to the token.
 * The same input gives the same bytes. Throws RangeError for an empty list.
 */
export function planBatch(items: readonly BatchItem[], network: Pick<Network, 'asset' | 'router'>): BatchPlan {
  const [first] = items;
  if (!first) throw new RangeError('a batch has at least one payment');
  const { open, leftOut } = fill(items, first.payerKind);
  const authGas = capOf(first.payerKind);
  const groups = open.map((group) => ({ ...group, gas: groupGas(sizeOf(group, authGas)) }));
  const positions = groups.flatMap((group, index) =>
    group.items.map(({ paymentId }, item) => ({ paymentId, group: index, item })),
  );
  const lone = positions.length === 1 && first.words === null;
  const data = lone
    ? transferCall(first)
    : settleBatchCall(
        groups.map((group) => routerGroup(group, network.asset)),
        groups.map(({ gas }) => gas),
      );
  const gasLimit = lone
    ? transferGas(authGas, data)
    : batchGas(
        open.map((group) => sizeOf(group, authGas)),
        data,
      );
  return { groups, to: lone ? network.asset : network.router, data, gasLimit, items: positions, leftOut };
}

/** Gas cap of one payment of a payer kind. */
export function capOf(payerKind: PayerKind): bigint {
  return payerKind === 'plain' ? PLAIN_AUTH_GAS : CONTRACT_AUTH_GAS;
}

/** The router's view of a group. */
export function routerGroup({ words, items }: Pick<PlannedGroup, 'words' | 'items'>, token: Address): RouterGroup {
  return { token, authGas: capOf(items[0]?.payerKind ?? 'plain'), legs: words, auths: items };
}

function fill(items: readonly BatchItem[], payerKind: PayerKind): { open: readonly OpenGroup[]; leftOut: readonly string[] } {
  const room = openRoom(payerKind);
  const byPayTo = new Map<Address, OpenGroup>();
  const leftOut: string[] = [];
  for (const item of items) {
    const part = partOf(item);
    if (item.payerKind !== payerKind || room.costOf(part) === null) {
      leftOut.push(item.paymentId);
      continue;
    }
    room.add(part);
    const group = byPayTo.get(item.payTo) ?? { payTo: item.payTo, words: wordsOf(item), items: [] };
    group.items.push(item);
    byPayTo.set(item.payTo, group);
  }
  return { open: [...byPayTo.values()], leftOut };
}

/** What decides the room a payment takes in a batch. */
export interface BatchPart {
  readonly payTo: string;
  /** 1 for a wallet, 2 to 50 for a split. */
  readonly legs: number;
  readonly signatureBytes: number;
}

/** A batch of one payer kind while it is filled. */
export interface Room {
  /** Gas that one payment more would need, its call data included; null when it does not fit. The first one always fits. */
  costOf(part: BatchPart): bigint | null;
  add(part: BatchPart): void;
}

/** An empty batch: 100 payments, 12 M gas or 96 KB, whichever is first (safety 9). */
export function openRoom(payerKind: PayerKind): Room {
  const groups = new Map<string, { readonly gas: bigint; readonly authorizations: number; readonly bytes: number }>();
  let [count, bytes, gas] = [0, EMPTY_BATCH_BYTES, 0n];
  const grown = (part: BatchPart) => {
    const present = groups.get(part.payTo);
    const added = itemBytes(part.signatureBytes) + (present ? 0 : groupBytes(part.legs));
    const authorizations = (present?.authorizations ?? 0) + 1;
    const size = {
      authorizations,
      legs: part.legs,
      deployed: false,
      authGas: capOf(payerKind),
      bytes: (present?.bytes ?? 0) + added,
    };
    const group = { gas: batchGas([size], '0x') - EMPTY_GAS, authorizations, bytes: size.bytes };
    return { group, bytes: bytes + added, gas: gas - (present?.gas ?? 0n) + group.gas };
  };
  return {
    costOf(part) {
      const next = grown(part);
      const needed = next.gas + CALL_BYTE_GAS * BigInt(next.bytes);
      const fits = count < MAX_BATCH_ITEMS && next.bytes <= MAX_BATCH_BYTES && needed <= MAX_BATCH_GAS;
      return count === 0 || fits ? needed - gas - CALL_BYTE_GAS * BigInt(bytes) : null;
    },
    add(part) {
      const next = grown(part);
      groups.set(part.payTo, next.group);
      [count, bytes, gas] = [count + 1, next.bytes, next.gas];
    },
  };
}

/** Gas that a payment needs at most in a batch of its own, its call data included: what admission counts with. */
export function gasAlone(payerKind: PayerKind, part: BatchPart): bigint {
  return openRoom(payerKind).costOf(part) ?? MAX_BATCH_GAS;
}

function partOf({ payTo, words, signature }: BatchItem): BatchPart {
  return { payTo, legs: words?.length ?? 1, signatureBytes: (signature.length - 2) / 2 };
}

/** A single wallet is one leg of weight 1 for the router. */
function wordsOf(item: BatchItem): readonly Hex[] {
  return item.words ?? [legWord({ wallet: item.payTo, weight: 1n })];
}

function sizeOf(group: OpenGroup, authGas: bigint): GroupSize {
  const parts = group.items.map(partOf);
  const bytes = parts.reduce((sum, { signatureBytes }) => sum + itemBytes(signatureBytes), groupBytes(group.words.length));
  return { authorizations: group.items.length, legs: group.words.length, deployed: false, authGas, bytes };
}
