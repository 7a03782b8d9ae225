import type { NotNull } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';
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
  const purchase = tables
    .selectFrom('payment_state as s')
    .innerJoin('payment_intake as i', (on) => on.onRef('i.tenantId', '=', 's.tenantId').onRef('i.paymentId', '=', 's.paymentId'))
    .select(['i.network', 'i.host', 'i.accountId', 'i.amountMicro as priceMicro'])
    .select([text.raw<PurchaseFacts['state']>(toldState('s')).as('state'), text.raw<boolean>(toldWatched('s')).as('watched')])
    .select(({ selectFrom, exists }) => [
      selectFrom('account_notice as told')
        .select('told.kind')
        .where('told.tenantId', '=', tenantId)
        .where('told.paymentId', '=', paymentId)
        .orderBy('told.position', 'desc')
        .limit(1)
        .as('told'),
      exists(
        selectFrom('licence')
          .select('jti')
          .where('licence.tenantId', '=', tenantId)
          .where('jti', '=', paymentId)
          .where('revokedReason', '=', 'payment_reverted'),
      )
        .$castTo<boolean>()
        .as('isTakenBack'),
    ])
    .where('s.tenantId', '=', tenantId)
    .where('s.paymentId', '=', paymentId)
    .where('i.purpose', '=', 'licence')
    .where('i.accountId', 'is not', null)
    .$narrowType<{ accountId: NotNull }>()
    .forShare('s');
  const [row] = await run(sql, purchase);
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

/** Notes that the workflow of a purchase has looked at it: nobody else starts one for `forMs`. */
export async function holdPurchase(sql: Sql, { tenantId, paymentId }: Purchase, forMs: number): Promise<void> {
  const purchase = tables.updateTable('open_purchase').where('tenantId', '=', tenantId).where('paymentId', '=', paymentId);
  await run(sql, purchase.set({ heldUntil: text<Date>`now() + ${forMs}::double precision * interval '1 millisecond'` }));
}

/** Notes that nothing more comes of a purchase: nobody needs to follow it. */
export async function closePurchase(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await run(sql, tables.deleteFrom('open_purchase').where('tenantId', '=', tenantId).where('paymentId', '=', paymentId));
}

/**
 * Purchases of a network whose hold ended more than `olderThanMs` ago: no workflow was started for them, or theirs is gone. Any `limit` of them, others
 * with each call, so that one whose workflow is stuck keeps none from its turn.
 */
export async function listUnfollowed(
  sql: Sql,
  network: string,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<Purchase[]> {
  const before = text<Date>`now() - make_interval(secs => ${olderThanMs}::double precision / 1000)`;
  return run(
    sql,
    acrossSites('a worker')
      .selectFrom('open_purchase')
      .select(['tenantId', 'paymentId'])
      .where('network', '=', network)
      .where('heldUntil', '<', before)
      .orderBy(text`random()`)
      .limit(limit),
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

/** The newest notices of an account, at most `limit`, newest first. */
export async function listNotices(sql: Sql, accountId: string, limit: number): Promise<NoticeRecord[]> {
  const rows = await run(
    sql,
    tables
      .selectFrom('account_notice as notice')
      .innerJoin('ledger.payment as payment', (on) =>
        on.onRef('payment.tenantId', '=', 'notice.tenantId').onRef('payment.paymentId', '=', 'notice.paymentId'),
      )
      .select(['notice.tenantId', 'notice.paymentId', 'notice.kind', 'notice.at'])
      .select(['payment.host', 'payment.amountMicro', 'payment.payer', 'payment.nonce', 'payment.reason', 'payment.sentence'])
      .where('notice.accountId', '=', accountId)
      .orderBy('notice.at', 'desc')
      .orderBy('notice.paymentId')
      .orderBy('notice.position', 'desc')
      .limit(limit),
  );
  return rows.map(({ amountMicro, ...row }) => ({ ...row, priceMicro: BigInt(amountMicro) }));
}
