import { isLeading } from '../../domain/payment/guard.ts';
import type { PaymentEffect, PaymentEvent } from '../../domain/payment/machine.ts';
import { decide } from '../../domain/payment/machine.ts';
import type { PaymentFacts } from '../../domain/payment/state.ts';
import { isUndecided } from '../../domain/payment/state.ts';
import type { Database, Sql } from '../database.ts';
import { isTransientError } from '../database.ts';
import { recordLicences } from '../licences/record.ts';
import { raiseAlert } from './admission.ts';
import { listPurchaseKeys, lockPurchases, purchaseText } from './intake.ts';
import { recordLedger } from './ledger.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { listPayments, paymentFromRow } from './payment.ts';

/** What happened to one payment, and what is worth keeping about it besides. */
export interface Occurrence extends PaymentRef {
  readonly event: PaymentEvent;
  /** The reference reason or revert as received, for the record. */
  readonly rawReason?: string;
  /** The sentence the caller is told. */
  readonly sentence?: string;
  /** Time of the evidence's block. */
  readonly blockTime?: Date;
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
  readonly changed: readonly PaymentRef[];
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
 * locks of the purchases concerned. Events that change nothing are dropped, so that a second call is harmless. When the
 * transaction fails, the list is halved until the payment that cannot be written stands alone (safety 11).
 */
export async function applyEvents(database: Database, occurrences: readonly Occurrence[]): Promise<Applied> {
  if (occurrences.length === 0) return NOTHING;
  const [first, ...others] = database.groupByTenant
    ? Map.groupBy(occurrences, ({ tenantId }) => tenantId).values()
    : [occurrences];
  if (first && others.length > 0) {
    let applied = await applyEvents(database, first);
    for (const one of others) applied = merge(applied, await applyEvents(database, one));
    return applied;
  }
  try {
    return await database.transaction((sql) => applyTogether(sql, occurrences));
  } catch (error) {
    if (isTransientError(error)) throw error;
    if (occurrences.length === 1) {
      await raiseAlert(database, 'payment_unrecorded', `payment ${occurrences[0]?.paymentId}`);
      return { ...NOTHING, poisoned: occurrences };
    }
    const middle = Math.ceil(occurrences.length / 2);
    const first = await applyEvents(database, occurrences.slice(0, middle));
    return merge(first, await applyEvents(database, occurrences.slice(middle)));
  }
}

function merge(a: Applied, b: Applied): Applied {
  return {
    changed: [...a.changed, ...b.changed],
    released: [...a.released, ...b.released],
    resend: [...a.resend, ...b.resend],
    poisoned: [...a.poisoned, ...b.poisoned],
  };
}

async function applyTogether(sql: Sql, occurrences: readonly Occurrence[]): Promise<Applied> {
  await lockPurchases(sql, await listPurchaseKeys(sql, occurrences));
  const payments = new Map((await listPayments(sql, occurrences, true)).map((payment) => [payment.paymentId, payment]));
  const decided: Change[] = [];
  for (const occurrence of occurrences) {
    const payment = payments.get(occurrence.paymentId);
    if (!payment) continue;
    const { next, effects } = decide(payment.facts, occurrence.event);
    if (next !== payment.facts) decided.push({ payment, next, effects, occurrence });
    payments.set(occurrence.paymentId, { ...payment, facts: next });
  }
  const conflicting = await claimTransfers(sql, decided);
  const changes = decided.filter((change) => !conflicting.has(change.payment.paymentId));
  const queued = await decideHeld(sql, changes, payments);
  await writeStates(sql, [...changes, ...queued]);
  await raiseAlerts(sql, changes, conflicting);
  await recordLicences(sql, changes);
  await recordLedger(sql, changes);
  if (changes.length > 0) await sql.query("select pg_notify('payment_decided', '')");
  return {
    changed: changes.map((change) => change.payment),
    released: queued.filter((change) => change.next.state === 'accepted').map((change) => change.payment),
    resend: changes.filter((change) => change.effects.some((e) => e.type === 'resend')).map((change) => change.payment),
    poisoned: decided.filter((change) => conflicting.has(change.payment.paymentId)).map((change) => change.payment),
  };
}

/** Releases and takes transfer claims; returns the payments whose transfer another payment holds (safety 1). */
async function claimTransfers(sql: Sql, changes: readonly Change[]): Promise<Set<string>> {
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
  if (claims.length === 0) return new Set();
  const held = await sql.query<{ payment_id: string }>(
    `insert into transfer_claim (network, tx_hash, log_position, tenant_id, payment_id)
     select * from unnest($1::text[], $2::text[], $3::int[], $4::uuid[], $5::uuid[])
     on conflict do nothing returning payment_id`,
    [
      claims.map((c) => c.change.payment.network),
      claims.map((c) => c.transfer.txHash),
      claims.map((c) => c.transfer.logIndex),
      claims.map((c) => c.change.payment.tenantId),
      claims.map((c) => c.change.payment.paymentId),
    ],
  );
  const got = new Set(held.map((row) => row.payment_id));
  return new Set(claims.map((c) => c.change.payment.paymentId).filter((id) => !got.has(id)));
}

/**
 * Decides the payments held behind the ones that were decided: superseded by a success, or the oldest released. Successes come
 * first: a payment that one decision of the round supersedes must not be released by another.
 */
async function decideHeld(sql: Sql, changes: readonly Change[], seen: ReadonlyMap<string, Payment>): Promise<Change[]> {
  const result: Change[] = [];
  const touched = new Map(seen);
  const settled = changes.filter((change) => change.effects.some((effect) => effect.type === 'supersedeHeld'));
  const failed = changes.filter((change) => change.effects.some((effect) => effect.type === 'releaseHeld'));
  const rows = await listPurchases(
    sql,
    [...settled, ...failed].map((change) => change.payment),
  );
  for (const change of [...settled, ...failed]) {
    const kind = settled.includes(change) ? 'supersedeHeld' : 'releaseHeld';
    const { payment: own } = change;
    const siblings = (rows.get(saleText(own)) ?? [])
      .filter((row) => row.paymentId !== own.paymentId)
      .map((row) => touched.get(row.paymentId) ?? row);
    const held = siblings.filter((sibling) => sibling.facts.state === 'held');
    const event: PaymentEvent = kind === 'supersedeHeld' ? { type: 'superseded' } : { type: 'released' };
    const next = kind === 'supersedeHeld' ? held : siblings.some((s) => isLeading(s.facts)) ? [] : held.slice(0, 1);
    for (const payment of next) {
      const decision = decide(payment.facts, event);
      const successorId = kind === 'supersedeHeld' ? change.payment.paymentId : payment.successorId;
      const moved = { ...payment, facts: decision.next, successorId };
      touched.set(payment.paymentId, moved);
      const occurrence = { tenantId: payment.tenantId, paymentId: payment.paymentId, event };
      result.push({ payment: { ...payment, successorId }, next: decision.next, effects: decision.effects, occurrence });
    }
  }
  return result;
}

/** Undecided payments of the same purchases and amounts, oldest first, locked in key order. */
async function listPurchases(sql: Sql, payments: readonly Payment[]): Promise<ReadonlyMap<string, readonly Payment[]>> {
  const sales = [...new Map(payments.map((payment) => [saleText(payment), payment])).values()];
  if (sales.length === 0) return new Map();
  const column = <T>(read: (payment: Payment) => T): T[] => sales.map(read);
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `select payment.* from payment
       join unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
            as sale (tenant_id, payer, resource_key, kind, mode, amount_micro)
            using (tenant_id, payer, resource_key, kind, mode, amount_micro)
      where state in ('accepted', 'held', 'broadcast', 'review')
      order by payment.tenant_id, payment.payment_id for update of payment`,
    [
      ...[column((p) => p.tenantId), column((p) => p.payer), column((p) => p.resourceKey), column((p) => p.kind)],
      ...[column((p) => p.mode), column((p) => p.amountMicro.toString())],
    ],
  );
  const oldestFirst = (a: Payment, b: Payment): number =>
    a.acceptedAt.getTime() - b.acceptedAt.getTime() || (a.paymentId < b.paymentId ? -1 : 1);
  return Map.groupBy(rows.map(paymentFromRow).sort(oldestFirst), saleText);
}

