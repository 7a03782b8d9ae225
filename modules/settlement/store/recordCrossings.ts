import type { Database, Sql } from '../../../db/database.ts';
import { retryConflicts } from '../../../db/database.ts';
import { unseenLists } from '../../../db/unseen.ts';
import { WITHOUT_402 } from '../../kernel/payment/answered.ts';
import { crossingRollups, insertAndRollUp } from '../../rollups/store/rollups.ts';
import type { PaymentEffect } from '../rules/machine.ts';
import type { Change } from './applyEvents.ts';
import { ledgerTime } from './ledgerTime.ts';
import type { StoredAgent } from './payment.ts';
import { intakeOf } from './payment.ts';

/**
 * Writes what decisions add to the ledger: crossings, observations, and their rollups. Call it as the last write of the
 * database transaction, since rollup rows are shared by many payments (safety 23). What it sends is sent at once, and may travel
 * with the commit.
 */
export async function recordLedger(sql: Sql, changes: readonly Change[]): Promise<void> {
  await Promise.all([recordCrossings(sql, changes), recordObservations(sql, changes)]);
}

/**
 * Appends crossings with their legs, their announcement (outbox, a row for each host) and their rollups for the decisions that ask for it: a crossing of the
 * price, or the negative of the one that stands (safety 5), whose legs a flush may have corrected since. Rows are built from the
 * payment row and from crossings alone (safety 11).
 */
async function recordCrossings(sql: Sql, changes: readonly Change[]): Promise<void> {
  const entries = changes.flatMap((change) =>
    change.effects.flatMap((effect) => {
      if (effect.type === 'recordCrossing') return [{ change, negative: false }];
      return effect.type === 'correctCrossing' ? [{ change, negative: true }] : [];
    }),
  );
  if (entries.length === 0) return;
  await sql.query(
    `with wanted as (
       select *, row_number() over (partition by tenant_id, payment_id order by position) - 1 as turn
         from unnest(${unseenLists(['uuid', 'uuid', 'bool'])}) with ordinality as entry (tenant_id, payment_id, negative, position)
     ), made as (
       insert into crossing (tenant_id, crossing_id, payment_id, sequence, host, slug, kind, micro, legs, payer, agent, at)
       select payment.tenant_id, uuidv7(), payment.payment_id, place.sequence, payment.host, payment.slug, payment.kind,
         case when wanted.negative then -payment.amount_micro else payment.amount_micro end,
         case when wanted.negative then (
           select jsonb_agg(jsonb_set(leg, '{amountMicro}', to_jsonb((-(leg ->> 'amountMicro')::numeric)::text)) order by n)
             from jsonb_array_elements(coalesce(standing.legs, payment.legs)) with ordinality as list (leg, n)
         ) else payment.legs end,
         payment.payer, payment.agent ->> 'label', ${ledgerTime('place.sequence', 'payment.at')}
       from wanted cross join lateral ${intakeOf('wanted')} as payment
         cross join lateral (
           select coalesce(max(sequence) + 1, 0) + wanted.turn as sequence from crossing
            where crossing.tenant_id = wanted.tenant_id and crossing.payment_id = wanted.payment_id
         ) as place
         left join lateral (
           select crossing.legs from crossing
            where wanted.negative and crossing.tenant_id = wanted.tenant_id and crossing.payment_id = wanted.payment_id
            order by sequence desc limit 1
         ) as standing on true
       where payment.mode = 'live'
       returning *
     ), ${crossingRollups('made')}, made_legs as (
       insert into leg (tenant_id, crossing_id, ordinal, payment_id, to_address, amount_micro, role, author_id, share,
         host, slug, kind, at)
       select made.tenant_id, made.crossing_id, n - 1, made.payment_id, leg ->> 'toAddress',
         (leg ->> 'amountMicro')::bigint, leg ->> 'role', leg ->> 'authorId', (leg ->> 'share')::double precision,
         made.host, made.slug, made.kind, made.at
       from made, jsonb_array_elements(made.legs) with ordinality as list (leg, n)
     )
     insert into unannounced_crossing (tenant_id, crossing_id, host, crossing_ids)
     select tenant_id, ids[1], host, ids from (
       select tenant_id, host, array_agg(crossing_id order by crossing_id) as ids from made group by tenant_id, host) as of_host`,
    [
      entries.map((entry) => entry.change.payment.tenantId),
      entries.map((entry) => entry.change.payment.paymentId),
      entries.map((entry) => entry.negative),
    ],
    'record-crossings',
  );
}

