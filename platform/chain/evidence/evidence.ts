/**
 * What logs prove (safety 1): an `AuthorizationUsed(payer, nonce)` of the token and the *next* log of the token in the same
 * transaction, which must be `Transfer(payer, …)`. Only the token's and the router's own logs count. Pure.
 */
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';

/** A log as a node gave it; `logIndex` counts within the block, so a reorg may change it. */
export interface ChainLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** Where something stands on chain. `position` counts within the receipt, which no reorg changes (counted from its first log). */
export interface LogPlace {
  readonly txHash: Hex;
  readonly logIndex: number;
  readonly position: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** One authorization that moved money: the place is that of its Transfer, which one payment may claim. `value` in micro. */
export interface AuthorizationEvidence extends LogPlace {
  readonly payer: Address;
  readonly nonce: Hex;
  readonly to: Address;
  readonly value: bigint;
}

/** A nonce that was used or cancelled without a transfer of its own. */
export interface NonceEvidence extends LogPlace {
  readonly payer: Address;
  readonly nonce: Hex;
}

/** One Transfer of the token. */
export interface TransferEvidence extends LogPlace {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/** Events of our router, as said in the transaction `txHash`. They decide nothing by themselves (safety 3). */
export interface PaidEvent extends LogPlace {
  readonly payTo: Address;
  readonly total: bigint;
}
/** One payment of a group moved nothing; `why` is the first 4 bytes of the revert. */
export interface ItemFailedEvent extends LogPlace {
  readonly group: number;
  readonly item: number;
  readonly why: Hex;
}
/** A whole group was reverted. */
export interface GroupFailedEvent extends LogPlace {
  readonly group: number;
  readonly why: Hex;
}

/** Everything the logs of some transactions prove. `transfers` are all of the token, those of authorizations too. */
export interface ChainEvidence {
  readonly authorizations: readonly AuthorizationEvidence[];
  readonly unpaired: readonly NonceEvidence[];
  readonly cancelled: readonly NonceEvidence[];
  readonly transfers: readonly TransferEvidence[];
  readonly paid: readonly PaidEvent[];
  readonly itemsFailed: readonly ItemFailedEvent[];
  readonly groupsFailed: readonly GroupFailedEvent[];
}

/** Event signatures of the token and the router (a test compares them with the ABIs). */
export const TOPICS = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  authorizationCanceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  paid: '0x9def4e2802183d68ce90a6a226a2962b59298616c27165f12c4fbc5c84cdd778',
  itemFailed: '0x001d7ebfd8de192e0c4ff7ae1f2cc9afbf53c74f86851023322eafdcdd0153a0',
  groupFailed: '0xc6813e3d3bba24a2e15d0db9ad04fc1c943afdeb3ba895cd1bab0103c0332810',
} as const satisfies Record<string, Hex>;

/**
 * Reads the logs of whole receipts, of one or several transactions, in any order. Evidence of another recipient or value is
 * returned as it is: whether it pays a payment is the caller's comparison.
 */
export function evidenceFromLogs(logs: readonly ChainLog[], network: Pick<Network, 'asset' | 'router'>): ChainEvidence {
  const byTransaction = new Map<string, ChainLog[]>();
  for (const log of logs) {
    const key = `${log.blockHash}${log.transactionHash}`;
    const group = byTransaction.get(key);
    if (group) group.push(log);
    else byTransaction.set(key, [log]);
  }
  const parts = [...byTransaction.values()].map((group) => evidenceOfTransaction(group, network));
  return {
    authorizations: parts.flatMap((part) => part.authorizations),
    unpaired: parts.flatMap((part) => part.unpaired),
    cancelled: parts.flatMap((part) => part.cancelled),
    transfers: parts.flatMap((part) => part.transfers),
    paid: parts.flatMap((part) => part.paid),
    itemsFailed: parts.flatMap((part) => part.itemsFailed),
    groupsFailed: parts.flatMap((part) => part.groupsFailed),
  };
}

function evidenceOfTransaction(unordered: readonly ChainLog[], network: Pick<Network, 'asset' | 'router'>): ChainEvidence {
  const logs = unordered.toSorted((a, b) => a.logIndex - b.logIndex);
  const firstIndex = logs[0]?.logIndex ?? 0;
  const place = (log: ChainLog): LogPlace => ({
    txHash: log.transactionHash,
    logIndex: log.logIndex,
    position: log.logIndex - firstIndex,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
  });
  const token = logs.filter((log) => log.address === network.asset.toLowerCase());
  const router = logs.filter((log) => log.address === network.router.toLowerCase());
  const authorizations: AuthorizationEvidence[] = [];
  const unpaired: NonceEvidence[] = [];
  for (const [at, log] of token.entries()) {
    const used = readNonce(log, TOPICS.authorizationUsed, place);
    if (!used) continue;
    const next = token[at + 1];
    const transfer = next ? readTransfer(next, place) : null;
    if (transfer?.from !== used.payer) {
      unpaired.push(used);
      continue;
    }
    const { from: payer, ...moved } = transfer;
    authorizations.push({ ...moved, payer, nonce: used.nonce });
  }
  return {
    authorizations,
    unpaired,
    cancelled: present(token.map((log) => readNonce(log, TOPICS.authorizationCanceled, place))),
    transfers: present(token.map((log) => readTransfer(log, place))),
    paid: present(router.map((log) => readPaid(log, network.asset, place))),
    itemsFailed: present(router.map((log) => readItemFailed(log, place))),
    groupsFailed: present(router.map((log) => readGroupFailed(log, place))),
  };
}

type PlaceOf = (log: ChainLog) => LogPlace;

function readNonce(log: ChainLog, topic: Hex, place: PlaceOf): NonceEvidence | null {
  const [signature, payer, nonce] = log.topics;
  if (signature !== topic || !payer || !nonce) return null;
  return { payer: addressOf(payer), nonce, ...place(log) };
}

/** Null for anything that is not an ERC-20 Transfer (an ERC-721 one has four topics). */
function readTransfer(log: ChainLog, place: PlaceOf): TransferEvidence | null {
  const [signature, from, to, extra] = log.topics;
  if (signature !== TOPICS.transfer || !from || !to || extra !== undefined || log.data.length !== 66) return null;
  return { from: addressOf(from), to: addressOf(to), value: BigInt(log.data), ...place(log) };
}

function readPaid(log: ChainLog, asset: Address, place: PlaceOf): PaidEvent | null {
  const [signature, payTo, token] = log.topics;
  const isOfAsset = token !== undefined && addressOf(token) === asset.toLowerCase();
  if (signature !== TOPICS.paid || !payTo || !isOfAsset || log.data.length !== 66) return null;
  return { payTo: addressOf(payTo), total: BigInt(log.data), ...place(log) };
}

function readItemFailed(log: ChainLog, place: PlaceOf): ItemFailedEvent | null {
  const [signature, group, item] = log.topics;
  if (signature !== TOPICS.itemFailed || !group || !item) return null;
  return { group: Number(group), item: Number(item), why: firstBytes(log.data), ...place(log) };
}

function readGroupFailed(log: ChainLog, place: PlaceOf): GroupFailedEvent | null {
  const [signature, group] = log.topics;
  if (signature !== TOPICS.groupFailed || !group) return null;
  return { group: Number(group), why: firstBytes(log.data), ...place(log) };
}

function firstBytes(data: Hex): Hex {
  return data.slice(0, 10) as Hex;
}

function addressOf(topic: Hex): Address {
  return `0x${topic.slice(-40)}`;
}

function present<T>(values: readonly (T | null)[]): readonly T[] {
  return values.filter((value) => value !== null);
}
