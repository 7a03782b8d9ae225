import type { Sql } from '../database.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from './payment.ts';

type Row = PaymentRow & Record<string, unknown>;

/** Accepted payments that nothing has picked up for a while, oldest first (safety 7). */
export async function listStaleAccepted(sql: Sql, network: string, olderThanMs: number, limit: number): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    `${ofStates(`select * from payment_state where network = $1 and mode = 'live' and stage = 'under_way' and state = 'accepted'
        and batch_id is null and accepted_at < now() - make_interval(secs => $2::double precision / 1000)
      order by accepted_at limit $3`)} order by i.accepted_at`,
    [network, olderThanMs, limit],
  );
  return rows.map(paymentFromRow);
}

/** A query for the payments of some states, which are found by their own indexes. */
function ofStates(query: string): string {
  return `select ${PAYMENT_COLUMNS} from (${query}) as s join payment_intake as i using (tenant_id, payment_id)`;
}

/** Settled payments whose evidence is not final yet, those looked at longest ago first. */
export async function listUnfinal(sql: Sql, network: string, limit: number): Promise<Payment[]> {
  const rows = await sql.query<Row>(
    ofStates(`select * from payment_state where network = $1 and stage = 'settled' and mode = 'live'
      order by coalesce(checked_at, accepted_at) limit $2`),
    [network, limit],
  );
  return rows.map(paymentFromRow);
}

/**
 * Payments whose money may still move although nothing of ours carries them: failed, superseded, expired and reviewed ones
 * that are watched, held ones, and sent ones that no live batch decided within `sentMs`, such as those that a reorg took back without
 * bytes of ours (safety 3). Those looked at longest ago come first, at most `limit` that bytes of ours carried, as many others, and as many
 * of those on their way: rows that cost nobody anything to make cannot keep the others from their turn. Only those on their way are
 * sorted, which their gas keeps few.
 */
export async function listWatched(sql: Sql, network: string, limit: number, sentMs: number): Promise<Payment[]> {
  const turn = (which: string): string =>
    `(select * from payment_state where network = $1 and ${which}
      order by coalesce(checked_at, accepted_at) limit $2)`;
  const sent = `stage = 'under_way' and state = 'broadcast' and watched and mode = 'live'
        and accepted_at < now() - make_interval(secs => $3::double precision / 1000)`;
  const turns = [turn("watch_side = 'carried'"), turn("watch_side = 'unsent'"), turn(sent)];
  const rows = await sql.query<Row>(ofStates(turns.join(' union all ')), [network, limit, sentMs]);
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
       select tenant_id, payment_id from payment_state as s join unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, payment_id)
         using (tenant_id, payment_id) order by tenant_id, payment_id for update of s)
     update payment_state as s set checked_at = now() from seen
      where s.tenant_id = seen.tenant_id and s.payment_id = seen.payment_id`,
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
