/** Many payments of one account, written as rows. */
import type { Sql } from '../../db/database.ts';

/** What a third each of them is: settled, failed, on its way. */
const STATES = ['settled', 'failed', 'broadcast'] as const;

/** Adds payments to an account, copies of one that it has, as if taken in now and counted nowhere yet; nothing watches them. */
export async function growSpending(sql: Sql, accountId: string, count: number): Promise<void> {
  await sql.query(
    `with model as (
       select payment_id from account_spending where account_id = $1 limit 1
     ), new as materialized (
       select uuidv7() as id, n, ($3::text[])[n % 3 + 1] as state from generate_series(0, $2::int - 1) as n
     ), taken as (
       insert into payment_intake select (jsonb_populate_record(i, jsonb_build_object('payment_id', new.id, 'nonce', '0x' || new.id))).*
         from payment_intake as i join model using (payment_id), new
     ), become as (
       insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, state, reason, watched, tx_hash)
       select s.tenant_id, new.id, s.network, s.mode, s.payer, s.pay_to, s.planned_gas, now(), new.state,
           case when new.state = 'failed' then 'settlement_failed' end, false, '0x' || new.id
         from payment_state as s join model using (payment_id), new
     )
     insert into account_spending (tenant_id, payment_id, account_id, host, resource_key, kind, purpose, amount_micro)
     select a.tenant_id, new.id, $1, a.host, a.resource_key, a.kind, a.purpose, a.amount_micro
       from account_spending as a join model using (payment_id), new where a.account_id = $1`,
    [accountId, count, STATES],
  );
}
