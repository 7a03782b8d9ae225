import { raiseAlert } from '../../../db/alerts.ts';
import type { ChainLog } from '../../../platform/chain/evidence/evidence.ts';
import { evidenceFromLogs } from '../../../platform/chain/evidence/evidence.ts';
import { blockNumbers, blockTimeSeconds, listTransfers, receiptOf } from '../../../platform/chain/evidence/receipts.ts';
import type { Network } from '../../../platform/chain/network.ts';
import { waitingOf } from '../../../platform/chain/router/split.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import { hasOthers } from '../../../platform/chain/rpc/rpc.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { payeeOfWord } from '../../kernel/money/splitPayouts.ts';
import type { Hex } from '../../kernel/x402/payload.ts';
import { applyEvents } from '../../settlement/store/applyEvents.ts';
import type { ChainTransferRow } from '../../settlement/store/transfers.ts';
import { transferRows } from '../../settlement/use/batch/transferRows.ts';
import { recheckTransactions } from '../../settlement/use/watch/watch.ts';
import type { StoredPlace } from '../store/chainRounds.ts';
import {
  findCursor,
  findFirstBlock,
  listContradicted,
  listRecipients,
  listSplitsAt,
  listStored,
  moveCursor,
  recordRound,
  rememberPlace,
} from '../store/chainRounds.ts';
import type { ReconcileDeps } from './deps.ts';
import { readSplits } from './splits.ts';

/** Blocks below the safe one that every round reads again: a node that lagged behind is made good. */
const OVERLAP_BLOCKS = 32n;
/** Blocks of one round; a network that was not read for long is caught up with in several. */
const MAX_ROUND_BLOCKS = 10_000n;
/** Addresses of one log filter; nodes refuse long lists. */
const MAX_FILTER_ADDRESSES = 500;

/** What one round did. */
export interface RoundResult {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Transactions read anew. */
  readonly read: number;
  /** Transactions that the chain shows no more. */
  readonly vanished: number;
  /** True when blocks are left to be read right away. */
  readonly behind: boolean;
}

/**
 * Reads the asset's transfers to every address we ever told a payer, and out of every split, from the stored cursor to the newest
 * block, as evidence (invariant 10). Begins below the safe block, so that rows of a reorg are replaced and those of vanished
 * transactions removed. Which authorization moved a transfer comes from its whole receipt (safety 1). A second call changes
 * nothing that did not change on chain. Throws chain_unavailable.
 */
export async function readChain(deps: ReconcileDeps, networkId: string): Promise<RoundResult> {
  const network = deps.networks.get(networkId);
  const rpc = deps.rpcOf(networkId);
  await readSplits(deps.database);
  const { latest, safe } = await blockNumbers(rpc);
  const { fromBlock, toBlock } = await chooseRange(deps, networkId, latest, safe);
  // After `latest`: a payment stored later than this list is mined later than this range.
  const recipients = await listRecipients(deps.database, networkId);
  const logs = await readLogs(rpc, network, recipients, { fromBlock, toBlock });
  const stored = await listStored(deps.database, networkId, fromBlock, toBlock);
  const changed = changedTransactions(logs, stored, recipients);
  const rows = (await Promise.all([...changed].map((hash) => readTransaction(rpc, network, hash as Hex)))).flat();
  const shown = new Set(rows.map((row) => row.txHash));
  // Before the round is stored: evidence that vanished or moved takes its payments along, final ones too (safety 5).
  const storedBefore = new Set(stored.map((place) => place.txHash));
  const moved = [...changed].filter((hash) => storedBefore.has(hash));
  if (moved.length > 0) await recheckTransactions(deps, networkId, moved);
  await recordRound(deps.database, { network: networkId, fromBlock, toBlock, rows, vanished: [...changed] });
  await doubtDecisions(deps, networkId, { fromBlock, toBlock });
  if (await findPlaces(deps, networkId, logs, recipients)) {
    return { fromBlock: Number(fromBlock), toBlock: Number(toBlock), read: shown.size, vanished: 0, behind: true };
  }
  // Last: a process that dies before has the whole range read again.
  const headBlock = await supportedHead(rpc, latest);
  const nextBlock = lower(lower(toBlock, safe), headBlock) + 1n;
  await moveCursor(deps.database, { network: networkId, nextBlock, safeBlock: safe, headBlock });
  const vanished = [...changed].filter((hash) => !shown.has(hash as Hex)).length;
  if (vanished > 0) deps.log.warn({ networkId, vanished }, 'the chain no longer shows evidence that it showed before');
  return { fromBlock: Number(fromBlock), toBlock: Number(toBlock), read: shown.size, vanished, behind: toBlock < latest };
}

/**
 * Remembers the places where parts wait of authors whom the token refused (`flushAround`, which anybody may call), and says so to those who
 * sell to them. True when one is new: what left it may stand in the same blocks, which are then read again.
 */
