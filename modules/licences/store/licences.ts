import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** A licence as stored. */
export interface LicenceRecord {
  readonly tenantId: string;
  readonly jti: string;
  readonly accountId: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly kind: CrossingKind;
  readonly periodFrom: Date;
  readonly periodUntil: Date;
  readonly priceMicro: bigint;
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
  readonly holder: Address | null;
  readonly boughtAt: Date;
  readonly revokedAt: Date | null;
  readonly network: string;
  /** The transaction that pays for it as the chain stands; null while a reorg has taken it back. */
  readonly txHash: string | null;
  /** Canonical paths of its pages, ascending. */
  readonly paths: readonly string[];
}

const SHOWN = both(
  both(
    columnsOf('licence licence', [
      ...(['tenantId', 'jti', 'accountId', 'host', 'patterns', 'terms', 'kind', 'periodFrom', 'periodUntil'] as const),
      ...(['priceMicro', 'legs', 'holder', 'boughtAt', 'revokedAt'] as const),
    ]),
    columnsOf('payment payment', ['network', 'txHash']),
  ),
  workedOut<{ readonly paths: readonly string[] }>(`array(select path from licence_page as page
    where page.tenant_id = licence.tenant_id and page.jti = licence.jti order by path) as paths`),
);
type Row = RowOf<typeof SHOWN>;

/** Holds for a row of `licence` while the site that sold it is active and owns its host. */
export const TENANT_IS_OPEN = `exists (
         select from host_claim as claim join tenant_host as own using (tenant_id, host) join tenant using (tenant_id)
          where claim.host = licence.host and claim.tenant_id = licence.tenant_id
            and own.verified_at is not null and tenant.status = 'active')`;

/** Where the payment of a licence is read: one whose licence runs is open, and closed months cost whoever names them. */
type PaymentView = 'payment' | 'ledger.payment';

/** `isThere`: whether there is anything that a closed month could hold. */
async function openFirst<T>(ask: (payment: PaymentView) => Promise<T[]>, isThere: () => Promise<boolean>): Promise<T[]> {
  const open = await ask('payment');
  return open.length > 0 || !(await isThere()) ? open : ask('ledger.payment');
}

/** The licences of an account that were not revoked, newest first. */
export async function listLicences(sql: Sql, accountId: string): Promise<LicenceRecord[]> {
  const rows = await sql.query<Row>(
    `select ${SHOWN.text} from account_licence as held
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
       join ledger.payment on payment.tenant_id = licence.tenant_id and payment.payment_id = licence.payment_id
      where held.account_id = $1 and licence.revoked_at is null
      order by held.bought_at desc, held.jti desc`,
    [accountId],
  );
  return rows.map(licenceOf);
}

/**
 * A licence of an account, revoked or not; null when the account has none of that id. `isOpen`: the site that sold it is active
 * and owns its host at this moment.
 */
export async function findLicence(
  sql: Sql,
  key: { readonly accountId: string; readonly jti: string },
): Promise<(LicenceRecord & { readonly isOpen: boolean }) | null> {
  const ask = (payment: PaymentView) =>
    sql.query<Row & { isOpen: boolean }>(
      `select ${SHOWN.text}, ${TENANT_IS_OPEN} as "isOpen"
       from account_licence as held
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
       join ${payment} on payment.tenant_id = licence.tenant_id and payment.payment_id = licence.payment_id
      where held.account_id = $1 and held.jti = $2`,
      [key.accountId, key.jti],
    );
  const isHeld = async (): Promise<boolean> =>
    (
      await run(
        sql,
        tables.selectFrom('account_licence').select('jti').where('accountId', '=', key.accountId).where('jti', '=', key.jti),
      )
    ).length > 0;
  const rows = await openFirst(ask, isHeld);
  if (!rows[0]) return null;
  const { isOpen, ...row } = rows[0];
  return { ...licenceOf(row), isOpen };
}

/**
 * The licence of an account, or of a wallet's own, at a site that covers a page now and ends last; null when it holds none. Not revoked, paid as
 * the chain stands, and bound to nobody else than its wallet.
 */
export async function findLicenceOf(
  sql: Sql,
  asked: {
    readonly tenantId: string;
    readonly buyer: { readonly wallet: Address } | { readonly accountId: string };
    readonly host: string;
    /** Canonical. */
    readonly path: string;
    readonly kind: CrossingKind;
    readonly at: Date;
  },
): Promise<LicenceRecord | null> {
  const { tenantId, buyer, host, path, kind, at } = asked;
  const [column, who] = 'wallet' in buyer ? ['wallet', buyer.wallet] : ['account_id', buyer.accountId];
  const rows = await sql.query<Row>(
    `select ${SHOWN.text} from buyer_account as account
       join account_licence as held on held.account_id = account.account_id and held.tenant_id = $1
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
       join payment on payment.tenant_id = licence.tenant_id and payment.payment_id = licence.payment_id
      where account.${column} = $2 and licence.host = $3 and (licence.kind = 'citation' or $5 = 'read')
        and licence.period_from <= $6 and licence.period_until > $6 and licence.revoked_at is null
        and payment.state in (${sqlStates(SETTLED_STATES)}) and (licence.holder is null or licence.holder = account.wallet)
        and exists (select from licence_page as page where page.tenant_id = licence.tenant_id and page.jti = licence.jti and page.path = $4)
      order by licence.period_until desc, licence.jti limit 1`,
    [tenantId, who, host, path, kind, at],
  );
  return rows[0] ? licenceOf(rows[0]) : null;
}

