import type { Database, Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { Address, Leg } from '../../kernel/money/legs.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** What a 402 said, and all its licence will say but the pages. */
export interface OfferTerms {
  readonly offerId: string;
  readonly tenantId: string;
  readonly accountId: string;
  /** Digest of the normalised request. */
  readonly requestHash: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly kind: CrossingKind;
  readonly periodFrom: Date;
  readonly periodUntil: Date;
  readonly priceMicro: bigint;
  readonly pageCount: number;
  readonly legs: readonly Leg[];
  readonly legWords: readonly `0x${string}`[] | null;
  readonly payTo: Address;
  readonly network: string;
  readonly asset: Address;
  readonly router: Address;
  readonly holder: Address | null;
  readonly expiresAt: Date;
}

/** An offer that nobody paid for yet: what its pages are is kept as a digest. */
export interface OpenOffer extends OfferTerms {
  /** Digest of its pages with their prices (modules/storefront/use/licences/freeze.ts); null: its row has the pages themselves. */
  readonly pagesDigest: string | null;
}

/** A page of an offer, with its part of the price. */
export interface OfferPage {
  readonly path: string;
  readonly slug: string;
  readonly micro: bigint;
}

/** Most open offers of an account and of a site. */
export interface OfferCaps {
  readonly ofAccount: number;
  readonly ofTenant: number;
}

/** Columns of an offer, open or frozen. */
const OFFERED = [
  ...(['offerId', 'tenantId', 'accountId', 'requestHash', 'host', 'patterns', 'terms', 'kind'] as const),
  ...(['periodFrom', 'periodUntil'] as const),
  ...(['priceMicro', 'legs', 'legWords', 'payTo', 'network', 'asset', 'router', 'holder', 'expiresAt'] as const),
] as const;
const OPEN = columnsOf('open_licence_offer offer', [...OFFERED, 'pageCount', 'pagesDigest']);
/** Offers that a payment was shown for have their pages. */
const WHOLE = both(
  columnsOf('licence_offer offer', OFFERED),
  workedOut<{ readonly pageCount: number; readonly pagesDigest: string | null }>(
    'jsonb_array_length(offer.pages) as "pageCount", null as "pagesDigest"',
  ),
);
type Row = RowOf<typeof WHOLE>;

/** A request has one offer at a time; those before it are paid for some minutes more. */
const MOST_PAYABLE = 20;

/**
 * The offer that stands for a request of an account: the one made within its life, or this new one. Two
 * processes at once get the same. Null: the account has as many open offers as it may, and nothing was kept. Where a site has as many as
 * it may, the oldest of the account with most of them gives way, so that whoever floods a site loses his own.
 */
export async function keepOffer(database: Database, offer: OpenOffer, at: Date, caps: OfferCaps): Promise<OpenOffer | null> {
  const { pageCount, pagesDigest } = offer;
  if (pagesDigest === null) throw new Error('an offer that is frozen is not kept as an open one');
  return database.transaction(async (sql) => {
    // Offers of one account come one after the other.
    await sql.query('select 1 from buyer_account where account_id = $1 for no key update', [offer.accountId]);
    const standing = await findStandingOffer(sql, offer, at);
    if (standing) return standing;
    const [row] = await sql.query<{ ofAccount: number; ofTenant: number }>(
      `select (select count(*)::int from open_licence_offer where account_id = $1 and expires_at > $3) as "ofAccount",
         (select count(*)::int from open_licence_offer where tenant_id = $2) as "ofTenant"`,
      [offer.accountId, offer.tenantId, at],
    );
    if ((row?.ofAccount ?? 0) >= caps.ofAccount) return null;
    if ((row?.ofTenant ?? 0) >= caps.ofTenant) await giveWay(sql, offer.tenantId);
    await run(sql, tables.insertInto('open_licence_offer').values({ ...storedOf(offer), pageCount, pagesDigest }));
    return offer;
  });
}

async function giveWay(sql: Sql, tenantId: string): Promise<void> {
  await sql.query(
    `delete from open_licence_offer where tenant_id = $1 and offer_id = (
       select offer_id from (
         select offer_id, expires_at, count(*) over (partition by account_id) as mine from open_licence_offer where tenant_id = $1) every
       order by mine desc, expires_at, offer_id limit 1)`,
    [tenantId],
  );
}

/** An offer without its pages, as it is stored. */
function storedOf(offer: OfferTerms) {
  const columns = Object.fromEntries(OFFERED.map((name) => [name, offer[name]])) as Pick<OfferTerms, (typeof OFFERED)[number]>;
  const legs = offer.legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() }));
  return { ...columns, priceMicro: offer.priceMicro.toString(), legs: json(legs) };
}

