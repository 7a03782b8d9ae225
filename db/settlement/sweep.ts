import { LOOSE_STATES } from '../../domain/payment/state.ts';
import type { Sql } from '../database.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { paymentFromRow } from './payment.ts';
import { sqlStates } from './states.ts';

type Row = PaymentRow & Record<string, unknown>;

/** Accepted payments that nothing has picked up for a while, oldest first (safety 7). */
export async function listStaleAccepted(sql: Sql, network: string, olderThanMs: number, limit: number): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `select * from payment where network = $1 and mode = 'live' and state = 'accepted' and batch_id is null
        and accepted_at < now() - make_interval(secs => $2::double precision / 1000)
      order by accepted_at limit $3`,
    [network, olderThanMs, limit],
  );
  return rows.map(paymentFromRow);
}

/** Settled payments whose evidence is not final yet, those looked at longest ago first. */
export async function listUnfinal(sql: Sql, network: string, limit: number): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `select * from payment where network = $1 and state = 'settled' and mode = 'live'
      order by coalesce(checked_at, accepted_at) limit $2`,
    [network, limit],
  );
  return rows.map(paymentFromRow);
}

/**
 * Payments whose money may still move although nothing of ours carries them: failed, superseded, expired and reviewed ones
 * that are watched, held ones, and sent ones that no live batch decided within `sentMs`, such as those that a reorg took back without
 * bytes of ours (safety 3). Those looked at longest ago come first, at most `limit` that bytes of ours carried and as many others: rows
 * that cost nobody anything to make cannot keep the others from their turn.
 */
export async function listWatched(sql: Sql, network: string, limit: number, sentMs: number): Promise<Payment[]> {
  // `is false`, not `= false`: Postgres makes `batch_id is not null` of that, which the index cannot be read in order by.
  const turn = (isUnsent: boolean): string =>
    `(select * from payment where network = $1 and mode = 'live' and watched and (batch_id is null) is ${isUnsent}
        and state in (${sqlStates([...LOOSE_STATES, 'broadcast'])})
        and (state <> 'broadcast' or accepted_at < now() - make_interval(secs => $3::double precision / 1000))
      order by coalesce(checked_at, accepted_at) limit $2)`;
  const rows = await sql.query<Row>(`${turn(false)} union all ${turn(true)}`, [network, limit, sentMs]);
  return rows.map(paymentFromRow);
}

/** Final payments that transactions prove, by the claims on their transfers. */
export async function listFinalProvenBy(sql: Sql, network: string, txHashes: readonly string[]): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `select payment.* from payment join transfer_claim using (tenant_id, payment_id)
      where transfer_claim.network = $1 and transfer_claim.tx_hash = any ($2::text[]) and payment.state = 'final'
        and payment.mode = 'live' order by payment.tenant_id, payment.payment_id`,
    [network, [...txHashes]],
  );
  return rows.map(paymentFromRow);
}

/** Notes that payments were looked at now. */
export async function touchChecked(sql: Sql, refs: readonly PaymentRef[]): Promise<void> {
  if (refs.length === 0) return;
  await sql.query(
    `with seen as (
       select tenant_id, payment_id from payment join unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, payment_id)
         using (tenant_id, payment_id) order by tenant_id, payment_id for update of payment)
     update payment set checked_at = now() from seen
      where payment.tenant_id = seen.tenant_id and payment.payment_id = seen.payment_id`,
    [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.paymentId)],
  );
}

/** Recipients marked as unpayable, those checked longest ago first, with the legs of a split. */
export async function listBlocked(
  sql: Sql,
  network: string,
  limit: number,
): Promise<{ payTo: `0x${string}`; legWords: string[] | null }[]> {
  const rows = await sql.query<{ pay_to: string; leg_words: string[] | null }>(
    `select blocked_payee.pay_to, max(split.leg_words) as leg_words from blocked_payee
       left join split on split.network = blocked_payee.network and split.pay_to = blocked_payee.pay_to
      where blocked_payee.network = $1 group by blocked_payee.pay_to, blocked_payee.checked_at
      order by blocked_payee.checked_at limit $2`,
    [network, limit],
  );
  return rows.map((row) => ({ payTo: row.pay_to as `0x${string}`, legWords: row.leg_words }));
}

/** Notes that a recipient was looked at and still cannot be paid, so that the next ones have their turn. */
export async function touchBlocked(sql: Sql, network: string, payTo: string): Promise<void> {
  await sql.query('update blocked_payee set checked_at = now() where network = $1 and pay_to = $2', [network, payTo]);
}

/** Lifts the mark of a recipient that can be paid again. */
export async function unblockPayee(sql: Sql, network: string, payTo: string): Promise<void> {
  await sql.query('delete from blocked_payee where network = $1 and pay_to = $2', [network, payTo]);
}
