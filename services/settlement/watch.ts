import type { TransferStatus } from '../../chain/facilitator.ts';
import type { Network } from '../../chain/network.ts';
import { authorizationStateAtSafe, blockNumbers, findAuthorization, receiptOf } from '../../chain/receipts.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { listUsedNonces } from '../../chain/states.ts';
import { listByOwnId } from '../../db/settlement/facilitator.ts';
import type { Occurrence } from '../../db/settlement/outcome.ts';
import { applyEvents } from '../../db/settlement/outcome.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { setBatchState } from '../../db/settlement/relayer.ts';
import { listFinalProvenBy, listUnfinal, listWatched, touchChecked } from '../../db/settlement/sweep.ts';
import { checkTimes } from '../../domain/authorization.ts';
import { isSameEvidence, isUndecided } from '../../domain/payment/state.ts';
import type { SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { evidenceEvent, evidenceIn, judgeByLog, storeReceipt } from './evidence.ts';
import { askAboutReviewed, isByTransfer, transferEvent, watchTransfers } from './facilitator/transfers.ts';
import { batchItem } from './items.ts';
import { sendBatch } from './lane.ts';

/** Payments of one call to the chain and of one database transaction. */
const CHUNK = 200;
/** Settled payments of a round: they share few transactions, so that a round keeps up with what a lane can settle. */
const SETTLED_LIMIT = 2_000;
const WATCHED_LIMIT = 1_000;
/** A live batch decides what it sent by then; until then looking at its payments one by one would only be twice the work. */
const SENT_MS = 5_000;
const REVIEW_AFTER_SECONDS = 600n;

/**
 * Reads the evidence of settled payments again: at the safe block they become final; gone, they go back and their bytes
 * go out again; moved to another block, the evidence moves with them (safety 3, 5). Returns payments that need a batch.
 */
export async function watchSettled(deps: SettlementDeps, networkId: string): Promise<readonly PaymentRef[]> {
  const { network, rpc } = chainOf(deps, networkId);
  const unfinal = await listUnfinal(deps.database, networkId, SETTLED_LIMIT);
  await watchTransfers(deps, unfinal.filter(isByTransfer));
  const payments = unfinal.filter((payment) => !isByTransfer(payment));
  const result: PaymentRef[] = [];
  for (const some of chunks(payments)) {
    const { released, reopened, looked } = await recheck(deps, network, rpc, some);
    for (const batchId of reopened) await sendBatch(deps, network, rpc, batchId);
    await touchChecked(deps.database, looked);
    result.push(...released);
  }
  return result;
}

/** What reading evidence needs: no key. */
type EvidenceDeps = Pick<SettlementDeps, 'database' | 'networks' | 'rpcOf' | 'log'>;

/**
 * Reads again the evidence of the final payments that these transactions prove: for transactions that the chain shows no more, or
 * elsewhere (settled ones are with the sweeper). Where it is gone there is a correction (safety 5); what must go out again is left to
 * the sweeper, too. A second call changes nothing. Throws chain_unavailable.
 */
export async function recheckTransactions(deps: EvidenceDeps, networkId: string, txHashes: readonly string[]): Promise<void> {
  const { network, rpc } = chainOf(deps, networkId);
  await recheck(deps, network, rpc, await listFinalProvenBy(deps.database, networkId, txHashes));
}

async function recheck(
  deps: EvidenceDeps,
  network: Network,
  rpc: Rpc,
  payments: readonly Payment[],
): Promise<{
  readonly released: readonly PaymentRef[];
  readonly reopened: readonly string[];
  readonly looked: readonly PaymentRef[];
}> {
  if (payments.length === 0) return { released: [], reopened: [], looked: [] };
  const { safe } = await blockNumbers(rpc);
  const receipts = new Map<string, Awaited<ReturnType<typeof receiptOf>>>();
  const occurrences: Occurrence[] = [];
  const looked = await eachAlone(deps, payments, async (payment) => {
    const old = payment.facts.evidence;
    if (!old) return;
    if (!receipts.has(old.txHash)) receipts.set(old.txHash, await receiptOf(rpc, old.txHash as `0x${string}`));
    const receipt = receipts.get(old.txHash) ?? null;
    const now = receipt ? evidenceIn(network, receipt, payment) : null;
    if (!receipt || !now) occurrences.push(...(await afterReorg(deps, network, rpc, payment)));
    else if (!isSameEvidence(now, old)) {
      occurrences.push(evidenceEvent(payment, now, await storeReceipt(deps, network, rpc, receipt)));
    } else if (now.blockNumber <= safe && payment.facts.state === 'settled') {
      const base = { tenantId: payment.tenantId, paymentId: payment.paymentId };
      occurrences.push({ ...base, event: { type: 'safe', transfer: old } });
    }
  });
  const applied = await applyEvents(deps.database, occurrences);
  const wanted = new Set(applied.resend.map((ref) => ref.paymentId));
  const batches = new Set(payments.flatMap((one) => (wanted.has(one.paymentId) && one.facts.batchId ? [one.facts.batchId] : [])));
  // Whatever such a batch was thought to be: its bytes go out again, and what became of them is judged again (safety 8).
  for (const batchId of batches) await setBatchState(deps.database, batchId, 'open');
  return { released: applied.released, reopened: [...batches], looked };
}

const MOST_FAILURES = 5;

/**
 * One payment that the chain gives no answer for keeps no other from being looked at; after several the round ends. Returns those that
 * were looked at: the others must come first the next time.
 */
async function eachAlone(
  deps: Pick<SettlementDeps, 'log'>,
  payments: readonly Payment[],
  look: (payment: Payment, index: number) => Promise<void>,
): Promise<readonly Payment[]> {
  let failures = 0;
  for (const [index, payment] of payments.entries()) {
    try {
      await look(payment, index);
    } catch (error) {
      failures += 1;
      deps.log.warn(
        { paymentId: payment.paymentId, error: String(error) },
        'a payment could not be looked at; it is again later',
      );
      if (failures >= MOST_FAILURES) return payments.slice(0, index + 1);
    }
  }
  return payments;
}

/** The evidence is gone: the payment goes back, and forward again at once where another transaction proves it. */
async function afterReorg(deps: EvidenceDeps, network: Network, rpc: Rpc, payment: Payment): Promise<Occurrence[]> {
  const { evidence } = payment.facts;
  if (!evidence) return [];
  const base = { tenantId: payment.tenantId, paymentId: payment.paymentId };
  const back: Occurrence = { ...base, event: { type: 'reorged', transfer: evidence } };
  const finding = await findAuthorization(rpc, network, payment.payer, payment.nonce, earliest(evidence.blockNumber));
  if (finding.kind !== 'used') return [back];
  const transfer = evidenceIn(network, finding.receipt, payment);
  if (!transfer) return [back];
  return [
    back,
    { ...base, event: { type: 'evidence', transfer }, blockTime: await storeReceipt(deps, network, rpc, finding.receipt) },
  ];
}

function earliest(blockNumber: bigint): bigint {
  return blockNumber > 64n ? blockNumber - 64n : 0n;
}

/**
 * Watches authorizations that may still move money although we answered otherwise, until they cannot any more: used ones
 * are judged by their log, unused ones end when a safe block is past `validBefore` (safety 3). Returns payments that
 * need a batch.
 */
export async function watchAuthorizations(deps: SettlementDeps, networkId: string): Promise<readonly PaymentRef[]> {
  const { network, rpc } = chainOf(deps, networkId);
  const payments = await listWatched(deps.database, networkId, WATCHED_LIMIT, SENT_MS);
  const released: PaymentRef[] = [];
  for (const some of chunks(payments)) released.push(...(await watchSome(deps, network, rpc, some)));
  return released;
}

function* chunks(payments: readonly Payment[]): Generator<readonly Payment[]> {
  for (let at = 0; at < payments.length; at += CHUNK) yield payments.slice(at, at + CHUNK);
}

async function watchSome(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  payments: readonly Payment[],
): Promise<readonly PaymentRef[]> {
  const used = await listUsedNonces(rpc, network, payments);
  // What a facilitator moves under an id of its own never uses the nonce: its status decides, also when the network has changed its
  // settler since (DESIGN §4).
  const handedOver = payments.filter(({ facts }) => facts.state === 'broadcast' || facts.state === 'review');
  const idOf = await listByOwnId(deps.database, handedOver);
  const statusOf = await askAboutReviewed(deps, handedOver, idOf);
  const occurrences: Occurrence[] = [];
  const looked = await eachAlone(deps, payments, async (payment, index) => {
    const status = statusOf.get(payment.paymentId);
    const id = status === 'failed' ? undefined : idOf.get(payment.paymentId);
    const spent = used[index] ? await judgeSpent(deps, network, rpc, payment) : null;
    const found = used[index] || id !== undefined ? spent : await judgeUnused(deps, network, rpc, payment);
    const decided = id !== undefined && found?.event.type !== 'evidence' ? judgeById(deps, payment, id, status) : found;
    if (decided) occurrences.push(decided);
  });
  const applied = await applyEvents(deps.database, occurrences);
  await touchChecked(deps.database, looked);
  return applied.released;
}

/** A used nonce: ours by its log, or spent otherwise; once that is at the safe block, the watch ends. */
async function judgeSpent(deps: SettlementDeps, network: Network, rpc: Rpc, payment: Payment): Promise<Occurrence | null> {
  const judged = await judgeByLog(deps, network, rpc, payment);
  if (typeof judged === 'string') return null;
  if (judged.occurrence.event.type === 'evidence') deps.metrics?.count('svc.settle.front_run');
  if (judged.occurrence.event.type === 'evidence' || isUndecided(payment.facts.state)) return judged.occurrence;
  if (judged.blockNumber > (await blockNumbers(rpc)).safe) return null;
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'unusable' } };
}

