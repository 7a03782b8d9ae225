import type { AlertKind } from '../../../db/alerts.ts';
import { raiseAlert } from '../../../db/alerts.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { isTransientError } from '../../../db/outage.ts';
import type { PaymentFacts } from '../../kernel/payment/state.ts';
import { isUndecided } from '../../kernel/payment/state.ts';
import type { PaymentEffect, PaymentEvent } from '../rules/machine.ts';
import { decide } from '../rules/machine.ts';
import { addStrikes } from './admission.ts';
import { decideHeld, listReleased } from './held.ts';
import { lockPayments } from './lock.ts';
import type { Payment, PaymentRef } from './payment.ts';
import { recordLedger } from './recordCrossings.ts';
import { recordLicences } from './recordLicences.ts';
import { reopenBatches } from './relayer.ts';
import { rememberSellers } from './splits.ts';
import type { ChainTransferRow } from './transfers.ts';
import { recordTransfers } from './transfers.ts';
import { writeStates } from './writeStates.ts';

/** What happened to one payment, and what is worth keeping about it besides. */
export interface Occurrence extends PaymentRef {
  readonly event: PaymentEvent;
  /** The reference reason or revert as received, for the record. */
  readonly rawReason?: string;
  /** The sentence the caller is told. */
  readonly sentence?: string;
  /** Time of the evidence's block. */
  readonly blockTime?: Date;
  /** It cost gas for nothing, and its payer is counted for it together with the decision (safety 19). */
  readonly strike?: true;
  /** It is proven by a transaction that is none of ours, and was not settled before. */
  readonly frontRun?: true;
}

/** One decision that changed a payment. */
export interface Change {
  readonly payment: Payment;
  readonly next: PaymentFacts;
  readonly effects: readonly PaymentEffect[];
  readonly occurrence: Occurrence;
}

/** What a round of decisions did. */
export interface Applied {
  /** What changed its payment. */
  readonly changed: readonly Occurrence[];
  /** Payments that were held and may go out now: they need a batch. */
  readonly released: readonly PaymentRef[];
  /** Payments whose signed bytes must go out again. */
  readonly resend: readonly PaymentRef[];
  /** Payments that could not be recorded: their transaction failed or their evidence is claimed by another payment. */
  readonly poisoned: readonly PaymentRef[];
}

const NOTHING: Applied = { changed: [], released: [], resend: [], poisoned: [] };

/**
 * Feeds events to the machine and writes what it decides, states and effects in one database transaction, under the
 * locks of the purchases concerned: three round trips where evidence settles payments that nothing waits for. Events that change nothing
 * are dropped, so that a second call is harmless. When the transaction fails, the list is halved until the payment that cannot be written
 * stands alone (safety 11). `transfers` are what was read of the chain to decide it: they are stored with the decisions, and whatever
 * becomes of those.
 */
export async function applyEvents(
  database: Database,
  occurrences: readonly Occurrence[],
  transfers: readonly ChainTransferRow[] = [],
): Promise<Applied> {
  if (occurrences.length === 0) {
    await recordTransfers(database, transfers);
    return NOTHING;
  }
  try {
    return await database.shortTransaction(async (sql) => {
      const [, payments] = await Promise.all([recordTransfers(sql, transfers), lockPayments(sql, occurrences)]);
      return applyTogether(sql, occurrences, payments);
    });
  } catch (error) {
    if (isTransientError(error)) throw error;
    if (occurrences.length === 1) {
      await recordTransfers(database, transfers);
      await raiseAlert(database, 'payment_unrecorded', `payment ${occurrences[0]?.paymentId}`);
      return { ...NOTHING, poisoned: occurrences };
    }
    const middle = Math.ceil(occurrences.length / 2);
    const first = await applyEvents(database, occurrences.slice(0, middle), transfers);
    return mergeApplied(first, await applyEvents(database, occurrences.slice(middle), transfers));
  }
}

/** What two rounds of decisions did, the first one first. */
export function mergeApplied(a: Applied, b: Applied): Applied {
  return {
    changed: [...a.changed, ...b.changed],
    released: [...a.released, ...b.released],
    resend: [...a.resend, ...b.resend],
    poisoned: [...a.poisoned, ...b.poisoned],
  };
}

