import { randomUUID } from 'node:crypto';
import { chooseFees, requiredBalance } from '../../chain/fees.ts';
import { encodeFlush } from '../../chain/flush.ts';
import { readCall } from '../../chain/multicall.ts';
import { isEvmRefusal } from '../../chain/rpc.ts';
import { listBalances } from '../../chain/states.ts';
import { baseFeeOf, gasBalance, signTransaction } from '../../chain/transaction.ts';
import { listBlockedPayees } from '../../db/settlement/admission.ts';
import { countOpenFlushes, insertBatch, lockLane } from '../../db/settlement/relayer.ts';
import type { KnownSplit } from '../../db/settlement/sweep.ts';
import { takeSplitsToCheck } from '../../db/settlement/sweep.ts';
import type { RelayerKey, SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { sendBatch } from './lane.ts';
import { markPayee } from './simulate.ts';

const LIMIT = 200;

/**
 * Pays out whatever lies at a split, however it came there: a front-run authorization, a donation, an old router's split
 * (safety 4). One transaction a split; returns how many were sent. Splits on their way in a batch are left alone, and so are those
 * that cannot be paid out now: a flush that reverts would cost gas in every round. Flushes leave room for payments in the lane.
 * A split that holds less than the lowest price is left alone, too, or whoever sends a micro a round to each would spend our gas; what
 * a payment leaves there is never less. Dust waits until it adds up.
 */
export async function flushSplits(deps: SettlementDeps, networkId: string): Promise<number> {
  const { network, rpc } = chainOf(deps, networkId);
  const splits = await takeSplitsToCheck(deps.database, networkId, LIMIT);
  const balances = await listBalances(
    rpc,
    network,
    splits.map((split) => split.payTo),
  );
  let sent = 0;
  for (const [index, split] of splits.entries()) {
    if ((balances[index] ?? 0n) < deps.settings.dustBelowMicro) continue;
    try {
      if (!(await canBePaidOut(deps, networkId, split))) continue;
      if ((await countOpenFlushes(deps.database, networkId)) * 2 >= deps.settings.inFlightLimit) return sent;
      if (!(await flushSplit(deps, networkId, split))) return sent;
      sent += 1;
    } catch (error) {
      deps.log.warn({ networkId, payTo: split.payTo, error: String(error) }, 'a split could not be paid out; it is tried again');
    }
  }
  return sent;
}

/** False, and marked, when a transfer to one of its authors reverts; the check of blocked recipients lifts it (safety 18). */
async function canBePaidOut(deps: SettlementDeps, networkId: string, split: KnownSplit): Promise<boolean> {
  const { network, rpc } = chainOf(deps, networkId);
  if ((await listBlockedPayees(deps.database, networkId, [split.payTo])).size > 0) return false;
  const { to, data } = encodeFlush(network, split);
  try {
    await readCall(rpc, { to, data });
    return true;
  } catch (error) {
    if (!isEvmRefusal(error)) throw error;
    await markPayee({ deps, network }, split.payTo, error.data ?? 'a flush reverts', []);
    return false;
  }
}

/** Sends one flush through a lane with room; false when there is none now. */
async function flushSplit(deps: SettlementDeps, networkId: string, split: KnownSplit): Promise<boolean> {
  const { network, rpc } = chainOf(deps, networkId);
  const fees = chooseFees(network, await baseFeeOf(rpc));
  const { to, data, gasLimit } = encodeFlush(network, split);
  for (const relayer of deps.relayersOf(networkId)) {
    if ((await gasBalance(rpc, relayer.address)) < requiredBalance(gasLimit, fees)) continue;
    const batchId = randomUUID();
    const claimed = await deps.database.transaction(async (sql) => {
      const lane = await lockLane(sql, { network: networkId, address: relayer.address });
      if (lane.kind !== 'free') return false;
      const signed = await sign(relayer, { chainId: network.chainId, nonce: Number(lane.nonce), to, data, gasLimit, fees });
      await insertBatch(sql, {
        batchId,
        workflowId: null,
        kind: 'flush',
        network: networkId,
        relayer: relayer.address,
        nonce: lane.nonce,
        txHash: signed.hash,
        raw: signed.raw,
        gasLimit,
        maxFeeWei: fees.maxFeePerGasWei,
        priorityFeeWei: fees.maxPriorityFeePerGasWei,
      });
      return true;
    });
    if (!claimed) continue;
    await sendBatch(deps, network, rpc, batchId);
    deps.log.info({ networkId, payTo: split.payTo, batchId }, 'a split that held money is being paid out');
    return true;
  }
  return false;
}

function sign(relayer: RelayerKey, transaction: Parameters<typeof signTransaction>[1]): ReturnType<typeof signTransaction> {
  return signTransaction(relayer.privateKey, transaction);
}
