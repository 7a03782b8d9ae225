import type { InferResult } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
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

/** Holds for a row of `licence` while the site that sold it is active and owns its host. */
export const TENANT_IS_OPEN = `exists (
         select from host_claim as claim join tenant_host as own using (tenant_id, host) join tenant using (tenant_id)
          where claim.host = licence.host and claim.tenant_id = licence.tenant_id
            and own.verified_at is not null and tenant.status = 'active')`;

/** Where the payment of a licence is read: one whose licence runs is open, and closed months cost a query that names them. */
type PaymentView = 'payment' | 'ledger.payment';

/** `isThere`: whether there is anything that a closed month could hold. */
async function openFirst<T>(ask: (payment: PaymentView) => Promise<T[]>, isThere: () => Promise<boolean>): Promise<T[]> {
  const open = await ask('payment');
  return open.length > 0 || !(await isThere()) ? open : ask('ledger.payment');
}

const paths = text<readonly string[]>`array(select path from licence_page as page
  where page.tenant_id = licence.tenant_id and page.jti = licence.jti order by path)`;

/** Licences beside their payments; the two views have the columns that are asked for. */
const licencesBy = (view: PaymentView) =>
  tables
    .selectFrom('licence')
    .innerJoin(`${view} as payment` as 'ledger.payment as payment', (on) =>
      on.onRef('payment.tenantId', '=', 'licence.tenantId').onRef('payment.paymentId', '=', 'licence.paymentId'),
    )
    .select(['licence.tenantId', 'licence.jti', 'licence.accountId', 'licence.host', 'licence.patterns', 'licence.terms'])
    .select(['licence.kind', 'licence.periodFrom', 'licence.periodUntil', 'licence.priceMicro', 'licence.legs'])
    .select(['licence.holder', 'licence.boughtAt', 'licence.revokedAt', 'payment.network', 'payment.txHash'])
    .select(paths.as('paths'));
type Row = InferResult<ReturnType<typeof licencesBy>>[number];

/** The same, of accounts that hold them. */
const heldBy = (view: PaymentView) =>
  licencesBy(view).innerJoin('account_licence as held', (on) =>
    on.onRef('held.tenantId', '=', 'licence.tenantId').onRef('held.jti', '=', 'licence.jti'),
  );

/** The licences of an account that were not revoked, newest first. */
export async function listLicences(sql: Sql, accountId: string): Promise<LicenceRecord[]> {
  const held = heldBy('ledger.payment').where('held.accountId', '=', accountId).where('licence.revokedAt', 'is', null);
  return (await run(sql, held.orderBy('held.boughtAt', 'desc').orderBy('held.jti', 'desc'))).map(licenceOf);
}

/**
 * A licence of an account, revoked or not; null when the account has none of that id. `isOpen`: the site that sold it is active
 * and owns its host at this moment.
 */
export async function findLicence(
  sql: Sql,
  key: { readonly accountId: string; readonly jti: string },
): Promise<(LicenceRecord & { readonly isOpen: boolean }) | null> {
  const isOpen = text.raw<boolean>(TENANT_IS_OPEN).as('isOpen');
  const ask = (view: PaymentView) =>
    run(sql, heldBy(view).select(isOpen).where('held.accountId', '=', key.accountId).where('held.jti', '=', key.jti));
  const held = tables
    .selectFrom('account_licence')
    .select('jti')
    .where('accountId', '=', key.accountId)
    .where('jti', '=', key.jti);
  const [row] = await openFirst(ask, async () => (await run(sql, held)).length > 0);
  return row ? { ...licenceOf(row), isOpen: row.isOpen } : null;
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
  const [column, who] =
    'wallet' in buyer ? (['account.wallet', buyer.wallet] as const) : (['account.accountId', buyer.accountId] as const);
  const [row] = await run(
    sql,
    heldBy('payment')
      .innerJoin('buyer_account as account', 'account.accountId', 'held.accountId')
      .innerJoin('licence_page as page', (on) =>
        on.onRef('page.tenantId', '=', 'licence.tenantId').onRef('page.jti', '=', 'licence.jti').on('page.path', '=', path),
      )
      .where(column, '=', who)
      .where('held.tenantId', '=', tenantId)
      .where('licence.host', '=', host)
      .$if(kind !== 'read', (held) => held.where('licence.kind', '=', 'citation'))
      .where('licence.periodFrom', '<=', at)
      .where('licence.periodUntil', '>', at)
      .where('licence.revokedAt', 'is', null)
      .where('payment.state', 'in', SETTLED_STATES)
      .where((is) =>
        is.or([is('licence.holder', 'is', null), is('licence.holder', '=', is.ref('account.wallet').$castTo<Address>())]),
      )
      .orderBy('licence.periodUntil', 'desc')
      .orderBy('licence.jti')
      .limit(1),
  );
  return row ? licenceOf(row) : null;
}

