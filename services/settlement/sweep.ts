import { blockNumbers, receiptOf } from '../../chain/receipts.ts';
import { safeTransactionCount } from '../../chain/states.ts';
import { sweepHeld } from '../../db/settlement/held.ts';
import type { Occurrence } from '../../db/settlement/outcome.ts';
import { applyEvents } from '../../db/settlement/outcome.ts';
import type { PaymentRef } from '../../db/settlement/payment.ts';
import { listBatchPayments } from '../../db/settlement/payment.ts';
import type { Batch, RelayerRef } from '../../db/settlement/relayer.ts';
import { ensureRelayer, findBatch, listAttempts, listUnfinishedBatches, setBatchState } from '../../db/settlement/relayer.ts';
import { listStaleAccepted } from '../../db/settlement/sweep.ts';
import { confirmBatch } from './confirm.ts';
import type { SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { judgeByLog } from './evidence.ts';
import { sweepFacilitator } from './facilitator/confirm.ts';
import { sendBatch } from './lane.ts';
import { recheckPayees } from './payees.ts';
import { BATCH_LIMIT } from './starter.ts';
import { watchAuthorizations, watchSettled } from './watch.ts';

/** Payments that need a batch: of one network and lane each, at most a batch's size. */
export interface SweptBatch {
  readonly network: string;
  readonly payments: readonly PaymentRef[];
}

const STALE_AFTER_MS = 2_000;

/**
 * Finds accepted payments that no live workflow holds (safety 7): what a crashed process or an outage left behind. The
 * caller starts a batch for each list; starting one too many is harmless, since claims decide.
 */
export async function sweepAccepted(deps: SettlementDeps, networkId: string): Promise<readonly SweptBatch[]> {
  const stale = await listStaleAccepted(deps.database, networkId, STALE_AFTER_MS, 10 * BATCH_LIMIT);
  const lanes = Map.groupBy(stale, (payment) => `${payment.lane} ${deps.settings.groupByTenant ? payment.tenantId : ''}`);
  return [...lanes.values()].flatMap((payments) =>
    chunk(
      networkId,
      payments.map(({ tenantId, paymentId }) => ({ tenantId, paymentId })),
    ),
  );
}

/**
 * Looks after every batch of a network that is not safe yet: open ones are confirmed or sent again, mined ones are read
 * again until they are at the safe block, and sent again when a reorg took them. Returns payments that need a batch.
 */
export async function sweepBatches(deps: SettlementDeps, networkId: string): Promise<readonly PaymentRef[]> {
  const rest: PaymentRef[] = [];
  for (const relayer of deps.relayersOf(networkId)) {
    const ref = { network: networkId, address: relayer.address };
    await adoptNonce(deps, ref);
    for (const batch of await listUnfinishedBatches(deps.database, ref)) {
      try {
        rest.push(...(await (batch.state === 'open' ? sweepOpen(deps, batch) : sweepMined(deps, batch))));
      } catch (error) {
        deps.log.warn({ batchId: batch.batchId, error: String(error) }, 'a batch could not be swept; it is with the next sweep');
      }
    }
  }
  return rest;
}

/** The key was used elsewhere: its count at the safe block is adopted, so that no batch is signed for a nonce that is gone. */
async function adoptNonce(deps: SettlementDeps, ref: RelayerRef): Promise<void> {
  const count = await safeTransactionCount(deps.rpcOf(ref.network), ref.address as `0x${string}`);
  await ensureRelayer(deps.database, ref, count, deps.settings.inFlightLimit);
}

async function sweepOpen(deps: SettlementDeps, batch: Batch): Promise<readonly PaymentRef[]> {
  const result = await confirmBatch(deps, batch.batchId, { timeoutMs: 0 });
  const state = (await findBatch(deps.database, batch.batchId))?.state;
  return state === 'open' ? [...result.rest, ...(await releaseOvertaken(deps, batch))] : result.rest;
}

/**
 * The relayer's nonce was used elsewhere: at the safe block its count is past the batch's nonce and none of our bytes is
 * mined, so they never will be. Its payments go out again, after a look for evidence, and its place in flight is free (safety 8).
 */
async function releaseOvertaken(deps: SettlementDeps, batch: Batch): Promise<readonly PaymentRef[]> {
  const { network, rpc } = chainOf(deps, batch.network);
  if ((await safeTransactionCount(rpc, batch.address as `0x${string}`)) <= batch.nonce) return [];
  for (const attempt of await listAttempts(deps.database, batch.batchId)) {
    if (await receiptOf(rpc, attempt.txHash)) return [];
  }
  const occurrences: Occurrence[] = [];
  for (const payment of await listBatchPayments(deps.database, batch.batchId)) {
    if (payment.facts.state !== 'broadcast') continue;
    const judged = await judgeByLog(deps, network, rpc, payment);
    const event = { type: 'unsent', batchId: batch.batchId } as const;
    if (judged === 'none') occurrences.push({ tenantId: payment.tenantId, paymentId: payment.paymentId, event });
    else if (judged !== 'wait') occurrences.push(judged.occurrence);
  }
  const applied = await applyEvents(deps.database, occurrences);
  await setBatchState(deps.database, batch.batchId, 'safe');
  return [...applied.released, ...applied.changed];
}

/** A mined batch: what a reorg left undecided in it is decided from its receipt now; without a receipt its bytes go out again. */
async function sweepMined(deps: SettlementDeps, batch: Batch): Promise<readonly PaymentRef[]> {
  const { network, rpc } = chainOf(deps, batch.network);
  const { safe } = await blockNumbers(rpc);
  for (const attempt of await listAttempts(deps.database, batch.batchId)) {
    const receipt = await receiptOf(rpc, attempt.txHash);
    if (!receipt) continue;
    const open = (await listBatchPayments(deps.database, batch.batchId)).some((payment) => payment.facts.state === 'broadcast');
    const result = open ? await confirmBatch(deps, batch.batchId, { timeoutMs: 0 }) : { undecided: 0, rest: [] };
    if (result.undecided === 0 && receipt.blockNumber <= safe) await setBatchState(deps.database, batch.batchId, 'safe');
    return result.rest;
  }
  await setBatchState(deps.database, batch.batchId, 'open');
  await sendBatch(deps, network, rpc, batch.batchId);
  return [];
}

/**
 * One round over a network (safety 3, 4, 7, 8, 18): batches first, then settled evidence, then watched authorizations and
 * blocked recipients; each step stands alone, so that one outage does not keep the others from running. Returns what
 * needs a batch.
 */
export async function sweepNetwork(deps: SettlementDeps, networkId: string): Promise<readonly SweptBatch[]> {
  const rest: PaymentRef[] = [];
  const steps: readonly [string, () => Promise<readonly PaymentRef[]>][] = [
    ['batches', () => sweepBatches(deps, networkId)],
    ['facilitator', () => sweepFacilitator(deps, networkId)],
    ['settled', () => watchSettled(deps, networkId)],
    ['authorizations', () => watchAuthorizations(deps, networkId)],
    ['held', () => sweepHeld(deps.database, networkId, 100)],
    ['payees', () => recheckPayees(deps, networkId)],
  ];
  for (const [step, run] of steps) {
    try {
      rest.push(...(await run()));
    } catch (error) {
      deps.log.warn({ networkId, step, error: String(error) }, 'a sweep step failed; it runs again with the next sweep');
    }
  }
  const stale = await sweepAccepted(deps, networkId);
  const known = new Set(stale.flatMap((batch) => batch.payments.map((payment) => payment.paymentId)));
  const extra = rest
    .filter((payment) => !known.has(payment.paymentId))
    .map(({ tenantId, paymentId }) => ({ tenantId, paymentId }));
  const groups = deps.settings.groupByTenant ? Map.groupBy(extra, ({ tenantId }) => tenantId).values() : [extra];
  return [...stale, ...[...groups].flatMap((payments) => chunk(networkId, payments))];
}

function chunk(network: string, payments: readonly PaymentRef[]): SweptBatch[] {
  const chunks: SweptBatch[] = [];
  for (let at = 0; at < payments.length; at += BATCH_LIMIT)
    chunks.push({ network, payments: payments.slice(at, at + BATCH_LIMIT) });
  return chunks;
}
