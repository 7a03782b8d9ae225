/** Reads of what happened: receipts, blocks, logs, the state of a nonce. An outage is always `chain_unavailable`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import type { Answer, Rpc } from '../rpc/rpc.ts';
import { askNode, chainUnavailable, hasOthers, quantity } from '../rpc/rpc.ts';
import type { ChainLog } from './evidence.ts';
import { TOPICS } from './evidence.ts';

/** A mined transaction, with all its logs in order. */
export interface Receipt {
  readonly hash: Hex;
  readonly status: 'success' | 'reverted';
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly gasUsed: bigint;
  readonly effectiveGasPriceWei: bigint;
  /** What its bytes cost besides gas on a chain of the OP stack; 0 elsewhere. */
  readonly l1FeeWei: bigint;
  readonly logs: readonly ChainLog[];
}

interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly removed?: boolean;
}

interface RawReceipt {
  readonly transactionHash: Hex;
  readonly status: Hex;
  readonly blockNumber: Hex | null;
  readonly blockHash: Hex | null;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice?: Hex;
  readonly l1Fee?: Hex;
  readonly logs: readonly RawLog[];
}

/** The receipt of a transaction, or null: not mined, not mined yet, or not known to this node. Null proves nothing. */
export async function receiptOf(rpc: Rpc, hash: Hex): Promise<Receipt | null> {
  return receiptFrom(await askNode<RawReceipt | null>(rpc, 'eth_getTransactionReceipt', [hash]));
}

/** In place of a receipt: a node gave something that is none of this transaction. */
export const UNREADABLE = 'unreadable';

/**
 * What every URL that answers gives as the receipt of a transaction, each read by itself; null from one that does not have it. Throws
 * `chain_unavailable` when none answers.
 */
export async function receiptsOfAll(rpc: Rpc, hash: Hex): Promise<readonly Answer<Receipt | null | typeof UNREADABLE>[]> {
  const options = { unreadable: UNREADABLE } as const;
  const answers = await rpc.each<RawReceipt | null | typeof UNREADABLE>('eth_getTransactionReceipt', [hash], options);
  return answers.map(({ index, result }) => ({ index, result: result === UNREADABLE ? result : receiptFrom(result) }));
}

function receiptFrom(raw: RawReceipt | null): Receipt | null {
  if (raw === null || raw.blockNumber === null || raw.blockHash === null) return null;
  return {
    hash: lower(raw.transactionHash),
    status: BigInt(raw.status) === 1n ? 'success' : 'reverted',
    blockNumber: BigInt(raw.blockNumber),
    blockHash: lower(raw.blockHash),
    gasUsed: BigInt(raw.gasUsed),
    effectiveGasPriceWei: BigInt(raw.effectiveGasPrice ?? 0),
    l1FeeWei: BigInt(raw.l1Fee ?? 0),
    logs: raw.logs.map(logOf),
  };
}

/**
 * The receipts of transactions by hash, null for one that is not mined. One that the node gave no answer for is absent, so that it keeps
 * no other from being looked at.
 */
export async function listReceipts(rpc: Rpc, hashes: readonly Hex[]): Promise<ReadonlyMap<string, Receipt | null>> {
  const answers = await Promise.allSettled(hashes.map(async (hash) => [hash, await findReceipt(rpc, hash)] as const));
  return new Map(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])));
}

/** The receipt of a transaction at the node asked first, or else at any other; null where nobody has it. Throws `chain_unavailable`. */
export async function findReceipt(rpc: Rpc, hash: Hex): Promise<Receipt | null> {
  return (await receiptOf(rpc, hash)) ?? (await receiptOfOthers(rpc, hash));
}

/** A receipt that the node asked first does not have may be at another one. Null where nobody else has it. Throws `chain_unavailable`. */
async function receiptOfOthers(rpc: Rpc, hash: Hex): Promise<Receipt | null> {
  if (!hasOthers(rpc)) return null;
  const answers = await receiptsOfAll(rpc, hash);
  return answers.map(({ result }) => (result === UNREADABLE ? null : result)).find((receipt) => receipt !== null) ?? null;
}

