import type { Receipt } from '../../../../platform/chain/evidence/receipts.ts';
import { blockAt, listReceipts } from '../../../../platform/chain/evidence/receipts.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import { chainUnavailable, whereAway } from '../../../../platform/chain/rpc/rpc.ts';
import { isOvertaken } from '../../rules/carrier.ts';
import type { RelayerTransaction } from '../../store/attempts.ts';
import { listAttempts, listAttemptsOf } from '../../store/attempts.ts';
import { countBroadcast, listBatchPayments } from '../../store/payment.ts';
import type { Batch } from '../../store/relayer.ts';
import { listUnfinishedBatches, setBatchState } from '../../store/relayer.ts';
import type { Chain, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { sendBatch } from '../relayer/broadcast.ts';
import { adoptNonce } from '../relayer/nonce.ts';
import type { Budget } from '../watch/budget.ts';
import { confirmBatch, decideBatch } from './confirm.ts';
import { runRound } from './round.ts';

/** What the chain shows of a relayer key now. */
interface Seen {
  /** Transactions of the key at the safe block, as far as they are believed. */
  readonly safeCount: bigint;
  readonly safeBlock: bigint;
  /** Receipts of its unfinished batches, by transaction. */
  readonly receipts: ReadonlyMap<string, Receipt | null>;
}

/**
 * Sweeps every batch of a network that is not safe yet and that no workflow holds: open ones are confirmed or sent again, mined ones are read
 * again until they are at the safe block, and sent again when a reorg took them. Unmined ones are looked at even if a workflow holds them, since a nonce that
 * was used elsewhere shows in the count of the key alone.
 */
export async function sweepBatches(deps: SettlementDeps, networkId: string, budget: Budget): Promise<void> {
  const call = chainOf(deps, networkId);
  for (const { address } of deps.relayersOf(networkId)) {
    const ref = { network: networkId, address };
    const safeCount = await adoptNonce(deps, ref);
    const batches = await listUnfinishedBatches(deps.database, ref);
    const ids = batches.map(({ batchId }) => batchId);
    const attempts = await listAttemptsOf(deps.database, ids);
    const hashes = attempts.map(({ txHash }) => txHash);
    const [receipts, safe] = await Promise.all([listReceipts(call.rpc, hashes), safeBlock(call.rpc)]);
    const seen = { safeCount, safeBlock: safe, receipts };
    const attemptsOf = Map.groupBy(attempts, ({ batchId }) => batchId);
    for (const batch of batches) {
      if (budget.isSpent()) break;
      try {
        await sweepBatch(call, batch, attemptsOf.get(batch.batchId) ?? [], seen);
      } catch (error) {
        deps.log.warn({ batchId: batch.batchId, error: String(error) }, 'a batch could not be swept; the next sweep retries it');
      }
    }
  }
}

/**
 * One look at a batch that is mined: safe once its nonce is used below the safe block, sent again where a reorg took it. That its nonce was used by
 * others is seen by the sweeper, which reads the count of the key.
 */
export async function lookAtBatch(deps: SettlementDeps, batch: Batch): Promise<void> {
  if (batch.state === 'safe') return; // whatever used its nonce: its bytes are never wanted again
  const call = chainOf(deps, batch.network);
  const attempts = await listAttempts(deps.database, batch.batchId);
  const hashes = attempts.map(({ txHash }) => txHash);
  const [receipts, safe] = await Promise.all([listReceipts(call.rpc, hashes), safeBlock(call.rpc)]);
  await sweepBatch(call, batch, attempts, { safeCount: 0n, safeBlock: safe, receipts });
}

/** The safe block; below all blocks where no node shows one: batches are decided then, and none is done with. */
async function safeBlock(rpc: Rpc): Promise<bigint> {
  const safe = await blockAt(rpc, 'safe').catch(whereAway(null));
  return safe?.number ?? -1n;
}

/** One batch: decided from its receipt, or sent again where there is none. */
async function sweepBatch(
  call: Chain<SettlementDeps>,
  batch: Batch,
  attempts: readonly RelayerTransaction[],
  seen: Seen,
): Promise<void> {
  const { deps, network, rpc } = call;
  const found = attempts.map(({ txHash }) => seen.receipts.get(txHash));
  const receipt = found.find((one) => one);
  if (receipt) {
    const isDone = batch.state === 'mined' && (await countBroadcast(deps.database, batch.batchId)) === 0;
    const { undecided } = isDone ? { undecided: 0 } : await decideBatch(call, { batch, attempts }, receipt);
    if (undecided === 0 && receipt.blockNumber <= seen.safeBlock) await setBatchState(deps.database, batch.batchId, 'safe');
    return;
  }
  if (found.includes(undefined)) throw chainUnavailable(rpc.networkId); // no answer is not a no
  if (isOvertaken(batch.nonce, seen.safeCount)) {
    await releaseOvertaken(call, batch);
  } else if (batch.state === 'open') {
    await confirmBatch(deps, batch.batchId, { timeoutMs: 0 });
  } else {
    await setBatchState(deps.database, batch.batchId, 'open');
    await sendBatch(deps, network, rpc, batch.batchId);
  }
}

/**
 * The relayer's nonce was used elsewhere: at the safe block its count is past the batch's nonce and none of our bytes is
 * mined, so they never will be. Its payments go out again, after a look for evidence, and its place in flight is free (safety 8).
 */
export async function releaseOvertaken(call: Chain<SettlementDeps>, batch: Batch): Promise<void> {
  const payments = await listBatchPayments(call.deps.database, batch.batchId);
  const carrier = { batchId: batch.batchId, size: payments.length, fate: 'overtaken' } as const;
  const open = payments.filter(({ facts }) => facts.state === 'broadcast');
  await runRound(
    call,
    open.map((payment) => ({ payment, carrier, hashes: [] })),
    { atSafe: false },
  );
  await setBatchState(call.deps.database, batch.batchId, 'safe');
}
