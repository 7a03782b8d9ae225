import { randomUUID } from 'node:crypto';
import { readCall } from '../../../chain/calls/multicall.ts';
import { listBalances } from '../../../chain/evidence/states.ts';
import { chooseFees, costToday, dataFee, requiredBalance } from '../../../chain/gas/fees.ts';
import type { Network } from '../../../chain/network.ts';
import { DEFAULT_NATIVE_PRICE_MICRO } from '../../../chain/network.ts';
import { encodeFlush } from '../../../chain/router/flush.ts';
import { isEvmRefusal } from '../../../chain/rpc/rpc.ts';
import { signedOutside } from '../../../chain/signature/signer.ts';
import { baseFeeOf, gasBalance, signTransaction } from '../../../chain/transaction.ts';
import type { Sql } from '../../../db/database.ts';
import { listBlockedPayees } from '../../../db/settlement/admission.ts';
import { listGasToday } from '../../../db/settlement/gasUsage.ts';
import { countOpenFlushes, insertBatch, lockQueue } from '../../../db/settlement/relayer.ts';
import type { KnownSplit } from '../../../db/settlement/splits.ts';
import { takeSplitsToCheck } from '../../../db/settlement/splits.ts';
import { flushPayers, isFlushWorth } from '../../../domain/payment/flush.ts';
import { markPayee } from '../batch/simulate.ts';
import type { RelayerKey, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { sendBatch } from './broadcast.ts';

const LIMIT = 200;

/**
 * Pays out what lies at a split, however it came there: a front-run authorization, a donation, an old router's split (safety 4). One
 * transaction a split; returns how many were sent. Splits on their way in a batch are left alone, and so are those that cannot be paid
 * out now: a flush that reverts would cost gas in every round. Flushes leave room for payments in the queue. What is not worth its gas
 * waits until more has come, and what no site has room for in its day's gas until the next day; `isOrdered`, an operator's word, passes
 * over the budgets (safety 19).
 */
export async function flushSplits(
  deps: SettlementDeps,
  networkId: string,
  { isOrdered = false }: { readonly isOrdered?: boolean } = {},
): Promise<number> {
  const { network, rpc } = chainOf(deps, networkId);
  const splits = await takeSplitsToCheck(deps.database, networkId, LIMIT);
  if (splits.length === 0) return 0;
  const baseFeeWei = await baseFeeOf(rpc);
  const balances = await listBalances(
    rpc,
    network,
    splits.map((split) => split.payTo),
  );
  let sent = 0;
  for (const [index, split] of splits.entries()) {
    if (!isWorth(deps, network, split, { balanceMicro: balances[index] ?? 0n, baseFeeWei })) continue;
    try {
      const payers = await payersOf(deps, split, isOrdered);
      if (payers.length === 0 || !(await canBePaidOut(deps, networkId, split))) continue;
      if ((await countOpenFlushes(deps.database, networkId)) * 2 >= deps.settings.inFlightLimit) return sent;
      if (!(await flushSplit(deps, network, split, { payers, baseFeeWei }))) return sent;
      sent += 1;
    } catch (error) {
      deps.log.warn({ networkId, payTo: split.payTo, error: String(error) }, 'a split could not be paid out; it is tried again');
    }
  }
  return sent;
}

function isWorth(
  deps: SettlementDeps,
  network: Network,
  split: KnownSplit,
  { balanceMicro, baseFeeWei }: { readonly balanceMicro: bigint; readonly baseFeeWei: bigint },
): boolean {
  if (balanceMicro === 0n) return false;
  const { data, gasLimit } = encodeFlush(network, split);
  const nativePriceMicro = network.nativePriceMicro ?? DEFAULT_NATIVE_PRICE_MICRO;
  const costWei = costToday(network, baseFeeWei, gasLimit, dataFee(network, data));
  return isFlushWorth({ balanceMicro, costWei, nativePriceMicro, floorMicro: deps.settings.dustBelowMicro });
}

async function payersOf(deps: SettlementDeps, { tenantIds }: KnownSplit, isOrdered: boolean): Promise<readonly string[]> {
  const used = await listGasToday(deps.database, tenantIds);
  const sellers = tenantIds.map((tenantId) => ({ tenantId, gasWeiToday: used.get(tenantId) ?? 0n }));
  return flushPayers(sellers, isOrdered ? null : deps.settings.gasBudgetWeiPerDay);
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

/** Sends one flush through a queue with room; false when there is none now. */
async function flushSplit(
  deps: SettlementDeps,
  network: Network,
  split: KnownSplit,
  { payers, baseFeeWei }: { readonly payers: readonly string[]; readonly baseFeeWei: bigint },
): Promise<boolean> {
  const rpc = deps.rpcOf(network.id);
  const fees = chooseFees(network, baseFeeWei);
  const { to, data, gasLimit } = encodeFlush(network, split);
  const needed = requiredBalance(gasLimit, fees, dataFee(network, data));
  for (const relayer of deps.relayersOf(network.id)) {
    if ((await gasBalance(rpc, relayer.address)) < needed) continue;
    const batchId = randomUUID();
    const claim =
      (signer: RelayerKey) =>
      async (sql: Sql): Promise<boolean> => {
        const queue = await lockQueue(sql, { network: network.id, address: relayer.address });
        if (queue.kind !== 'free') return false;
        const request = { chainId: network.chainId, nonce: Number(queue.nonce), to, data, gasLimit, fees };
        const signed = await signTransaction(signer, request);
        await insertBatch(sql, {
          batchId,
          workflowId: null,
          kind: 'flush',
          network: network.id,
          relayer: relayer.address,
          nonce: queue.nonce,
          txHash: signed.hash,
          raw: signed.raw,
          gasLimit,
          maxFeeWei: fees.maxFeePerGasWei,
          priorityFeeWei: fees.maxPriorityFeePerGasWei,
          gasShares: new Map(payers.map((tenantId) => [tenantId, 1n])),
        });
        return true;
      };
    const claimed = await signedOutside(relayer, (signer) => deps.database.transaction(claim(signer)));
    if (!claimed) continue;
    await sendBatch(deps, network, rpc, batchId);
    deps.log.info({ networkId: network.id, payTo: split.payTo, batchId }, 'a split that held money is being paid out');
    return true;
  }
  return false;
}