/** Between two looks at all nodes for a receipt that the first one does not have. */
const OTHERS_EVERY_MS = 1_000;
/** Pauses between the first looks for a receipt: a chain that mines at once has it within a few milliseconds. */
const FIRST_PAUSES_MS = [2, 3, 5, 8, 13, 21];
/** Between all later ones. */
const PAUSE_MS = 40;

/** How long to wait after a look that found nothing, in milliseconds; `looks` counts those before it. */
export function pauseAfter(looks: number): number {
  return FIRST_PAUSES_MS[looks] ?? PAUSE_MS;
}

/**
 * Waits until one of the hashes of a nonce is mined: any replacement may be the one. Looks at once, then after pauses that grow, or
 * every `pollMs`. Null when `timeoutMs` is over, or `signal` aborted: never a failure. An outage while waiting is waited out; only the
 * last look's is thrown.
 */
export async function waitForReceipt(
  rpc: Rpc,
  hashes: readonly Hex[],
  { timeoutMs, pollMs, signal }: { readonly timeoutMs: number; readonly pollMs?: number; readonly signal?: AbortSignal },
): Promise<Receipt | null> {
  const deadline = performance.now() + timeoutMs;
  let othersAt = performance.now() + OTHERS_EVERY_MS;
  for (let looks = 0; ; looks += 1) {
    const last = performance.now() >= deadline || signal?.aborted === true;
    try {
      const receipts = await Promise.all(hashes.map((hash) => receiptOf(rpc, hash)));
      const mined = receipts.find((receipt) => receipt !== null);
      if (mined) return mined;
      if (performance.now() >= othersAt || last) {
        othersAt = performance.now() + OTHERS_EVERY_MS;
        const others = await Promise.all(hashes.map((hash) => receiptOfOthers(rpc, hash)));
        const elsewhere = others.find((receipt) => receipt !== null);
        if (elsewhere) return elsewhere;
      }
    } catch (error) {
      if (last) throw error;
    }
    if (last) return null;
    await sleep(Math.min(pollMs ?? pauseAfter(looks), Math.max(1, deadline - performance.now())));
  }
}

/** Numbers of the newest and of the safe block; `chain_unavailable` where a node shows no safe one. */
export async function blockNumbers(rpc: Rpc): Promise<{ readonly latest: bigint; readonly safe: bigint }> {
  const [latest, safe] = await Promise.all([askNode<Hex>(rpc, 'eth_blockNumber', []), blockAt(rpc, 'safe')]);
  return { latest: BigInt(latest), safe: safe.number };
}

/** Time of a block in epoch seconds; `chain_unavailable` when the node does not have it. */
export async function blockTimeSeconds(rpc: Rpc, block: bigint | 'latest' | 'safe'): Promise<bigint> {
  return (await blockAt(rpc, block)).timestamp;
}

/** Time of the block that a receipt is of, epoch seconds, as any URL shows it that has this block; `chain_unavailable` where none does. */
export async function blockTimeOf(rpc: Rpc, { blockNumber, blockHash }: Receipt): Promise<bigint> {
  const answers = await rpc.each<{ hash: Hex; timestamp: Hex } | null>('eth_getBlockByNumber', [quantity(blockNumber), false]);
  const block = answers.find(({ result }) => result !== null && lower(result.hash) === blockHash)?.result;
  if (!block) throw chainUnavailable(rpc.networkId);
  return BigInt(block.timestamp);
}

/**
 * Number and time (epoch seconds) of a block; `chain_unavailable` when the node does not have it. Where there are several URLs, `safe` is
 * what two of them call safe.
 */