/** The licence that a payment bought; null when it bought none (yet). */
export async function findBoughtLicence(
  sql: Sql,
  { tenantId, paymentId }: { readonly tenantId: string; readonly paymentId: string },
): Promise<LicenceRecord | null> {
  const ask = (view: PaymentView) =>
    run(sql, licencesBy(view).where('licence.tenantId', '=', tenantId).where('licence.paymentId', '=', paymentId));
  const bought = tables.selectFrom('licence').select('jti').where('tenantId', '=', tenantId).where('paymentId', '=', paymentId);
  const [row] = await openFirst(ask, async () => (await run(sql, bought)).length > 0);
  return row ? licenceOf(row) : null;
}

/**
 * The licence that an account bought at a site by the very request of this hash, whose period runs now and ends last; null when it holds none.
 * Neither revoked nor taken back by the chain.
 */
export async function findLicenceOfRequest(
  sql: Sql,
  { accountId, tenantId, requestHash, at }: { accountId: string; tenantId: string; requestHash: string; at: Date },
): Promise<{ readonly jti: string; readonly priceMicro: bigint } | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('account_licence as held')
      .innerJoin('licence', (on) => on.onRef('licence.tenantId', '=', 'held.tenantId').onRef('licence.jti', '=', 'held.jti'))
      .innerJoin('licence_offer as offer', (on) =>
        on.onRef('offer.tenantId', '=', 'licence.tenantId').onRef('offer.offerId', '=', 'licence.offerId'),
      )
      .select(['licence.jti', 'licence.priceMicro'])
      .where('held.accountId', '=', accountId)
      .where('held.tenantId', '=', tenantId)
      .where('offer.requestHash', '=', requestHash)
      .where('licence.revokedAt', 'is', null)
      .where('licence.periodFrom', '<=', at)
      .where('licence.periodUntil', '>', at)
      .orderBy('licence.periodUntil', 'desc')
      .orderBy('licence.jti')
      .limit(1),
  );
  return row ? { jti: row.jti, priceMicro: BigInt(row.priceMicro) } : null;
}

/** Holds for a row of `licence` that covers every page of a row of `offer`. */
const COVERS_PAGES = text<boolean>`not exists (
  select from jsonb_array_elements(offer.pages) as asked
   where not exists (select from licence_page as page where page.tenant_id = licence.tenant_id
     and page.jti = licence.jti and page.path = asked ->> 'path'))`;

/**
 * The purchase of a licence of the same account that covers everything of an offer: pages, terms, kind and the whole period
 * (safety 14); null when the account holds none. Its payment stands settled.
 */
export async function findCoveringPurchase(
  sql: Sql,
  { tenantId, offerId }: { readonly tenantId: string; readonly offerId: string },
): Promise<string | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('licence_offer as offer')
      .innerJoin('account_licence as held', (on) =>
        on.onRef('held.accountId', '=', 'offer.accountId').onRef('held.tenantId', '=', 'offer.tenantId'),
      )
      .innerJoin('licence', (on) => on.onRef('licence.tenantId', '=', 'held.tenantId').onRef('licence.jti', '=', 'held.jti'))
      .innerJoin('payment', (on) =>
        on.onRef('payment.tenantId', '=', 'licence.tenantId').onRef('payment.paymentId', '=', 'licence.paymentId'),
      )
      .select('licence.paymentId')
      .where('offer.tenantId', '=', tenantId)
      .where('offer.offerId', '=', offerId)
      .where('payment.state', 'in', SETTLED_STATES)
      .where('licence.revokedAt', 'is', null)
      .whereRef('licence.host', '=', 'offer.host')
      .whereRef('licence.holder', 'is not distinct from', 'offer.holder')
      .where((is) => is.or([is('licence.kind', '=', 'citation'), is('offer.kind', '=', 'read')]))
      .where(text<boolean>`('all' = any(licence.terms) or licence.terms @> offer.terms)`)
      .whereRef('licence.periodFrom', '<=', 'offer.periodFrom')
      .whereRef('licence.periodUntil', '>=', 'offer.periodUntil')
      .where(COVERS_PAGES)
      .orderBy('licence.boughtAt', 'desc')
      .limit(1),
  );
  return row?.paymentId ?? null;
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
