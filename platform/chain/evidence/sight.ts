/**
 * The one reader of the chain for judging payments: up to 200 authorizations by one call for their nonces, one log query for those that
 * are used, and the receipts that the logs stand in.
 */

import type { Sight, Spending } from '../../../modules/kernel/payment/sight.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Network } from '../network.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { askNode, isChainUnavailable, quantity, whereAway } from '../rpc/rpc.ts';
import type { ChainEvidence } from './evidence.ts';
import { evidenceFromLogs, TOPICS } from './evidence.ts';
import type { Receipt } from './receipts.ts';
import { blockAt, blockTimeSeconds, listLogs, receiptOf, topicOf } from './receipts.ts';
import type { SecondWord } from './secondSource.ts';
import { expiryWordsOf, secondWordsOf } from './secondSource.ts';
import type { NonceKey } from './spending.ts';
import { spendingIn } from './spending.ts';
import { listUsedNonces } from './states.ts';

/** One authorization to look at. */
export interface SightAsk extends NonceKey {
  /** Transactions that may have moved it: of its evidence, or of its batch. They are read first; what they show is not asked again. */
  readonly hashes: readonly Hex[];
  /** Where its log can stand at the earliest; null: near the head. */
  readonly sinceBlock: bigint | null;
  /** Epoch seconds. That its time is over and it is unused at the safe block takes two nodes; left out: that it is unused there. */
  readonly validBefore?: bigint;
  /** True for what one node alone must not say (`needsSecondSource`). */
  readonly needsSecond?: (spending: Spending | null) => boolean;
}

/** A receipt that was read, decoded once. */
export interface ReadReceipt {
  readonly receipt: Receipt;
  readonly evidence: ChainEvidence;
  readonly timeSeconds: bigint;
}

/** What the chain shows of one authorization. */
export interface ChainSight extends Pick<Sight, 'head' | 'nonce' | 'safe' | 'spending' | 'doubt'> {
  /** Nodes show different things of it, whether two agree or not: an operator should hear of it. */
  readonly isContradicted: boolean;
}

/** Sights in the order asked, and the receipts that were read for them, by transaction. */
export interface Sights {
  readonly sights: readonly ChainSight[];
  readonly receipts: ReadonlyMap<string, ReadReceipt>;
}

/** How far a reorg may have moved a transaction below the block at which its nonce was seen unused. */
const REORG_BLOCKS = 64n;
/** Log queries of one reading: a query that a node refuses is halved, so that one authorization cannot hide the others. */
const MOST_LOG_QUERIES = 24;

/**
 * Reads what the chain shows of at most 200 authorizations. `atSafe` asks for the state of the nonces at the safe block too. What a
 * node does not show consistently (a log without its receipt, or in another block) is no spending: the nonce is used and nothing more
 * is said. Where no node shows a safe block, `safe` is null: what is settled needs confirmations alone. Reads only. Throws
 * ServiceError `chain_unavailable` in an outage.
 */
export async function readSights(
  rpc: Rpc,
  network: Pick<Network, 'asset' | 'router'>,
  asks: readonly SightAsk[],
  options: { readonly atSafe: boolean; readonly receipts?: readonly Receipt[] },
): Promise<Sights> {
  if (asks.length === 0) return { sights: [], receipts: new Map() };
  const reader = new ReceiptReader(rpc, network, options.receipts ?? []);
  const [head, safe] = await Promise.all([
    askNode<Hex>(rpc, 'eth_blockNumber', []).then(BigInt),
    blockAt(rpc, 'safe').catch(whereAway(null)),
    reader.read(asks.flatMap((ask) => ask.hashes)),
  ]);
  const found = new Map<SightAsk, Spending>();
  for (const ask of asks) note(found, ask, reader.spendingOf(ask, ask.hashes));
  const open = asks.filter((ask) => !found.has(ask));
  const [used, usedAtSafe] = await Promise.all([
    listUsedNonces(rpc, network, open),
    // At a block that this node cannot read, nothing is known to be unused.
    options.atSafe && safe ? listUsedNonces(rpc, network, open, quantity(safe.number)).catch(whereAway(null)) : null,
  ]);
  const spent = open.filter((_, at) => used[at]);
  for (const [ask, spending] of await findByLog({ rpc, network, reader }, spent, head)) note(found, ask, spending);
  const place = new Map(open.map((ask, at) => [ask, at]));
  const ended = safe ? open.filter((ask, at) => usedAtSafe?.[at] === false && safe.timestamp > (ask.validBefore ?? 0n)) : [];
  const [words, expiryWords] = await Promise.all([
    secondWordsOf(rpc, network, asks, { found, receipts: reader.receipts, safeBlock: safe?.number ?? null }),
    safe ? expiryWordsOf(rpc, network, ended, safe.number) : new Map<SightAsk, SecondWord>(),
  ]);
  for (const [ask, { instead }] of words) {
    if (!instead) continue;
    found.delete(ask);
    reader.receipts.set(instead.receipt.hash, instead);
    note(found, ask, reader.spendingOf(ask, [instead.receipt.hash]));
  }
  const sights = asks.map((ask): ChainSight => {
    const at = place.get(ask);
    const isUsed = at === undefined || used[at] === true || found.has(ask);
    const [word, ofEnd] = [words.get(ask), expiryWords.get(ask)];
    const doubt = word?.doubt ?? (ofEnd?.doubt === 'disputed' ? ofEnd.doubt : undefined);
    const isUnusedAtSafe = !found.has(ask) && at !== undefined && usedAtSafe?.[at] === false && !ofEnd?.doubt;
    return {
      head,
      nonce: isUsed ? 'used' : 'unused',
      safe: safe && { blockNumber: safe.number, timeSeconds: safe.timestamp, nonce: isUnusedAtSafe ? 'unused' : 'used' },
      spending: found.get(ask) ?? null,
      ...(doubt && { doubt }),
      isContradicted: word?.isContradicted === true || ofEnd?.isContradicted === true,
    };
  });
  return { sights, receipts: reader.receipts };
}

