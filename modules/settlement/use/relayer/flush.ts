import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../../db/database.ts';
import { readCall } from '../../../../platform/chain/calls/multicall.ts';
import { listBalances } from '../../../../platform/chain/evidence/states.ts';
import {
  chooseFees,
  costToday,
  dataFee,
  inCoinsOf,
  isFeeAboveCap,
  requiredBalance,
} from '../../../../platform/chain/gas/fees.ts';
import { MAX_BATCH_GAS } from '../../../../platform/chain/gas/gas.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { DEFAULT_NATIVE_PRICE_MICRO } from '../../../../platform/chain/network.ts';
import { encodeFlush, encodeFlushes } from '../../../../platform/chain/router/flush.ts';
import { isEvmRefusal } from '../../../../platform/chain/rpc/rpc.ts';
import { signedOutside } from '../../../../platform/chain/signature/signer.ts';
import { baseFeeOf, gasBalance, signTransaction } from '../../../../platform/chain/transaction.ts';
import { flushPayers, isFlushWorth } from '../../rules/flush.ts';
import { listBlockedPayees } from '../../store/admission.ts';
import { listGasToday, readNetworkGasToday } from '../../store/gasUsage.ts';
import { hasOpenFlush, insertBatch, lockQueue } from '../../store/relayer.ts';
import type { KnownSplit } from '../../store/splits.ts';
import { takeSplitsToCheck } from '../../store/splits.ts';
import { markPayee } from '../batch/simulate.ts';
import type { RelayerKey, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { sendBatch } from './broadcast.ts';

const LIMIT = 200;
/** Nodes take transactions of 128 KB at most, and each call adds words of its own. */
const MAX_FLUSH_BYTES = 64 * 1024;

/** A split that is to be paid out, its gas and who bears it. */
interface Flush {
  readonly split: KnownSplit;
  readonly gasLimit: bigint;
  readonly payers: readonly string[];
}

/**
 * Pays out what lies at splits, however it came there: a front-run authorization, a donation, an old router's split (safety 4). As many a
 * transaction as a batch has gas for; returns how many splits were paid out. Splits on their way in a batch are left alone, and so are those
 * that cannot be paid out now: a flush that reverts would cost gas in every round. One transaction of flushes at a time: it leaves room for
 * payments in the queue, and pays nothing out twice. What is not worth its gas waits until more has come, and what no site, or the network,
 * has room for in its day's gas until the next day; `isOrdered`, an operator's word, passes over the budgets (safety 19).
 */
export async function flushSplits(
  deps: SettlementDeps,
  networkId: string,
  { isOrdered = false }: { readonly isOrdered?: boolean } = {},
): Promise<number> {
  const { network, rpc } = chainOf(deps, networkId);
  if (await hasOpenFlush(deps.database, networkId)) return 0;
  if (!isOrdered && (await isHalfSpent(deps, networkId))) return 0;
  const splits = await takeSplitsToCheck(deps.database, networkId, LIMIT);
  if (splits.length === 0) return 0;
  const baseFeeWei = await baseFeeOf(rpc);
  if (isFeeAboveCap(network, baseFeeWei)) return 0;
  const balances = await listBalances(
    rpc,
    network,
    splits.map((split) => split.payTo),
  );
  const flushes: Flush[] = [];
  const planned = new Map<string, bigint>();
  let [room, bytes] = [MAX_BATCH_GAS, 0];
  for (const [index, split] of splits.entries()) {
    const { gasLimit, data } = encodeFlush(network, split);
    const size = data.length / 2;
    if (!isWorth(deps, network, split, { balanceMicro: balances[index] ?? 0n, baseFeeWei })) continue;
    if (flushes.length > 0 && (gasLimit > room || bytes + size > MAX_FLUSH_BYTES)) continue;
    try {
      const payers = await payersOf(deps, split, planned, isOrdered);
      if (payers.length === 0 || !(await canBePaidOut(deps, networkId, split))) continue;
      flushes.push({ split, gasLimit, payers });
      const cost = inCoinsOf(deps.networks.first, network, costToday(network, baseFeeWei, gasLimit, dataFee(network, data)));
      for (const tenantId of payers) planned.set(tenantId, (planned.get(tenantId) ?? 0n) + cost / BigInt(payers.length));
      room -= gasLimit;
      bytes += size;
    } catch (error) {
      deps.log.warn({ networkId, payTo: split.payTo, error: String(error) }, 'a split could not be paid out; it is tried again');
    }
  }
  if (flushes.length === 0 || !(await sendFlushes(deps, network, flushes, baseFeeWei))) return 0;
  return flushes.length;
}

/** The other half of a network's day is kept for sales, as it is of a site's. */
async function isHalfSpent({ database, settings }: SettlementDeps, networkId: string): Promise<boolean> {
  const { networkGasBudgetWeiPerDay: budget } = settings;
  return budget !== null && 2n * (await readNetworkGasToday(database, networkId)) >= budget;
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

/** Who bears a flush, by what each site has used today and is to bear of this transaction already. */
async function payersOf(
  deps: SettlementDeps,
  { tenantIds }: KnownSplit,
  planned: ReadonlyMap<string, bigint>,
  isOrdered: boolean,
): Promise<readonly string[]> {
  const used = await listGasToday(deps.database, tenantIds);
  const sellers = tenantIds.map((tenantId) => ({
    tenantId,
    gasWeiToday: (used.get(tenantId) ?? 0n) + (planned.get(tenantId) ?? 0n),
  }));
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

/** Who bears a transaction of flushes: each one's gas in equal parts by its payers, in tenths of a unit. */
function sharesOf(flushes: readonly Flush[]): ReadonlyMap<string, bigint> {
  const shares = new Map<string, bigint>();
  for (const { gasLimit, payers } of flushes) {
    const part = (10n * gasLimit) / BigInt(payers.length);
    for (const tenantId of payers) shares.set(tenantId, (shares.get(tenantId) ?? 0n) + part);
  }
  return shares;
}

/** Sends flushes in one transaction through a queue with room; false when there is none now. */
async function sendFlushes(
  deps: SettlementDeps,
  network: Network,
  flushes: readonly Flush[],
  baseFeeWei: bigint,
): Promise<boolean> {
  const rpc = deps.rpcOf(network.id);
  const fees = chooseFees(network, baseFeeWei);
  const splits = flushes.map(({ split }) => split);
  const { to, data, gasLimit } = encodeFlushes(network, splits);
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
          gasShares: sharesOf(flushes),
        });
        return true;
      };
    const claimed = await signedOutside(relayer, (signer) => deps.database.transaction(claim(signer)));
    if (!claimed) continue;
    await sendBatch(deps, network, rpc, batchId);
    deps.log.info({ networkId: network.id, splits: splits.length, batchId }, 'splits that held money are being paid out');
    return true;
  }
  return false;
}
