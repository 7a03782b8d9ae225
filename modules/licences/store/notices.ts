import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import type { FailureReason } from '../../kernel/errors.ts';
import type { PaymentFacts } from '../../kernel/payment/state.ts';
import type { NoticeKind } from '../rules/purchaseNews.ts';

/** A licence purchase: the licence it buys has the payment's id. */
interface Purchase {
  readonly tenantId: string;
  readonly paymentId: string;
}

/** What a purchase buys, and who. */
interface Bought {
  readonly network: string;
  readonly host: string;
  readonly accountId: string;
  readonly priceMicro: string;
}

/** How a licence purchase stands, kept so until the database transaction ends; null when there is none. */
export async function lockPurchase(
  sql: Sql,
  { tenantId, paymentId }: Purchase,
): Promise<(Pick<PaymentFacts, 'state' | 'watched'> & { readonly bought: Bought }) | null> {
  const [row] = await sql.query<Pick<PaymentFacts, 'state' | 'watched'> & Bought & Record<string, unknown>>(
    `select ${toldState('s')} as state, ${toldWatched('s')} as watched, i.network, i.host, i.account_id as "accountId",
       i.amount_micro::text as "priceMicro" from payment_state as s join payment_intake as i using (tenant_id, payment_id)
      where tenant_id = $1 and payment_id = $2 and i.purpose = 'licence' for share of s`,
    [tenantId, paymentId],
  );
  if (!row) return null;
  const { state, watched, ...bought } = row;
  return { state, watched, bought };
}

/** Tells the account of a purchase. Again: changes nothing. */
export async function recordNotice(sql: Sql, { tenantId, paymentId }: Purchase, kind: NoticeKind): Promise<void> {
  await sql.query(
    `insert into account_notice (tenant_id, payment_id, kind, account_id)
     select tenant_id, payment_id, $3, account_id from payment_intake where tenant_id = $1 and payment_id = $2 on conflict do nothing`,
    [tenantId, paymentId, kind],
  );
}

/** A notice with the purchase it is about. */
export interface NoticeRecord extends Purchase {
  readonly kind: NoticeKind;
  readonly at: Date;
  readonly host: string;
  readonly priceMicro: bigint;
  /** Of the authorization, by which its sender knows it. */
  readonly payer: string;
  readonly nonce: string;
  /** Why it failed; null unless it did. */
  readonly reason: FailureReason | null;
  readonly sentence: string | null;
}

interface Row extends Record<string, unknown> {
  tenant_id: string;
  payment_id: string;
  kind: NoticeKind;
  at: Date;
  host: string;
  amount_micro: string;
  payer: string;
  nonce: string;
  reason: FailureReason | null;
  sentence: string | null;
}

/** The newest notices of an account, at most `limit`, newest first. */
export async function listNotices(sql: Sql, accountId: string, limit: number): Promise<NoticeRecord[]> {
  const rows = await sql.query<Row>(
    `select notice.tenant_id, notice.payment_id, notice.kind, notice.at, payment.host, payment.amount_micro, payment.payer,
       payment.nonce, payment.reason, payment.sentence
       from account_notice as notice join ledger.payment using (tenant_id, payment_id)
      where notice.account_id = $1 order by notice.at desc, notice.payment_id limit $2`,
    [accountId, limit],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    paymentId: row.payment_id,
    kind: row.kind,
    at: row.at,
    host: row.host,
    priceMicro: BigInt(row.amount_micro),
    payer: row.payer,
    nonce: row.nonce,
    reason: row.reason,
    sentence: row.sentence,
  }));
}