/** A receipt with its logs read and its block's time. Throws `chain_unavailable` when the node does not have the block. */
export async function readReceipt(rpc: Rpc, network: Pick<Network, 'asset' | 'router'>, receipt: Receipt): Promise<ReadReceipt> {
  const timeSeconds = await blockTimeSeconds(rpc, receipt.blockNumber);
  return { receipt, evidence: evidenceFromLogs(receipt.logs, network), timeSeconds };
}

function note(found: Map<SightAsk, Spending>, ask: SightAsk, spending: Spending | null): void {
  if (spending) found.set(ask, spending);
}

/** Where used nonces went, by their logs and by the whole receipt each stands in: the neighbouring log is the proof (safety 1). */
async function findByLog(
  { rpc, network, reader }: { readonly rpc: Rpc; readonly network: Pick<Network, 'asset'>; readonly reader: ReceiptReader },
  asks: readonly SightAsk[],
  head: bigint,
): Promise<readonly (readonly [SightAsk, Spending | null])[]> {
  if (asks.length === 0) return [];
  const logs: Awaited<ReturnType<typeof listLogs>>[number][] = [];
  const queue: (readonly SightAsk[])[] = [asks];
  for (let asked = 0; asked < MOST_LOG_QUERIES; asked += 1) {
    const some = queue.shift();
    if (!some) break;
    try {
      logs.push(...(await listLogs(rpc, network.asset, topicsOf(some), { fromBlock: firstBlock(some, head), toBlock: head })));
    } catch (error) {
      if (!isChainUnavailable(error)) throw error;
      const middle = Math.ceil(some.length / 2);
      if (some.length > 1) queue.push(some.slice(0, middle), some.slice(middle));
    }
  }
  const logOf = new Map(logs.map((log) => [keyOf(log.topics[1] ?? '0x', log.topics[2] ?? '0x'), log]));
  const wanted = asks.map((ask) => [ask, logOf.get(keyOf(topicOf(ask.payer), ask.nonce))] as const);
  await reader.read(wanted.flatMap(([, log]) => (log ? [log.transactionHash] : [])));
  return wanted.map(([ask, log]) => {
    if (!log || reader.receipts.get(log.transactionHash)?.receipt.blockHash !== log.blockHash) return [ask, null];
    return [ask, reader.spendingOf(ask, [log.transactionHash])];
  });
}

function topicsOf(asks: readonly SightAsk[]): readonly unknown[] {
  const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];
  return [
    [TOPICS.authorizationUsed, TOPICS.authorizationCanceled],
    unique(asks.map(({ payer }) => topicOf(payer))),
    unique(asks.map(({ nonce }) => nonce)),
  ];
}

/** The earliest block that any of them can stand in. */
function firstBlock(asks: readonly SightAsk[], head: bigint): bigint {
  let since = head;
  for (const { sinceBlock } of asks) if (sinceBlock !== null && sinceBlock < since) since = sinceBlock;
  return since > REORG_BLOCKS ? since - REORG_BLOCKS : 0n;
}

function keyOf(payerTopic: Hex, nonce: Hex): string {
  return `${payerTopic} ${nonce}`;
}

/** Reads each receipt and each block's time once. A receipt that is not there, or that the node does not give, is absent. */
class ReceiptReader {
  readonly receipts = new Map<string, ReadReceipt>();
  readonly #rpc: Rpc;
  readonly #network: Pick<Network, 'asset' | 'router'>;
  readonly #given: ReadonlyMap<string, Receipt>;
  readonly #times = new Map<bigint, Promise<bigint>>();

  constructor(rpc: Rpc, network: Pick<Network, 'asset' | 'router'>, given: readonly Receipt[]) {
    this.#rpc = rpc;
    this.#network = network;
    this.#given = new Map(given.map((receipt) => [receipt.hash, receipt]));
  }

  async read(hashes: readonly Hex[]): Promise<void> {
    const missing = [...new Set(hashes)].filter((hash) => !this.receipts.has(hash));
    await Promise.all(missing.map((hash) => this.#readOne(hash)));
  }

  async #readOne(hash: Hex): Promise<void> {
    try {
      const receipt = this.#given.get(hash) ?? (await receiptOf(this.#rpc, hash));
      if (!receipt) return;
      const time = this.#times.get(receipt.blockNumber) ?? blockTimeSeconds(this.#rpc, receipt.blockNumber);
      this.#times.set(receipt.blockNumber, time);
      const timeSeconds = await time;
      this.receipts.set(hash, { receipt, evidence: evidenceFromLogs(receipt.logs, this.#network), timeSeconds });
    } catch (error) {
      if (!isChainUnavailable(error)) throw error;
    }
  }

  /** Where one of these transactions shows that the nonce went; null when none does. */
  spendingOf(key: NonceKey, hashes: readonly Hex[]): Spending | null {
    for (const hash of hashes) {
      const read = this.receipts.get(hash);
      const spending = read && spendingIn(read.evidence, key, read.timeSeconds);
      if (spending) return spending;
    }
    return null;
  }
}