async function findPlaces(
  { database, log }: ReconcileDeps,
  networkId: string,
  logs: readonly ChainLog[],
  recipients: Recipients,
): Promise<boolean> {
  const splits = new Set(recipients.splits);
  const paidBy = new Map<Address, Set<Address>>();
  for (const { topics } of logs) {
    const [from, to] = [addressOf(topics[1] ?? ''), addressOf(topics[2] ?? '')];
    if (splits.has(from)) paidBy.set(from, (paidBy.get(from) ?? new Set()).add(to));
  }
  let isAnyNew = false;
  for (const { payTo: split, router, legWords } of await listSplitsAt(database, networkId, [...paidBy.keys()])) {
    const wallets = legWords.map((word) => payeeOfWord(word).wallet);
    for (const to of [...(paidBy.get(split) ?? [])].filter((end) => !wallets.includes(end))) {
      const wallet = wallets.find((one) => waitingOf(one, router).payTo === to);
      if (wallet === undefined) continue;
      const place = { payTo: to, router, legWords: [waitingOf(wallet, router).word] };
      const { isNew, tenantIds } = await rememberPlace(database, networkId, place, split);
      isAnyNew ||= isNew;
      if (isNew)
        log.warn(
          { networkId, split, wallet, place: to },
          'the token refuses to pay an author; his part of a split waits for him',
        );
      const detail = `${networkId} ${wallet}: his part of ${split} waits at ${to}`;
      for (const tenantId of tenantIds) await raiseAlert(database, 'payee_blocked', detail, tenantId);
    }
  }
  if (isAnyNew) await readSplits(database);
  return isAnyNew;
}

function addressOf(topic: string): Address {
  return `0x${topic.slice(-40)}`;
}

/** The newest block that two URLs reach, so that no mark stands where one alone says that the chain is; with one that answers, its own. */
async function supportedHead(rpc: Rpc, latest: bigint): Promise<bigint> {
  if (!hasOthers(rpc)) return latest;
  const heads = (await rpc.each<Hex>('eth_blockNumber', [])).map(({ result }) => BigInt(result));
  const [first = latest, second = first] = heads.toSorted((a, b) => Number(b - a));
  return second;
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** What a stored transfer contradicts is watched again, and an operator looks; the sweeper judges it anew, and pays out its answer. */
async function doubtDecisions(
  { database, log }: ReconcileDeps,
  networkId: string,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<void> {
  const payments = await listContradicted(database, networkId, range);
  if (payments.length === 0) return;
  log.error({ networkId, payments: payments.length }, 'the chain shows transfers for payments that were decided otherwise');
  const event = { type: 'contradicted' } as const;
  await applyEvents(
    database,
    payments.map((payment) => ({ ...payment, event })),
  );
}

async function chooseRange(deps: ReconcileDeps, networkId: string, latest: bigint, safe: bigint) {
  const cursor = (await findCursor(deps.database, networkId)) ?? (await findFirstBlock(deps.database, networkId)) ?? safe;
  const start = cursor < latest ? cursor : latest;
  const fromBlock = start > OVERLAP_BLOCKS ? start - OVERLAP_BLOCKS : 0n;
  const last = fromBlock + MAX_ROUND_BLOCKS - 1n;
  return { fromBlock, toBlock: last < latest ? last : latest };
}

type Recipients = Awaited<ReturnType<typeof listRecipients>>;

async function readLogs(
  rpc: Rpc,
  network: Network,
  recipients: Recipients,
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
) {
  const logs: ChainLog[] = [];
  for (const to of chunks(recipients.payTos)) logs.push(...(await listTransfers(rpc, network, { ...range, to })));
  for (const from of chunks(recipients.splits)) logs.push(...(await listTransfers(rpc, network, { ...range, from })));
  return logs.filter(({ data }) => BigInt(data) > 0n); // a transfer of nothing is no evidence (transferRows)
}

function* chunks(addresses: readonly string[]): Generator<Address[]> {
  for (let at = 0; at < addresses.length; at += MAX_FILTER_ADDRESSES) {
    yield addresses.slice(at, at + MAX_FILTER_ADDRESSES) as Address[];
  }
}

/** Transactions of which the chain shows something else than is stored: new, moved, altered, or gone. */
function changedTransactions(logs: readonly ChainLog[], stored: readonly StoredPlace[], recipients: Recipients): Set<string> {
  const payTos = new Set(recipients.payTos);
  const splits = new Set(recipients.splits);
  const name = (place: StoredPlace): string =>
    [place.txHash, place.logIndex, place.blockHash, place.from, place.to, place.amountMicro].join(' ');
  const shown = new Map<string, string>();
  for (const log of logs) {
    const [, from = '', to = ''] = log.topics;
    const place = {
      txHash: log.transactionHash,
      logIndex: log.logIndex,
      blockHash: log.blockHash,
      amountMicro: BigInt(log.data),
    };
    shown.set(name({ ...place, from: addressOf(from), to: addressOf(to) }), log.transactionHash);
  }
  const known = new Set(stored.map(name));
  const changed = new Set<string>();
  for (const [place, hash] of shown) if (!known.has(place)) changed.add(hash);
  for (const place of stored) {
    if ((payTos.has(place.to) || splits.has(place.from)) && !shown.has(name(place))) changed.add(place.txHash);
  }
  return changed;
}

/** All transfers of a transaction as the chain shows it now; none when it is gone or failed. */
async function readTransaction(rpc: Rpc, network: Network, hash: Hex): Promise<readonly ChainTransferRow[]> {
  const receipt = await receiptOf(rpc, hash);
  if (receipt === null || receipt.status !== 'success') return [];
  const blockTime = new Date(Number(await blockTimeSeconds(rpc, receipt.blockNumber)) * 1_000);
  return transferRows(network, evidenceFromLogs(receipt.logs, network), blockTime);
}