/** One text for one purchase at one price. */
function saleText(payment: Payment): string {
  return `${purchaseText(payment)} ${payment.mode} ${payment.amountMicro}`;
}

/** Decides one held payment inside a transaction that holds its purchase's lock. */
export async function applyHeld(sql: Sql, payment: Payment, event: PaymentEvent, successorId: string | null): Promise<void> {
  const decision = decide(payment.facts, event);
  const occurrence = { tenantId: payment.tenantId, paymentId: payment.paymentId, event };
  await writeStates(sql, [{ payment: { ...payment, successorId }, next: decision.next, effects: decision.effects, occurrence }]);
  await sql.query("select pg_notify('payment_decided', '')");
}

async function writeStates(sql: Sql, changes: readonly Change[]): Promise<void> {
  const last = [...new Map(changes.map((change) => [change.payment.paymentId, change])).values()];
  if (last.length === 0) return;
  const column = <T>(read: (change: Change) => T): T[] => last.map(read);
  await sql.query(
    `update payment set
       state = new.state, batch_id = new.batch_id, attempts = new.attempts, reason = new.reason, recorded = new.recorded,
       failure_observed = new.failure_observed, watched = new.watched, tx_hash = new.tx_hash,
       log_position = new.log_position, block_number = new.block_number,
       block_time = coalesce(new.block_time, payment.block_time),
       raw_reason = coalesce(new.raw_reason, payment.raw_reason), sentence = coalesce(new.sentence, payment.sentence),
       successor_id = new.successor_id, decided_at = case when new.decided then now() else payment.decided_at end,
       final_at = case when new.state = 'final' then now() else null end, checked_at = now()
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::int[], $6::text[], $7::bool[], $8::bool[], $9::bool[],
       $10::text[], $11::int[], $12::bigint[], $13::timestamptz[], $14::text[], $15::text[], $16::uuid[], $17::bool[])
       as new (tenant_id, payment_id, state, batch_id, attempts, reason, recorded, failure_observed, watched, tx_hash,
         log_position, block_number, block_time, raw_reason, sentence, successor_id, decided)
     where payment.tenant_id = new.tenant_id and payment.payment_id = new.payment_id`,
    [
      ...[column((c) => c.payment.tenantId), column((c) => c.payment.paymentId), column((c) => c.next.state)],
      ...[column((c) => c.next.batchId), column((c) => c.next.attempts), column((c) => c.next.reason)],
      ...[column((c) => c.next.recorded), column((c) => c.next.failureObserved), column((c) => c.next.watched)],
      ...[column((c) => c.next.evidence?.txHash ?? null), column((c) => c.next.evidence?.logIndex ?? null)],
      ...[column((c) => c.next.evidence?.blockNumber.toString() ?? null), column((c) => c.occurrence.blockTime ?? null)],
      ...[column((c) => c.occurrence.rawReason ?? null), column((c) => c.occurrence.sentence ?? null)],
      ...[
        column((c) => c.payment.successorId),
        column((c) => c.payment.facts.state !== c.next.state && !isUndecided(c.next.state)),
      ],
    ],
  );
}

async function raiseAlerts(sql: Sql, changes: readonly Change[], conflicting: ReadonlySet<string>): Promise<void> {
  const alerts = changes
    .filter((change) => change.effects.some((effect) => effect.type === 'alert'))
    .map((change) => ({ change, kind: change.next.state === 'review' ? 'payment_review' : 'payment_reverted' }));
  for (const { change, kind } of alerts) {
    await raiseAlert(sql, kind, `payment ${change.payment.paymentId}`, change.payment.tenantId);
  }
  for (const paymentId of conflicting) {
    await raiseAlert(sql, 'evidence_conflict', `payment ${paymentId}`);
  }
}
