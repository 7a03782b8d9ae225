import type { PaymentEvent } from '../../domain/payment/machine.ts';
import type { EvidenceRef } from '../../domain/payment/state.ts';
import { isSameEvidence, isSettled, isUndecided } from '../../domain/payment/state.ts';
import type { Receipt, Spending } from './chain.ts';
import { FakeChain } from './chain.ts';
import { TWO_CONFIRMATIONS_MICRO } from './scenario.ts';
import type { PaymentRow } from './store.ts';
import { authorizationKey } from './token.ts';
import type { World } from './world.ts';

/** What a node shows of one authorization, read in one call. */
export interface Sight {
  readonly spending: Spending | null;
  readonly head: number;
  readonly safe: number;
  readonly safeTime: number;
}

/** Reads what the chain shows of a payment's authorization. */
export function look(world: World, row: PaymentRow): Sight {
  const { chain } = world;
  const spending = chain.spendings.get(authorizationKey(row.auth.payer, row.auth.nonce)) ?? null;
  return { spending, head: chain.head, safe: chain.safe, safeTime: chain.timeOf(chain.safe) };
}

/** The transfer that pays the payment, when the spending is one: next log, right recipient and value, after our row. */
export function evidenceOf(world: World, row: PaymentRow, spending: Spending): EvidenceRef | null {
  if (spending.how !== 'used') return null;
  const { receipt, log } = spending;
  const reference = { txHash: receipt.tx.hash, blockNumber: BigInt(receipt.block) };
  if (world.mutant === 'evidenceWithoutLogIndex') {
    const any = receipt.logs.some(
      (other) => other.kind === 'transfer' && other.to === row.auth.to && other.value === row.auth.value,
    );
    return any ? { ...reference, logIndex: log.index + 1 } : null;
  }
  const transfer = FakeChain.transferAfter(receipt, log);
  if (transfer?.to !== row.auth.to || transfer.value !== row.auth.value || transfer.from !== row.auth.payer) return null;
  const old = receipt.tx.from === 'other' && receipt.block <= row.seenBlock;
  return old && world.mutant !== 'foreignEvidenceBeforeRow' ? null : { ...reference, logIndex: transfer.index };
}

/** The event of a spent authorization; null while confirmations are missing or it says nothing new. */
export function eventOfSpending(world: World, row: PaymentRow, sight: Sight & { spending: Spending }): PaymentEvent | null {
  const transfer = evidenceOf(world, row, sight.spending);
  const depth = sight.head - sight.spending.receipt.block + 1;
  if (transfer) {
    const needed = row.auth.value >= TWO_CONFIRMATIONS_MICRO ? 2 : 1;
    return depth >= needed ? { type: 'evidence', transfer } : null;
  }
  if (sight.spending.receipt.block <= sight.safe) return { type: 'unusable' };
  if (!isUndecided(row.facts.state)) return world.mutant === 'spentForgets' ? { type: 'unusable' } : null;
  return { type: 'spentOtherwise' };
}

/** What watching a payment finds: the one place where evidence is confirmed, moved, lost, or given up (safety 3). */
export function eventOfWatching(world: World, row: PaymentRow, sight: Sight): PaymentEvent | null {
  const { facts } = row;
  if (isSettled(facts.state) && facts.evidence !== null) return eventOfSettled(world, row, facts.evidence, sight);
  if (sight.spending) return eventOfSpending(world, row, { ...sight, spending: sight.spending });
  return sight.safeTime >= row.auth.validBefore ? { type: 'unusable' } : null;
}

function eventOfSettled(world: World, row: PaymentRow, known: EvidenceRef, sight: Sight): PaymentEvent | null {
  if (world.mutant === 'reorgIgnored') return Number(known.blockNumber) <= sight.safe ? { type: 'safe', transfer: known } : null;
  const current = sight.spending === null ? null : evidenceOf(world, row, sight.spending);
  if (current === null) return { type: 'reorged', transfer: known };
  if (!isSameEvidence(current, known)) return { type: 'evidence', transfer: current };
  return Number(known.blockNumber) <= sight.safe ? { type: 'safe', transfer: known } : null;
}

/** What a mined transaction of its batch means for one payment that it carried (safety 3: look for the log first). */
export function eventOfMined(world: World, row: PaymentRow, batchId: string, receipt: Receipt): PaymentEvent | null {
  const voided = receipt.tx.body.kind === 'self';
  const missed = !receipt.logs.some((log) => log.kind === 'used' && log.key === authorizationKey(row.auth.payer, row.auth.nonce));
  if (world.mutant === 'itemFailedMeansFailed' && missed && !voided) {
    return { type: 'itemFailed', batchId, reason: 'settlement_failed' };
  }
  const sight = look(world, row);
  if (sight.spending) return eventOfSpending(world, row, { ...sight, spending: sight.spending });
  if (world.chain.receipts.get(receipt.tx.hash) !== receipt) return null;
  const why = world.chain.diagnose(row.auth, [], world.nowSeconds);
  if (!voided && why === 'insufficient_funds') return { type: 'itemFailed', batchId, reason: 'insufficient_funds' };
  if (!voided && why === 'expired') return { type: 'itemFailed', batchId, reason: 'authorization_invalid' };
  return { type: 'unsent', batchId };
}