/** The licence that a payment bought; null when it bought none (yet). */
export async function findBoughtLicence(
  sql: Sql,
  payment: { readonly tenantId: string; readonly paymentId: string },
): Promise<LicenceRecord | null> {
  const ask = (view: PaymentView) =>
    sql.query<Row>(
      `select ${SHOWN.text} from licence
       join ${view} on payment.tenant_id = licence.tenant_id and payment.payment_id = licence.payment_id
      where licence.tenant_id = $1 and licence.payment_id = $2`,
      [payment.tenantId, payment.paymentId],
    );
  const isBought = async (): Promise<boolean> =>
    (
      await run(
        sql,
        tables
          .selectFrom('licence')
          .select('jti')
          .where('tenantId', '=', payment.tenantId)
          .where('paymentId', '=', payment.paymentId),
      )
    ).length > 0;
  const rows = await openFirst(ask, isBought);
  return rows[0] ? licenceOf(rows[0]) : null;
}

/**
 * The licence that an account bought at a site by the very request of this hash, whose period runs now and ends last; null when it holds none.
 * Neither revoked nor taken back by the chain.
 */
export async function findLicenceOfRequest(
  sql: Sql,
  { accountId, tenantId, requestHash, at }: { accountId: string; tenantId: string; requestHash: string; at: Date },
): Promise<{ readonly jti: string; readonly priceMicro: bigint } | null> {
  const [row] = await sql.query<{ jti: string; priceMicro: string }>(
    `select licence.jti, licence.price_micro as "priceMicro" from account_licence as held
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
       join licence_offer as offer on offer.tenant_id = licence.tenant_id and offer.offer_id = licence.offer_id
      where held.account_id = $1 and held.tenant_id = $2 and offer.request_hash = $3 and licence.revoked_at is null
        and licence.period_from <= $4 and licence.period_until > $4
      order by licence.period_until desc, licence.jti limit 1`,
    [accountId, tenantId, requestHash, at],
  );
  return row ? { jti: row.jti, priceMicro: BigInt(row.priceMicro) } : null;
}

/**
 * The purchase of a licence of the same account that covers everything of an offer: pages, terms, kind and the whole period
 * (safety 14); null when the account holds none. Its payment stands settled.
 */
export async function findCoveringPurchase(
  sql: Sql,
  { tenantId, offerId }: { readonly tenantId: string; readonly offerId: string },
): Promise<string | null> {
  const rows = await sql.query<{ paymentId: string }>(
    `select licence.payment_id as "paymentId" from licence_offer as offer
       join account_licence as held on held.account_id = offer.account_id and held.tenant_id = offer.tenant_id
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
       join payment on payment.tenant_id = licence.tenant_id and payment.payment_id = licence.payment_id
      where offer.tenant_id = $1 and offer.offer_id = $2 and payment.state in (${sqlStates(SETTLED_STATES)}) and licence.revoked_at is null
        and licence.host = offer.host and licence.holder is not distinct from offer.holder
        and (licence.kind = 'citation' or offer.kind = 'read')
        and ('all' = any(licence.terms) or licence.terms @> offer.terms)
        and licence.period_from <= offer.period_from and licence.period_until >= offer.period_until
        and not exists (
          select from jsonb_array_elements(offer.pages) as asked
           where not exists (select from licence_page as page where page.tenant_id = licence.tenant_id
             and page.jti = licence.jti and page.path = asked ->> 'path'))
      order by licence.bought_at desc limit 1`,
    [tenantId, offerId],
  );
  return rows[0]?.paymentId ?? null;
}

/** Stores what a token covers that does not say so itself; `paths` null: every page of its licence. Again: changes nothing. */
export async function keepAccessScope(
  sql: Sql,
  scope: {
    readonly tenantId: string;
    readonly jti: string;
    readonly licenceJti: string;
    readonly paths: readonly string[] | null;
    readonly expiresAt: Date;
  },
): Promise<void> {
  const { tenantId, jti, licenceJti, paths, expiresAt } = scope;
  await run(
    sql,
    tables
      .insertInto('access_scope')
      .values({ tenantId, jti, licenceJti, paths, expiresAt })
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** Denies a licence for good and marks it revoked; false when the site has none of that id. */
export async function revokeLicenceRow(
  database: Transactional,
  key: { readonly tenantId: string; readonly jti: string },
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const rows = await run(
      sql,
      tables
        .updateTable('licence')
        .set({ revokedAt: text<Date>`coalesce(revoked_at, now())`, revokedReason: 'revoked' })
        .where('tenantId', '=', key.tenantId)
        .where('jti', '=', key.jti)
        .returning('jti'),
    );
    if (rows.length > 0) await denyToken(sql, key);
    return rows.length > 0;
  });
}

/** Puts a licence or token on the site's deny-list. Again: changes nothing. */
export async function denyToken(sql: Sql, key: { readonly tenantId: string; readonly jti: string }): Promise<void> {
  const { tenantId, jti } = key;
  await run(
    sql,
    tables
      .insertInto('denied_licence')
      .values({ tenantId, jti, reason: 'revoked' })
      .onConflict((conflict) => conflict.columns(['tenantId', 'jti']).doUpdateSet({ reason: 'revoked' })),
  );
}

function licenceOf({ priceMicro, legs, ...row }: Row): LicenceRecord {
  return {
    ...row,
    priceMicro: BigInt(priceMicro),
    legs: legs.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: BigInt(amountMicro) })),
  };
}
