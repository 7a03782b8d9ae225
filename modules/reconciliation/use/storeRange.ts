import type { ChainLog } from '../../../platform/chain/evidence/evidence.ts';
import { evidenceFromLogs } from '../../../platform/chain/evidence/evidence.ts';
import type { TransferRange } from '../../../platform/chain/evidence/receipts.ts';
import { addressOfTopic, blockTimeSeconds, findReceipt, receiptOf } from '../../../platform/chain/evidence/receipts.ts';
import type { Network } from '../../../platform/chain/network.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import type { Address } from '../../kernel/money/legs.ts';
import type { Hex } from '../../kernel/x402/payload.ts';
import { applyEvents } from '../../settlement/store/applyEvents.ts';
import type { ChainTransferRow } from '../../settlement/store/transfers.ts';
import { transferRows } from '../../settlement/use/batch/transferRows.ts';
import { recheckTransactions } from '../../settlement/use/watch/watch.ts';
import type { StoredPlace } from '../store/chainRounds.ts';
import { listContradicted, listStored, recordRound } from '../store/chainRounds.ts';
import type { ReconcileDeps } from './deps.ts';
import { findPlaces } from './places.ts';

/** Blocks, both ends included. */
export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** Whose transfers are looked for. */
export interface Recipients {
  readonly payTos: readonly string[];
  readonly splits: readonly string[];
}

/** What storing a range runs with. */
export interface RangeDeps extends ReconcileDeps {
  readonly network: Network;
  readonly rpc: Rpc;
  readonly recipients: Recipients;
}

/** What became of a range. */
export interface Stored {
  /** Transactions read again. */
  readonly read: number;
  /** Transactions that the chain shows no more. */
  readonly vanished: number;
  /** A place was found where a part waits (`findPlaces`): the range is to be read again, with it. */
  readonly isAgain: boolean;
}

/** Addresses of one log filter; nodes refuse long lists. */
const MAX_FILTER_ADDRESSES = 500;

/** One log filter: transfers to these addresses, or from them. */
export type Filter = Pick<TransferRange, 'from' | 'to'>;

/** The filters that find the transfers to everybody we told a payer of, and out of every split. */
export function filtersOf({ payTos, splits }: Recipients): readonly Filter[] {
  return [...chunks(payTos)].map((to): Filter => ({ to })).concat([...chunks(splits)].map((from) => ({ from })));
}

function* chunks(addresses: readonly string[]): Generator<Address[]> {
  for (let at = 0; at < addresses.length; at += MAX_FILTER_ADDRESSES) {
    yield addresses.slice(at, at + MAX_FILTER_ADDRESSES) as Address[];
  }
}

/** Without transfers of nothing, which are no evidence (transferRows). */
export function withValue(logs: readonly ChainLog[]): readonly ChainLog[] {
  return logs.filter(({ data }) => BigInt(data) > 0n);
}

/**
 * Makes the stored transfers of a range those that the logs show. Which authorization moved a transfer comes from its whole receipt
 * (safety 1). Evidence that vanished or moved takes its payments along, and decisions that a transfer contradicts are doubted. A second call
 * changes nothing. Throws chain_unavailable.
 */
export async function storeRange(deps: RangeDeps, range: BlockRange, logs: readonly ChainLog[]): Promise<Stored> {
  const { database, network, rpc } = deps;
  const { stored, changed } = await findChanged(deps, range, logs);
  const inLogs = new Set<string>(logs.map(({ transactionHash }) => transactionHash));
  const rows = (
    await Promise.all([...changed].map((hash) => readTransaction(rpc, network, hash as Hex, inLogs.has(hash))))
  ).flat();
  // Before the round is stored: evidence that vanished or moved takes its payments along, final ones too (safety 5).
  const storedBefore = new Set(stored.map((place) => place.txHash));
  const moved = [...changed].filter((hash) => storedBefore.has(hash));
  if (moved.length > 0) await recheckTransactions(deps, network.id, moved);
  await recordRound(database, { network: network.id, ...range, rows, vanished: [...changed] });
  await doubtDecisions(deps, range);
  const shown = new Set<string>(rows.map((row) => row.txHash));
  const isAgain = await findPlaces(deps, logs);
  return { isAgain, read: shown.size, vanished: [...changed].filter((hash) => !shown.has(hash)).length };
}

/** What is stored of a range, and the transactions of which the logs show something else: new, moved, altered, or gone. */
export async function findChanged(
  { database, network, recipients }: RangeDeps,
  { fromBlock, toBlock }: BlockRange,
  logs: readonly ChainLog[],
): Promise<{ readonly stored: readonly StoredPlace[]; readonly changed: ReadonlySet<string> }> {
  const stored = await listStored(database, network.id, fromBlock, toBlock);
  const payTos = new Set(recipients.payTos);
  const splits = new Set(recipients.splits);
  const shown = new Map(logs.map((log) => [nameOf(placeOf(log)), log.transactionHash]));
  const known = new Set(stored.map(nameOf));
  const changed = new Set<string>();
  for (const [place, hash] of shown) if (!known.has(place)) changed.add(hash);
  for (const place of stored) {
    if ((payTos.has(place.to) || splits.has(place.from)) && !shown.has(nameOf(place))) changed.add(place.txHash);
  }
  return { stored, changed };
}

/** Transfers in words, in order: the same for the same transfers at the same places. */
export function wordsOf(logs: readonly ChainLog[]): string {
  return logs
    .map((log) => nameOf(placeOf(log)))
    .toSorted()
    .join('\n');
}

function placeOf({ transactionHash: txHash, logIndex, blockHash, data, topics }: ChainLog): StoredPlace {
  const [, from = '', to = ''] = topics;
  return { txHash, logIndex, blockHash, from: addressOfTopic(from), to: addressOfTopic(to), amountMicro: BigInt(data) };
}

function nameOf(place: StoredPlace): string {
  return [place.txHash, place.logIndex, place.blockHash, place.from, place.to, place.amountMicro].join(' ');
}

/** What a stored transfer contradicts is watched again, and an operator looks; the sweeper judges it again, and pays out its answer. */
async function doubtDecisions({ database, log, network }: RangeDeps, range: BlockRange): Promise<void> {
  const payments = await listContradicted(database, network.id, range);
  if (payments.length === 0) return;
  log.error(
    { networkId: network.id, payments: payments.length },
    'the chain shows transfers for payments that were decided otherwise',
  );
  const event = { type: 'contradicted' } as const;
  await applyEvents(
    database,
    payments.map((payment) => ({ ...payment, event })),
  );
}

/** All transfers of a transaction as the chain shows it now; none when it is gone or failed. Where a log shows it, any node may have it. */
async function readTransaction(rpc: Rpc, network: Network, hash: Hex, isShown: boolean): Promise<readonly ChainTransferRow[]> {
  const receipt = await (isShown ? findReceipt : receiptOf)(rpc, hash);
  if (receipt === null || receipt.status !== 'success') return [];
  const blockTime = new Date(Number(await blockTimeSeconds(rpc, receipt.blockNumber)) * 1_000);
  return transferRows(network, evidenceFromLogs(receipt.logs, network), blockTime);
}