/**
 * A payment that waits for an id of the facilitator: its batch asks until long after the authorization's time, then a person is told;
 * under review its status settles it. At a split an id never does (safety 4).
 */
function judgeById(deps: SettlementDeps, payment: Payment, id: string, status: TransferStatus | undefined): Occurrence | null {
  if (payment.facts.state === 'review') {
    return status === 'settled' && payment.legWords === null ? transferEvent(payment, id) : null;
  }
  return isOverdue(deps, payment)
    ? { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'overdue' } }
    : null;
}

/** True for a payment that was sent and has no answer long after its time. */
function isOverdue(deps: SettlementDeps, payment: Payment): boolean {
  const nowSeconds = BigInt(Math.floor(deps.now() / 1000));
  return payment.facts.state === 'broadcast' && nowSeconds > payment.validBefore + REVIEW_AFTER_SECONDS;
}

/** An unused nonce: over when the safe block is past its time; held ones lapse, sent ones are reviewed when overdue. */
async function judgeUnused(deps: SettlementDeps, network: Network, rpc: Rpc, payment: Payment): Promise<Occurrence | null> {
  const base = { tenantId: payment.tenantId, paymentId: payment.paymentId };
  const nowSeconds = BigInt(Math.floor(deps.now() / 1000));
  if (payment.facts.state === 'held' && checkTimes(batchItem(payment).authorization, Number(nowSeconds), network)) {
    return { ...base, event: { type: 'lapsed' } };
  }
  if (nowSeconds <= payment.validBefore) return null;
  const atSafe = await authorizationStateAtSafe(rpc, network, payment.payer, payment.nonce);
  if (!atSafe.used && atSafe.safeBlockTimeSeconds > payment.validBefore) {
    return {
      ...base,
      event: { type: 'unusable' },
      rawReason: 'payment_expired',
      sentence: 'the authorization ran out before it was executed',
    };
  }
  return isOverdue(deps, payment) ? { ...base, event: { type: 'overdue' } } : null;
}
