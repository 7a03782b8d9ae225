/** Reads of what happened: receipts, blocks, logs, the state of a nonce. An outage is always `chain_unavailable`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import type { Rpc } from '../rpc/rpc.ts';
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
  return receiptFrom(rpc, await askNode<RawReceipt | null>(rpc, 'eth_getTransactionReceipt', [hash]));
}

/**
 * The receipts of a transaction at every URL that answers, by the order of the configuration; null from one that does not have it. Throws
 * `chain_unavailable` when none answers.
 */
export async function receiptsOfAll(rpc: Rpc, hash: Hex): Promise<readonly (Receipt | null)[]> {
  const answers = await rpc.each<RawReceipt | null>('eth_getTransactionReceipt', [hash]);
  return answers.map(({ result }) => receiptFrom(rpc, result));
}

function receiptFrom(rpc: Rpc, raw: RawReceipt | null): Receipt | null {
  if (raw === null || raw.blockNumber === null || raw.blockHash === null) return null;
  return {
    hash: raw.transactionHash,
    status: BigInt(raw.status) === 1n ? 'success' : 'reverted',
    blockNumber: BigInt(raw.blockNumber),
    blockHash: hashOf(rpc, raw.blockHash),
    gasUsed: BigInt(raw.gasUsed),
    effectiveGasPriceWei: BigInt(raw.effectiveGasPrice ?? 0),
    l1FeeWei: BigInt(raw.l1Fee ?? 0),
    logs: raw.logs.map((log) => logOf(rpc, log)),
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
  return (await receiptsOfAll(rpc, hash)).find((receipt) => receipt !== null) ?? null;
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
  const answers = await rpc.each<readonly RawLog[]>('eth_getLogs', [filter]);
  return new Map(answers.map(({ index, result }) => [index, readableLogs(rpc, result)]));
}

function transferTopics({ from, to }: TransferRange): readonly unknown[] {
  return [TOPICS.transfer, from?.map(topicOf) ?? null, to?.map(topicOf) ?? null];
}

function readableLogs(rpc: Rpc, logs: readonly RawLog[]): readonly ChainLog[] | null {
  try {
    return logsOf(rpc, logs);
  } catch {
    return null;
  }
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
    found.push(...logsOf(rpc, await askNode<readonly RawLog[]>(rpc, 'eth_getLogs', [filter])));
  }
  return found;
}

function logsOf(rpc: Rpc, logs: readonly RawLog[]): readonly ChainLog[] {
  return logs.filter(({ removed }) => removed !== true).map((log) => logOf(rpc, log));
}

/** The address that a log's topic holds. */
export function addressOfTopic(topic: string): Address {
  return `0x${topic.slice(-40)}`;
}

/** An address as a log's topic. */
export function topicOf(address: Address): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

/** A hash in lower case, as it is compared and stored; whatever is none is no answer. */
function hashOf(rpc: Rpc, hash: Hex): Hex {
  if (!/^0x[0-9a-f]{64}$/i.test(hash)) throw chainUnavailable(rpc.networkId);
  return hash.toLowerCase() as Hex;
}

function logOf(rpc: Rpc, raw: RawLog): ChainLog {
  return {
    address: raw.address.toLowerCase() as Address,
    topics: raw.topics.map((topic) => topic.toLowerCase() as Hex),
    data: raw.data,
    transactionHash: hashOf(rpc, raw.transactionHash),
    logIndex: Number(raw.logIndex),
    blockNumber: BigInt(raw.blockNumber),
    blockHash: hashOf(rpc, raw.blockHash),
  };
}