export async function blockAt(rpc: Rpc, block: bigint | 'latest' | 'safe'): Promise<{ number: bigint; timestamp: bigint }> {
  if (block === 'safe' && hasOthers(rpc) && rpc.safeBlock) {
    const safe = await rpc.safeBlock();
    if (safe === null) throw chainUnavailable(rpc.networkId);
    return { number: safe.number, timestamp: BigInt(safe.timeSeconds) };
  }
  const tag = typeof block === 'bigint' ? quantity(block) : block;
  const raw = await askNode<{ number: Hex; timestamp: Hex } | null>(rpc, 'eth_getBlockByNumber', [tag, false]);
  if (raw === null) throw chainUnavailable(rpc.networkId);
  return { number: BigInt(raw.number), timestamp: BigInt(raw.timestamp) };
}

/** Blocks one `eth_getLogs` spans at most; public nodes refuse wide ranges. */
export const MAX_LOG_RANGE = 2_000n;

/** A range of blocks, both ends included, and whose transfers of it are meant: to or from any of the given addresses. */
export interface TransferRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly from?: readonly Address[];
  readonly to?: readonly Address[];
}

/** Transfer logs of the asset. */
export function listTransfers(rpc: Rpc, { asset }: Pick<Network, 'asset'>, range: TransferRange): Promise<readonly ChainLog[]> {
  return listLogs(rpc, asset, transferTopics(range), range);
}

/**
 * The same at every URL that answers, by its place in the configuration from 0; null in place of an answer that cannot be read. One query of
 * each, so the range is that of one query at most. Throws `chain_unavailable` when none answers.
 */
export async function listTransfersOfAll(
  rpc: Rpc,
  { asset }: Pick<Network, 'asset'>,
  range: TransferRange,
): Promise<ReadonlyMap<number, readonly ChainLog[] | null>> {
  const [fromBlock, toBlock] = [quantity(range.fromBlock), quantity(range.toBlock)];
  const filter = { address: asset, topics: transferTopics(range), fromBlock, toBlock };
  const answers = await rpc.each<readonly RawLog[] | null>('eth_getLogs', [filter], { unreadable: null });
  return new Map(answers.map(({ index, result }) => [index, result && logsOf(result)]));
}

function transferTopics({ from, to }: TransferRange): readonly unknown[] {
  return [TOPICS.transfer, from?.map(topicOf) ?? null, to?.map(topicOf) ?? null];
}

/** Logs of a contract by topics, both ends of the range included, a limited span a query; removed ones are left out. */
export async function listLogs(
  rpc: Rpc,
  address: Address,
  topics: readonly unknown[],
  { fromBlock, toBlock }: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<readonly ChainLog[]> {
  const found: ChainLog[] = [];
  for (let from = fromBlock; from <= toBlock; from += MAX_LOG_RANGE) {
    const to = from + MAX_LOG_RANGE - 1n < toBlock ? from + MAX_LOG_RANGE - 1n : toBlock;
    const filter = { address, topics, fromBlock: quantity(from), toBlock: quantity(to) };
    found.push(...logsOf(await askNode<readonly RawLog[]>(rpc, 'eth_getLogs', [filter])));
  }
  return found;
}

function logsOf(logs: readonly RawLog[]): readonly ChainLog[] {
  return logs.filter(({ removed }) => removed !== true).map(logOf);
}

/** The address that a log's topic holds. */
export function addressOfTopic(topic: string): Address {
  return `0x${topic.slice(-40)}`;
}

/** An address as a log's topic. */
export function topicOf(address: Address): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

/** Hex in lower case, as it is compared and stored. */
function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}

function logOf(raw: RawLog): ChainLog {
  return {
    address: lower(raw.address),
    topics: raw.topics.map(lower),
    data: raw.data,
    transactionHash: lower(raw.transactionHash),
    logIndex: Number(raw.logIndex),
    blockNumber: BigInt(raw.blockNumber),
    blockHash: lower(raw.blockHash),
  };
}