/** One observation of a payment: its verdict, and 1 or -1 where it takes an earlier one back (safety 3). */
function observationOf(effect: PaymentEffect): { verdict: string; count: number; reason: string | null } | null {
  switch (effect.type) {
    case 'observePaid':
      return { verdict: 'paid', count: 1, reason: null };
    case 'correctPaid':
      return { verdict: 'paid', count: -1, reason: null };
    case 'observeFailed':
      return { verdict: 'payment-failed', count: 1, reason: effect.reason };
    case 'correctFailed':
      return { verdict: 'payment-failed', count: -1, reason: null };
    default:
      return null;
  }
}

/**
 * Appends the observations that decisions ask for: one for each decided failure and settlement, and their corrections. A sale without a publisher's
 * key was made at a door of this service, whose 402 no gate observed: its row says so, and so does what takes it back.
 */
async function recordObservations(sql: Sql, changes: readonly Change[]): Promise<void> {
  const rows = changes.flatMap((change) =>
    change.effects.flatMap((effect) => {
      const entry = observationOf(effect);
      if (!entry) return [];
      const reason = entry.reason ?? (entry.verdict === 'payment-failed' ? change.payment.facts.reason : null);
      return [{ payment: change.payment, ...entry, reason }];
    }),
  );
  if (rows.length === 0) return;
  await insertAndRollUp(
    sql,
    `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, reason, count,
       payment_id, agent, agent_ua, classify_reason, verified, verified_agent, sig_invalid, at)
     select payment.tenant_id, uuidv7(), payment.host, payment.slug, entry.verdict, 'agent', payment.kind,
       payment.amount_micro, case when entry.verdict = 'paid' and payment.key_id is null then '${WITHOUT_402}' else entry.reason end, entry.count, payment.payment_id, payment.agent ->> 'label',
       payment.agent ->> 'ua', payment.agent ->> 'classifyReason', (payment.agent ->> 'verified')::boolean,
       payment.agent ->> 'verifiedAgent', (payment.agent ->> 'sigInvalid')::boolean, payment.at
     from unnest(${unseenLists(['uuid', 'uuid', 'text', 'smallint', 'text'])})
       as entry (tenant_id, payment_id, verdict, count, reason)
       cross join lateral ${intakeOf('entry')} as payment
     where payment.mode = 'live'`,
    [
      rows.map((row) => row.payment.tenantId),
      rows.map((row) => row.payment.paymentId),
      rows.map((row) => row.verdict),
      rows.map((row) => row.count),
      rows.map((row) => row.reason),
    ],
    'record-observations',
  );
}

/** A refusal before any payment row: what the audit keeps of it. */
export interface Refusal {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: string;
  readonly micro: bigint | null;
  readonly reason: string;
  readonly agent: StoredAgent;
}

/** Appends the one `payment-failed` observation of a refused attempt. */
export async function recordRefusalRow(database: Database, refusal: Refusal): Promise<void> {
  const { agent } = refusal;
  const insert = () =>
    insertAndRollUp(
      database,
      `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, reason, agent,
       agent_ua, classify_reason, verified, verified_agent, sig_invalid, at)
     values ($1, uuidv7(), $2, $3, 'payment-failed', 'agent', $4, $5, $6, $7, $8, $9, $10, $11, $12, now())`,
      [
        refusal.tenantId,
        refusal.host,
        refusal.slug,
        refusal.kind,
        refusal.micro?.toString() ?? null,
        refusal.reason,
        agent.label,
        agent.ua ?? null,
        agent.classifyReason ?? null,
        agent.verified ?? null,
        agent.verifiedAgent ?? null,
        agent.sigInvalid ?? null,
      ],
      'record-refusal',
    );
  await retryConflicts(insert);
}
