import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import type { FailureReason } from '../../kernel/errors.ts';
import type { NoticeKind, PurchaseFacts } from '../rules/purchaseNews.ts';

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
): Promise<(PurchaseFacts & { readonly bought: Bought }) | null> {
  const [row] = await sql.query<PurchaseFacts & Bought & Record<string, unknown>>(
    `select ${toldState('s')} as state, ${toldWatched('s')} as watched, i.network, i.host, i.account_id as "accountId",
       i.amount_micro::text as "priceMicro",
       (select kind from account_notice where tenant_id = $1 and payment_id = $2 order by position desc limit 1) as told,
       exists (select from licence where tenant_id = $1 and jti = $2 and revoked_reason = 'payment_reverted') as "isTakenBack"
       from payment_state as s join payment_intake as i using (tenant_id, payment_id)
      where tenant_id = $1 and payment_id = $2 and i.purpose = 'licence' for share of s`,
    [tenantId, paymentId],
  );
  if (!row) return null;
  const { state, watched, told, isTakenBack, ...bought } = row;
  return { state, watched, told, isTakenBack, bought };
}

/** Tells the account of a purchase, unless that is what it was told last. */
export async function recordNotice(sql: Sql, { tenantId, paymentId }: Purchase, kind: NoticeKind): Promise<void> {
  await sql.query(
    `insert into account_notice (tenant_id, payment_id, position, kind, account_id)
     select i.tenant_id, i.payment_id, coalesce(last.position + 1, 0), $3, i.account_id from payment_intake as i
       left join lateral (select position, kind from account_notice as n where n.tenant_id = i.tenant_id and n.payment_id = i.payment_id
         order by position desc limit 1) as last on true
      where i.tenant_id = $1 and i.payment_id = $2 and last.kind is distinct from $3 on conflict do nothing`,
    [tenantId, paymentId, kind],
  );
}

/** Notes that a purchase has its workflow: nobody else needs to start one. */
export async function forgetUnfollowed(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await run(sql, tables.deleteFrom('unfollowed_purchase').where('tenantId', '=', tenantId).where('paymentId', '=', paymentId));
}

/** Purchases of a network whose workflow nobody started within `olderThanMs` of their commit, oldest first. */
export async function listUnfollowed(
  sql: Sql,
  network: string,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<Purchase[]> {
  return await sql.query<Purchase & Record<string, unknown>>(
    `select tenant_id as "tenantId", payment_id as "paymentId" from unfollowed_purchase
      where network = $1 and at < now() - make_interval(secs => $2::double precision / 1000) order by at limit $3`,
    [network, olderThanMs, limit],
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

const SHOWN = both(
  columnsOf('account_notice notice', ['tenantId', 'paymentId', 'kind', 'at']),
  columnsOf('payment payment', ['host', 'amountMicro', 'payer', 'nonce', 'reason', 'sentence']),
);

/** The newest notices of an account, at most `limit`, newest first. */
export async function listNotices(sql: Sql, accountId: string, limit: number): Promise<NoticeRecord[]> {
  const rows = await sql.query<RowOf<typeof SHOWN>>(
    `select ${SHOWN.text} from account_notice as notice join ledger.payment using (tenant_id, payment_id)
      where notice.account_id = $1 order by notice.at desc, notice.payment_id, notice.position desc limit $2`,
    [accountId, limit],
  );
  return rows.map(({ amountMicro, ...row }) => ({ ...row, priceMicro: BigInt(amountMicro) }));
}
