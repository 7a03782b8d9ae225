import type { PaymentState } from '../../domain/payment/state.ts';
import { decisionTime, SETTLED_STATES } from '../../domain/payment/state.ts';
import type { Sql } from '../database.ts';
import type { Change } from './outcome.ts';

/** States as a list of SQL constants, for `state in (…)`: a parameter would hide them from the partial indexes of payments. */
export function sqlStates(states: readonly PaymentState[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}

/** When the batch of `p`, a payment by its alias, became final and `p` with it: null where it did not, or where `p` is final by itself. */
export function finalWithBatch(p: string): string {
  return `(select batch.final_at from settlement_batch as batch
     where ${p}.state = 'settled' and not ${p}.own_finality and batch.batch_id = ${p}.batch_id)`;
}

/** The state of `p` as everybody is told it: in its own row a payment that is final with its batch stays `settled`. */
export function toldState(p: string): string {
  return `case when ${finalWithBatch(p)} is null then ${p}.state else 'final' end`;
}

/** Whether `p` is watched: nothing is that is final. */
export function toldWatched(p: string): string {
  return `(${p}.watched and ${finalWithBatch(p)} is null)`;
}

/** True for `p` in one of these told states, as constants, which the partial indexes want. */
export function isInStates(p: string, states: readonly PaymentState[]): string {
  const [settled, final] = [states.includes('settled'), states.includes('final')];
  const stored = final && !settled ? [...states, 'settled' as const] : states;
  const isStored = `${p}.stage in (${sqlStages(stored)}) and ${p}.state in (${sqlStates(stored)})`;
  return settled === final ? isStored : `${isStored} and ${toldState(p)} in (${sqlStates(states)})`;
}

/**
 * The stages of states as SQL constants, for `stage in (…)`. A stage is the state, but for the two between which a claim moves a payment: an
 * index by stages is touched by no claim.
 */
export function sqlStages(states: readonly PaymentState[]): string {
  const stages = states.map((state) => (state === 'accepted' || state === 'broadcast' ? 'under_way' : state));
  return [...new Set(stages)].map((stage) => `'${stage}'`).join(', ');
}

/**
 * Writes what was decided of payments, the last decision of each. `decided_at` is the first moment of the decision that stands
 * (`decisionTime`), read under the purchase's lock and so later than `accepted_at` of everything that waited for it; `settled_at` is
 * set once. What settles becomes final with its batch, unless that is final already: its row is kept from becoming so until this
 * database transaction ends.
 */
export async function writeStates(sql: Sql, changes: readonly Change[]): Promise<void> {
  const rows = [...Map.groupBy(changes, (change) => change.payment.paymentId).values()].map(rowOf);
  if (rows.length === 0) return;
  await sql.query(
    `with new as materialized (
       select * from jsonb_to_recordset($1::jsonb) as new (tenant_id uuid, payment_id uuid, state text, batch_id uuid, attempts int,
         reason text, recorded bool, failure_observed bool, watched bool, tx_hash text, log_position int, block_number bigint,
         block_time timestamptz, raw_reason text, sentence text, successor_id uuid, decision text)
     ), carrier as materialized (
       select batch_id, final_at from settlement_batch
        where batch_id in (select batch_id from new where state = 'settled') order by batch_id for key share
     )
     update payment_state as s set
       state = new.state, batch_id = new.batch_id, attempts = new.attempts, reason = new.reason, recorded = new.recorded,
       failure_observed = new.failure_observed, watched = new.watched, tx_hash = new.tx_hash,
       log_position = new.log_position, block_number = new.block_number,
       block_time = coalesce(new.block_time, s.block_time),
       raw_reason = coalesce(new.raw_reason, s.raw_reason), sentence = coalesce(new.sentence, s.sentence),
       successor_id = new.successor_id,
       decided_at = case new.decision when 'now' then clock_timestamp() when 'kept' then s.decided_at end,
       settled_at = coalesce(s.settled_at,
         case when s.state in (${sqlStates(SETTLED_STATES)}) then s.decided_at
           when new.state in (${sqlStates(SETTLED_STATES)}) then clock_timestamp() end),
       own_finality = new.state <> 'settled' or carrier.batch_id is null or carrier.final_at is not null,
       final_at = case when new.state = 'final' then now() else null end, checked_at = now()
     from new left join carrier using (batch_id)
     where s.tenant_id = new.tenant_id and s.payment_id = new.payment_id`,
    [JSON.stringify(rows)],
  );
}

/** The row of one payment's decisions, in the order they were made. */
function rowOf(decisions: readonly Change[]): Record<string, unknown> {
  const { payment, next, occurrence } = decisions.at(-1) as Change;
  const times = decisions.map((change) => decisionTime(change.payment.facts.state, change.next.state));
  return {
    tenant_id: payment.tenantId,
    payment_id: payment.paymentId,
    state: next.state,
    batch_id: next.batchId,
    attempts: next.attempts,
    reason: next.reason,
    recorded: next.recorded,
    failure_observed: next.failureObserved,
    watched: next.watched,
    tx_hash: next.evidence?.txHash ?? null,
    log_position: next.evidence?.logIndex ?? null,
    block_number: next.evidence?.blockNumber.toString() ?? null,
    block_time: occurrence.blockTime ?? null,
    raw_reason: occurrence.rawReason ?? null,
    sentence: occurrence.sentence ?? null,
    successor_id: payment.successorId,
    decision: times.findLast((time) => time !== 'kept') ?? 'kept',
  };
}