/** Decides under the locks, and gives what is left to be written: all of it is sent at once, with the commit. */
async function applyTogether(
  sql: Sql,
  occurrences: readonly Occurrence[],
  locked: readonly Payment[],
): Promise<() => Promise<Applied>> {
  const payments = new Map(locked.map((payment) => [payment.paymentId, payment]));
  const decided: Change[] = [];
  for (const occurrence of occurrences) {
    const payment = payments.get(occurrence.paymentId);
    if (!payment) continue;
    const { next, effects } = decide(payment.facts, occurrence.event);
    if (next !== payment.facts) decided.push({ payment, next, effects, occurrence });
    payments.set(occurrence.paymentId, { ...payment, facts: next });
  }
  const { conflicting, anyHeld } = await claimTransfers(sql, decided);
  const changes = decided.filter((change) => !conflicting.has(change.payment.paymentId));
  const sales = anyHeld ? changes.filter(freesHeld).map((change) => change.payment) : [];
  const queued = await decideHeld(sql, sales, changes);
  const resend = changes.filter((change) => change.effects.some((effect) => effect.type === 'resend'));
  const strikes = changes.filter(({ occurrence }) => occurrence.strike);
  const alerts = alertsOf(changes, conflicting);
  const states = (): Promise<void> => writeStates(sql, [...changes, ...queued]);
  const isRare = resend.length + strikes.length + alerts.length > 0 || changes.some(isLicence);
  if (isRare) {
    await states();
    await reopenBatches(
      sql,
      resend.flatMap(({ next }) => next.batchId ?? []),
    );
    await addStrikes(
      sql,
      strikes.map((change) => change.payment),
    );
    for (const { kind, detail, tenantId } of alerts) await raiseAlert(sql, kind, detail, tenantId);
    await recordLicences(sql, changes);
  }
  return async () => {
    await Promise.all([...(isRare ? [] : [states()]), recordLedger(sql, changes)]);
    return {
      changed: changes.map((change) => change.occurrence),
      released: listReleased(queued),
      resend: resend.map((change) => change.payment),
      poisoned: decided.filter((change) => conflicting.has(change.payment.paymentId)).map((change) => change.payment),
    };
  };
}

/** Whether it may write a licence (`recordLicences`). */
function isLicence({ payment }: Change): boolean {
  return payment.purpose === 'licence';
}

/**
 * Releases and takes transfer claims; gives the payments whose transfer another payment holds (safety 1), and whether anything at all is held
 * now, under the locks of the purchases.
 */
async function claimTransfers(
  sql: Sql,
  changes: readonly Change[],
): Promise<{ readonly conflicting: ReadonlySet<string>; readonly anyHeld: boolean }> {
  const released = changes.filter((change) => change.effects.some((effect) => effect.type === 'unclaimTransfer'));
  if (released.length > 0) {
    await sql.query(
      `delete from transfer_claim using unnest($1::uuid[], $2::uuid[]) as gone (tenant_id, payment_id)
        where transfer_claim.tenant_id = gone.tenant_id and transfer_claim.payment_id = gone.payment_id`,
      [released.map((c) => c.payment.tenantId), released.map((c) => c.payment.paymentId)],
    );
  }
  const claims = changes.flatMap((change) =>
    change.effects.flatMap((effect) => (effect.type === 'claimTransfer' ? [{ change, transfer: effect.transfer }] : [])),
  );
  if (changes.length === 0) return { conflicting: new Set(), anyHeld: false };
  // Money that came without a claim of ours lies in the split; who sells through it is known now.
  await rememberSellers(
    sql,
    claims.map((c) => c.change.payment),
  );
  const [row] = await sql.query<{ claimed: string[]; any_held: boolean }>(
    `with claimed as (
       insert into transfer_claim (network, tx_hash, log_position, tenant_id, payment_id)
       select * from unnest($1::text[], $2::text[], $3::int[], $4::uuid[], $5::uuid[])
       on conflict do nothing returning payment_id
     )
     select array(select payment_id from claimed) as claimed,
       exists (select 1 from payment_state where stage = 'held' order by network, accepted_at limit 1) as any_held`,
    [
      claims.map((c) => c.change.payment.network),
      claims.map((c) => c.transfer.txHash),
      claims.map((c) => c.transfer.logIndex),
      claims.map((c) => c.change.payment.tenantId),
      claims.map((c) => c.change.payment.paymentId),
    ],
    'claim-transfers',
  );
  const got = new Set(row?.claimed);
  const conflicting = new Set(claims.map((c) => c.change.payment.paymentId).filter((id) => !got.has(id)));
  return { conflicting, anyHeld: row?.any_held ?? true };
}

/** True when held payments of the same sale are to be decided: it settled, or it does not lead any more. */
function freesHeld({ effects }: Change): boolean {
  return effects.some(({ type }) => type === 'supersedeHeld' || type === 'releaseHeld');
}

function alertOf({ state }: PaymentFacts): AlertKind {
  if (state === 'review') return 'payment_review';
  return isUndecided(state) ? 'payment_reverted' : 'evidence_conflict';
}

/** What an operator is told of decisions. */
function alertsOf(changes: readonly Change[], conflicting: ReadonlySet<string>) {
  const ofChanges = changes
    .filter((change) => change.effects.some((effect) => effect.type === 'alert'))
    .map(({ payment, next }) => ({
      kind: alertOf(next),
      detail: `payment ${payment.paymentId}`,
      tenantId: payment.tenantId,
    }));
  const ofConflicts = [...conflicting].map((paymentId) => ({
    kind: 'evidence_conflict' as const,
    detail: `payment ${paymentId}`,
    tenantId: undefined,
  }));
  return [...ofChanges, ...ofConflicts];
}
