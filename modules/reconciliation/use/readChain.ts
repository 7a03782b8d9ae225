import type { ChainLog } from '../../../platform/chain/evidence/evidence.ts';
import { blockNumbers, listTransfers } from '../../../platform/chain/evidence/receipts.ts';
import type { Rpc } from '../../../platform/chain/rpc/rpc.ts';
import { hasOthers } from '../../../platform/chain/rpc/rpc.ts';
import type { Marks } from '../store/chainRounds.ts';
import { findFirstBlock, findMarks, listRecipients, moveCursor } from '../store/chainRounds.ts';
import { compareUrls } from './compareUrls.ts';
import type { ReconcileDeps } from './deps.ts';
import { readSplits } from './splits.ts';
import type { BlockRange, RangeDeps } from './storeRange.ts';
import { filtersOf, storeRange, withValue } from './storeRange.ts';

/** Blocks below the safe one that every round reads again: a node that lagged behind is made good. */
const OVERLAP_BLOCKS = 32n;
/** Blocks of one round; a network that was not read for long is caught up with in several. */
const MAX_ROUND_BLOCKS = 10_000n;
/** What one round did. */
export interface RoundResult {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Transactions read again. */
  readonly read: number;
  /** Transactions that the chain shows no more. */
  readonly vanished: number;
  /** True when blocks are left to be read right away. */
  readonly behind: boolean;
}

/**
 * Reads the asset's transfers to every address we ever told a payer, and out of every split, from the stored mark to the newest
 * block, as evidence (invariant 10). Begins below the safe block, so that rows of a reorg are replaced and those of vanished
 * transactions removed. With several RPC URLs a second mark follows, up to which they showed the same (`compareUrls`); what one alone read
 * is read again where the other one was taken away. A second call changes nothing that did not change on chain. Throws chain_unavailable.
 */
export async function readChain(deps: ReconcileDeps, networkId: string): Promise<RoundResult> {
  const network = deps.networks.get(networkId);
  const rpc = deps.rpcOf(networkId);
  await readSplits(deps.database);
  const { latest, safe } = await blockNumbers(rpc);
  const marks = await findMarks(deps.database, networkId);
  const range = await chooseRange(deps, { networkId, rpc, marks }, latest, safe);
  // After `latest`: a payment stored later than this list is mined later than this range.
  const recipients = await listRecipients(deps.database, networkId);
  const call: RangeDeps = { ...deps, network, rpc, recipients };
  const logs: ChainLog[] = [];
  for (const filter of filtersOf(recipients)) logs.push(...(await listTransfers(rpc, network, { ...range, ...filter })));
  const { read, vanished, isAgain } = await storeRange(call, range, withValue(logs));
  const { fromBlock, toBlock } = range;
  const result = { fromBlock: Number(fromBlock), toBlock: Number(toBlock), read, vanished };
  if (isAgain) return { ...result, behind: true };
  // Last: a process that dies before has the whole range read again.
  const nextBlock = lower(toBlock, safe) + 1n;
  const firstCompared = hasOthers(rpc) ? fromBlock : nextBlock;
  await moveCursor(deps.database, { network: networkId, nextBlock, safeBlock: safe, latest, firstCompared });
  const compared = { from: marks.comparedBlock ?? firstCompared, end: nextBlock - OVERLAP_BLOCKS };
  const isComparing = await compareUrls(call, { ...compared, readTo: nextBlock });
  if (vanished > 0) deps.log.warn({ networkId, vanished }, 'the chain no longer shows evidence that it showed before');
  return { ...result, behind: toBlock < latest || isComparing };
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

async function chooseRange(
  deps: ReconcileDeps,
  { networkId, rpc, marks }: { readonly networkId: string; readonly rpc: Rpc; readonly marks: Marks },
  latest: bigint,
  safe: bigint,
): Promise<BlockRange> {
  const { nextBlock, comparedBlock } = marks;
  const read = nextBlock ?? (await findFirstBlock(deps.database, networkId)) ?? safe;
  // A URL that is alone now reads again what it was not compared about.
  const cursor = hasOthers(rpc) ? read : lower(read, comparedBlock ?? read);
  const start = lower(cursor, latest);
  const fromBlock = start > OVERLAP_BLOCKS ? start - OVERLAP_BLOCKS : 0n;
  return { fromBlock, toBlock: lower(fromBlock + MAX_ROUND_BLOCKS - 1n, latest) };
}
