import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../../db/database.ts';
import { simulateCall } from '../../../../platform/chain/calls/multicall.ts';
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
import type { FlushCall } from '../../../../platform/chain/router/flush.ts';
import { encodeFlush, encodeFlushAround, joinFlushes } from '../../../../platform/chain/router/flush.ts';
import { confirmRefusals, UNCONFIRMED } from '../../../../platform/chain/rpc/quorum.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import { signedOutside } from '../../../../platform/chain/signature/signer.ts';
import { baseFeeOf, gasBalance, signTransaction } from '../../../../platform/chain/transaction.ts';
import { flushPayers, isFlushWorth, isHalfLeft } from '../../rules/flush.ts';
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

/** A split's call, and who bears its gas. */
interface Flush {
  readonly call: FlushCall;
  readonly payers: readonly string[];
}

/**
 * Pays out what lies at splits, whatever brought it there (safety 4): as many in one transaction as a batch has gas for. Returns how many.
 *
 * Where the token refuses to pay an author, the others are paid and his part waits for him alone (`flushAround`); what waits is paid by the same
 * rule once he can be paid.
 *
 * Left alone: splits on their way in a batch; those that would revert, and cost gas in every round; those not worth their gas, until more has come;
 * and those whose sites or network have used half of their day's gas, until the next day. `isOrdered`, an operator's word, passes over the
 * budgets (safety 19). One transaction of flushes is open at a time, so nothing is paid twice and the queue keeps room for payments.
 */
export async function flushSplits(
  deps: SettlementDeps,
  networkId: string,
  { isOrdered = false }: { readonly isOrdered?: boolean } = {},
): Promise<number> {
  const { network, rpc } = chainOf(deps, networkId);
  if (await hasOpenFlush(deps.database, networkId)) return 0;
  const { gasBudgetWeiPerDay, networkGasBudgetWeiPerDay } = deps.settings;
  if (!isOrdered && !isHalfLeft(await readNetworkGasToday(deps.database, networkId), networkGasBudgetWeiPerDay)) return 0;
  const splits = await takeSplitsToCheck(deps.database, networkId, LIMIT);
  if (splits.length === 0) return 0;
  const baseFeeWei = await baseFeeOf(rpc);
  if (isFeeAboveCap(network, baseFeeWei)) return 0;
  const payTos = splits.map(({ payTo }) => payTo);
  const balances = await listBalances(rpc, network, payTos);
  const blocked = await listBlockedPayees(deps.database, networkId, payTos);
  const nativePriceMicro = network.nativePriceMicro ?? DEFAULT_NATIVE_PRICE_MICRO;
  const flushes: Flush[] = [];
  const planned = new Map<string, bigint>();
  let [room, bytes] = [MAX_BATCH_GAS, 0];
  for (const [index, split] of splits.entries()) {
    const balanceMicro = balances[index] ?? 0n;
    if (balanceMicro === 0n) continue;
    const isBlocked = blocked.has(split.payTo);
    if (isBlocked && split.legWords.length === 1) continue;
    const call = isBlocked ? encodeFlushAround(network, split) : encodeFlush(network, split);
    const { gasLimit, data } = call;
    const size = data.length / 2;
    const costWei = costToday(network, baseFeeWei, gasLimit, dataFee(network, data));
    if (!isFlushWorth({ balanceMicro, costWei, nativePriceMicro, floorMicro: deps.settings.dustBelowMicro })) continue;
    if (flushes.length > 0 && (gasLimit > room || bytes + size > MAX_FLUSH_BYTES)) continue;
    try {
      const payers = await payersOf(deps, split, planned, isOrdered ? null : gasBudgetWeiPerDay);
      if (payers.length === 0 || !(await canBePaidOut(deps, networkId, split, call))) continue;
      flushes.push({ call, payers });
      const part = inCoinsOf(deps.networks.first, network, costWei) / BigInt(payers.length);
      for (const tenantId of payers) planned.set(tenantId, (planned.get(tenantId) ?? 0n) + part);
      room -= gasLimit;
      bytes += size;
    } catch (error) {
      deps.log.warn({ networkId, payTo: split.payTo, error: String(error) }, 'a split could not be paid out; it is tried again');
    }
  }
  if (flushes.length === 0 || !(await sendFlushes(deps, network, flushes, baseFeeWei))) return 0;
  return flushes.length;
}

/** Who bears a flush, by what each site has used today and is to bear of this transaction already. */
async function payersOf(
  deps: SettlementDeps,
  { tenantIds }: KnownSplit,
  planned: ReadonlyMap<string, bigint>,
  budgetWeiPerDay: bigint | null,
): Promise<readonly string[]> {
  const used = await listGasToday(deps.database, tenantIds);
  const sellers = tenantIds.map((tenantId) => ({
    tenantId,
    gasWeiToday: (used.get(tenantId) ?? 0n) + (planned.get(tenantId) ?? 0n),
  }));
  return flushPayers(sellers, budgetWeiPerDay);
}

/**
 * False when it reverts, by the word of two nodes where there are several. A split is then marked, and paid out around its authors in the next
 * round; the check of blocked recipients lifts it (safety 18). While no second node answers, it waits unmarked.
 */
async function canBePaidOut(deps: SettlementDeps, networkId: string, split: KnownSplit, call: FlushCall): Promise<boolean> {
  const { network, rpc } = chainOf(deps, networkId);
  const { to, data } = call;
  const ask = async (node: Rpc) => [await simulateCall(node, { to, data })];
  const [simulated = UNCONFIRMED] = await confirmRefusals(rpc, await ask(rpc), ({ revert }) => revert !== null, ask);
  if (simulated === UNCONFIRMED) return false;
  const { revert } = simulated;
  if (revert) await markPayee({ deps, network }, split.payTo, `a flush reverts: ${revert}`, split.tenantIds);
  return revert === null;
}

/** Who bears a transaction of flushes: each one's gas in equal parts by its payers, ten times over so that dividing loses little. */
function flushShares(flushes: readonly Flush[]): ReadonlyMap<string, bigint> {
  const shares = new Map<string, bigint>();
  for (const { call, payers } of flushes) {
    const part = (10n * call.gasLimit) / BigInt(payers.length);
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
  const { to, data, gasLimit } = joinFlushes(flushes.map(({ call }) => call));
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
          gasShares: flushShares(flushes),
        });
        return true;
      };
    const claimed = await signedOutside(relayer, (signer) => deps.database.transaction(claim(signer)));
    if (!claimed) continue;
    await sendBatch(deps, network, rpc, batchId);
    deps.log.info({ networkId: network.id, splits: flushes.length, batchId }, 'splits that held money are being paid out');
    return true;
  }
  return false;
}