/** Freezes an offer with its pages, which a payment is about to name: from here on it never changes. Again: changes nothing. */
export async function freezeOffer(sql: Sql, offer: OfferTerms, pages: readonly OfferPage[]): Promise<void> {
  const frozen = { ...storedOf(offer), pages: json(pages.map((page) => ({ ...page, micro: page.micro.toString() }))) };
  await run(
    sql,
    tables
      .insertInto('licence_offer')
      .values(frozen)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

/** Forgets an open offer, so that the next one of its request is made anew. */
export async function dropOpenOffer(sql: Sql, offer: Pick<OfferTerms, 'tenantId' | 'offerId'>): Promise<void> {
  await run(
    sql,
    tables.deleteFrom('open_licence_offer').where('tenantId', '=', offer.tenantId).where('offerId', '=', offer.offerId),
  );
}

/** The offer that stands for a request of an account; null when there is none alive. */
export async function findStandingOffer(
  sql: Sql,
  request: { readonly accountId: string; readonly requestHash: string },
  at: Date,
): Promise<OpenOffer | null> {
  const rows = await sql.query<Row>(
    `select ${OPEN.text} from open_licence_offer as offer where account_id = $1 and request_hash = $2 and expires_at > $3
      order by expires_at desc limit 1`,
    [request.accountId, request.requestHash, at],
  );
  return rows[0] ? offerOf(rows[0]) : null;
}

/**
 * The newest offer of a request at this price, alive at `since` or later, that a payment fits by its recipient, which `fits` knows; null when
 * there is none.
 */
export async function findFittingOffer(
  sql: Sql,
  request: { readonly accountId: string; readonly requestHash: string; readonly priceMicro: bigint },
  fits: (offer: OpenOffer) => boolean,
  since: Date,
): Promise<OpenOffer | null> {
  const payable = 'account_id = $1 and request_hash = $2 and expires_at > $3 and price_micro = $4';
  const values = [request.accountId, request.requestHash, since, request.priceMicro.toString()];
  const newest = (columns: string, table: string) =>
    sql.query<Row>(
      `select ${columns} from ${table} as offer where ${payable} order by expires_at desc limit ${MOST_PAYABLE}`,
      values,
    );
  // Of one that is both, what is frozen counts.
  const found = [...(await newest(WHOLE.text, 'licence_offer')), ...(await newest(OPEN.text, 'open_licence_offer'))];
  const newestFirst = found.sort((a, b) => b.expiresAt.getTime() - a.expiresAt.getTime()).map(offerOf);
  return newestFirst.find(fits) ?? null;
}

/** An offer, open or frozen; null when there is none. */
export async function findOffer(sql: Sql, offerId: string): Promise<OpenOffer | null> {
  const find = (columns: string, table: string) =>
    sql.query<Row>(`select ${columns} from ${table} as offer where offer_id = $1`, [offerId]);
  const [row] = [...(await find(WHOLE.text, 'licence_offer')), ...(await find(OPEN.text, 'open_licence_offer'))];
  return row ? offerOf(row) : null;
}

/** Forgets some offers that ended before `before` and that nobody paid for. Returns how many. */
export async function dropOffers(sql: Sql, before: Date, limit: number): Promise<number> {
  const open = await sql.query(
    `delete from open_licence_offer where (tenant_id, offer_id) in (
       select tenant_id, offer_id from open_licence_offer where expires_at < $1 order by expires_at limit $2) returning 1`,
    [before, limit],
  );
  const rows = await sql.query(
    `delete from licence_offer where (tenant_id, offer_id) in (
       select tenant_id, offer_id from licence_offer where expires_at < $1
         and not exists (select from ledger.payment_intake as payment where payment.tenant_id = licence_offer.tenant_id
           and payment.licence_offer_id = licence_offer.offer_id)
       order by expires_at limit $2) returning 1`,
    [before, limit],
  );
  return open.length + rows.length;
}

function offerOf({ priceMicro, legs, ...row }: Row): OpenOffer {
  return {
    ...row,
    priceMicro: BigInt(priceMicro),
    legs: legs.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
  };
}
