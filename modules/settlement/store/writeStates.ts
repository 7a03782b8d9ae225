import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { decisionTime, isSettled, SETTLED_STATES } from '../../kernel/payment/state.ts';
import { ANNOUNCE, tellAccepted } from './announce.ts';
import type { Change } from './applyEvents.ts';

/**
 * The beginning of a statement that changes rows of `payment_state`, which are there: an upsert finds each by its key, whatever the planner thinks
 * of the table, where an update from a list may read all of it, by a plan made while it was small. `KEYED` are its first values.
 */
export const UPSERT =
  'insert into payment_state as s (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at,';
export const KEYED = "tenant_id, payment_id, '', 'live', '', '', 0, now(),";

/**
 * Writes what was decided of payments, the last decision of each. `decided_at` is the first moment of the decision that stands
 * (`decisionTime`), read under the purchase's lock and so later than `accepted_at` of everything that waited for it; `settled_at` is
 * set once. What settles becomes final with its batch, unless that is final already: its row is kept from becoming so until this
 * database transaction ends. What settles while its caller waits gets its licence here, issued now, once (safety 13); none where
 * its key was retired since. The commit notifies those who wait for decisions, and the workers of what goes out (again).
 */
export async function writeStates(sql: Sql, changes: readonly Change[]): Promise<void> {
  const rows = [...Map.groupBy(changes, (change) => change.payment.paymentId).values()].map(rowOf);
  if (rows.length === 0) return;
  const goOut = new Set(changes.flatMap(({ payment, next }) => (next.state === 'accepted' ? [payment.network] : [])));
  const told = [...goOut].map((network) => tellAccepted(sql, network));
  const written = sql.query(
    `with new as materialized (
       select decided.*, clock_timestamp() as moment, key.kid,
           key.kid is not null and clock_timestamp() < decided.awaited_until as is_awaited
         from jsonb_to_recordset($1::jsonb) as decided (tenant_id uuid, payment_id uuid, state text, batch_id uuid, attempts int,
           reason text, recorded bool, failure_observed bool, forgone bool, watched bool, tx_hash text, log_position int, block_number bigint,
           block_time timestamptz, raw_reason text, sentence text, successor_id uuid, decision text,
           jti uuid, awaited_until timestamptz, licence_seconds int, signing_kid text)
         left join signing_key as key on key.kid = decided.signing_kid and key.retired_at is null
     ), carrier as materialized (
       select batch.* from (select distinct batch_id from new where state = 'settled' order by batch_id) as named cross join lateral (
         select batch_id, final_at from settlement_batch where batch_id = named.batch_id for key share) as batch
     ), written as (
       ${UPSERT} state, batch_id, attempts, reason, recorded, failure_observed, forgone, watched, tx_hash, log_position, block_number, block_time,
         raw_reason, sentence, successor_id, decided_at, licence_jti, licence_issued_at, licence_expires_at, licence_kid,
         own_finality)
       select ${KEYED} state, batch_id, attempts, reason, recorded, failure_observed, forgone, watched, tx_hash, log_position, block_number, block_time,
         raw_reason, sentence, successor_id, case decision when 'now' then moment when 'kept' then 'infinity' end,
         case when is_awaited then jti end, case when is_awaited then floor(extract(epoch from moment)) end,
         case when is_awaited then floor(extract(epoch from moment)) + licence_seconds end, case when is_awaited then kid end,
         state <> 'settled' or carrier.batch_id is null or carrier.final_at is not null
         from new left join carrier using (batch_id)
       on conflict (tenant_id, payment_id) do update set
         state = excluded.state, batch_id = excluded.batch_id, attempts = excluded.attempts, reason = excluded.reason,
         recorded = excluded.recorded, failure_observed = excluded.failure_observed, forgone = excluded.forgone, watched = excluded.watched,
         tx_hash = excluded.tx_hash, log_position = excluded.log_position, block_number = excluded.block_number,
         block_time = coalesce(excluded.block_time, s.block_time),
         raw_reason = coalesce(excluded.raw_reason, s.raw_reason), sentence = coalesce(excluded.sentence, s.sentence),
         successor_id = excluded.successor_id,
         decided_at = case when excluded.decided_at = 'infinity' then s.decided_at else excluded.decided_at end,
         settled_at = coalesce(s.settled_at,
           case when s.state in (${sqlStates(SETTLED_STATES)}) then s.decided_at
             when excluded.state in (${sqlStates(SETTLED_STATES)}) then excluded.decided_at end),
         own_finality = excluded.own_finality,
         final_at = case when excluded.state = 'final' then now() else null end,
         checked_at = case when excluded.state = 'accepted' then null else now() end, -- what waits again is not postponed
         licence_jti = coalesce(s.licence_jti, excluded.licence_jti),
         licence_issued_at = case when s.licence_jti is null then excluded.licence_issued_at else s.licence_issued_at end,
         licence_expires_at = case when s.licence_jti is null then excluded.licence_expires_at else s.licence_expires_at end,
         licence_kid = case when s.licence_jti is null then excluded.licence_kid else s.licence_kid end
     )
     ${ANNOUNCE}`,
    [JSON.stringify(rows)],
    'write-states',
  );
  await Promise.all([written, ...told]);
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
    forgone: next.forgone,
    watched: next.watched,
    tx_hash: next.evidence?.txHash ?? null,
    log_position: next.evidence?.logIndex ?? null,
    block_number: next.evidence?.blockNumber.toString() ?? null,
    block_time: occurrence.blockTime ?? null,
    raw_reason: occurrence.rawReason ?? null,
    sentence: occurrence.sentence ?? null,
    successor_id: payment.successorId,
    decision: times.findLast((time) => time !== 'kept') ?? 'kept',
    ...licenceOf(decisions),
  };
}

/** What the licence of a page is made of where these decisions settle it and none is fixed; that of a bought one has times of its own. */
function licenceOf(decisions: readonly Change[]): Record<string, unknown> {
  const { payment } = decisions[0] as Change;
  const { awaited, licence, acceptedAt, purpose } = payment;
  const settles = decisions.some((change) => !isSettled(change.payment.facts.state) && isSettled(change.next.state));
  if (!settles || !awaited || licence || purpose !== 'page') return {};
  return {
    jti: payment.paymentId, // as where it is fixed later (modules/settlement/use/answer)
    awaited_until: new Date(acceptedAt.getTime() + awaited.waitMs),
    licence_seconds: awaited.lifeSeconds,
    signing_kid: awaited.kid,
  };
}
