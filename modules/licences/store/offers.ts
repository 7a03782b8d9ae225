import type { Database, Sql } from '../../../db/database.ts';
import { insertRow } from '../../../db/insertRow.ts';
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

interface OfferRow {
  offer_id: string;
  tenant_id: string;
  account_id: string;
  request_hash: string;
  host: string;
  patterns: readonly string[];
  terms: readonly string[];
  kind: CrossingKind;
  period_from: Date;
  period_until: Date;
  price_micro: string;
  page_count: number;
  pages_digest: string | null;
  legs: readonly (Omit<Leg, 'amountMicro'> & { readonly amountMicro: string })[];
  leg_words: readonly `0x${string}`[] | null;
  pay_to: Address;
  network: string;
  asset: Address;
  router: Address;
  holder: Address | null;
  expires_at: Date;
}
type Row = OfferRow & Record<string, unknown>;

/** Most open offers of an account and of a site. */
export interface OfferCaps {
  readonly ofAccount: number;
  readonly ofTenant: number;
}

const OPEN = 'offer.*';
/** A request has one offer at a time; those before it are paid for some minutes more. */
const MOST_PAYABLE = 20;
/** Offers that a payment was shown for have their pages. */
const WHOLE = 'offer.*, jsonb_array_length(offer.pages) as page_count, null as pages_digest';

/**
 * The offer that stands for a request of an account: the one made within its life, or this new one. Two
 * processes at once get the same. Null: the account has as many open offers as it may, and nothing was kept. Where a site has as many as
 * it may, the oldest of the account with most of them gives way, so that whoever floods a site loses his own.
 */
export async function keepOffer(database: Database, offer: OpenOffer, at: Date, caps: OfferCaps): Promise<OpenOffer | null> {
  return database.transaction(async (sql) => {
    // Offers of one account come one after the other.
    await sql.query('select 1 from buyer_account where account_id = $1 for no key update', [offer.accountId]);
    const standing = await findStandingOffer(sql, offer, at);
    if (standing) return standing;
    const [row] = await sql.query<{ of_account: string; of_tenant: string }>(
      `select (select count(*) from open_licence_offer where account_id = $1 and expires_at > $3) as of_account,
         (select count(*) from open_licence_offer where tenant_id = $2) as of_tenant`,
      [offer.accountId, offer.tenantId, at],
    );
    if (Number(row?.of_account ?? 0) >= caps.ofAccount) return null;
    if (Number(row?.of_tenant ?? 0) >= caps.ofTenant) await giveWay(sql, offer.tenantId);
    const { pageCount: page_count, pagesDigest: pages_digest } = offer;
    await insertRow(sql, 'open_licence_offer', { ...rowOf(offer), page_count, pages_digest });
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

/** An offer without its pages, by the names of its columns. */
function rowOf(offer: OfferTerms): Omit<OfferRow, 'page_count' | 'pages_digest'> {
  return {
    offer_id: offer.offerId,
    tenant_id: offer.tenantId,
    account_id: offer.accountId,
    request_hash: offer.requestHash,
    host: offer.host,
    patterns: offer.patterns,
    terms: offer.terms,
    kind: offer.kind,
    period_from: offer.periodFrom,
    period_until: offer.periodUntil,
    price_micro: offer.priceMicro.toString(),
    legs: offer.legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() })),
    leg_words: offer.legWords,
    pay_to: offer.payTo,
    network: offer.network,
    asset: offer.asset,
    router: offer.router,
    holder: offer.holder,
    expires_at: offer.expiresAt,
  };
}

/** Freezes an offer with its pages, which a payment is about to name: from here on it never changes. Again: changes nothing. */
export async function freezeOffer(sql: Sql, offer: OfferTerms, pages: readonly OfferPage[]): Promise<void> {
  const frozen = { ...rowOf(offer), pages: pages.map((page) => ({ ...page, micro: page.micro.toString() })) };
  await insertRow(sql, 'licence_offer', frozen, { onConflict: 'on conflict do nothing' });
}

/** Forgets an open offer, so that the next one of its request is made anew. */
export async function dropOpenOffer(sql: Sql, offer: Pick<OfferTerms, 'tenantId' | 'offerId'>): Promise<void> {
  await sql.query('delete from open_licence_offer where tenant_id = $1 and offer_id = $2', [offer.tenantId, offer.offerId]);
}

/** The offer that stands for a request of an account; null when there is none alive. */
export async function findStandingOffer(
  sql: Sql,
  request: { readonly accountId: string; readonly requestHash: string },
  at: Date,
): Promise<OpenOffer | null> {
  const rows = await sql.query<Row>(
    `select ${OPEN} from open_licence_offer as offer where account_id = $1 and request_hash = $2 and expires_at > $3
      order by expires_at desc limit 1`,
    [request.accountId, request.requestHash, at],
  );
  return rows[0] ? offerFromRow(rows[0]) : null;
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
  const found = [...(await newest(WHOLE, 'licence_offer')), ...(await newest(OPEN, 'open_licence_offer'))];
  const newestFirst = found.sort((a, b) => b.expires_at.getTime() - a.expires_at.getTime()).map(offerFromRow);
  return newestFirst.find(fits) ?? null;
}

/** An offer, open or frozen; null when there is none. */
export async function findOffer(sql: Sql, offerId: string): Promise<OpenOffer | null> {
  const find = (columns: string, table: string) =>
    sql.query<Row>(`select ${columns} from ${table} as offer where offer_id = $1`, [offerId]);
  const [row] = [...(await find(WHOLE, 'licence_offer')), ...(await find(OPEN, 'open_licence_offer'))];
  return row ? offerFromRow(row) : null;
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

function offerFromRow(row: OfferRow): OpenOffer {
  return {
    offerId: row.offer_id,
    tenantId: row.tenant_id,
    accountId: row.account_id,
    requestHash: row.request_hash,
    host: row.host,
    patterns: row.patterns,
    terms: row.terms,
    kind: row.kind,
    periodFrom: row.period_from,
    periodUntil: row.period_until,
    priceMicro: BigInt(row.price_micro),
    pageCount: row.page_count,
    pagesDigest: row.pages_digest,
    legs: row.legs.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
    legWords: row.leg_words,
    payTo: row.pay_to,
    network: row.network,
    asset: row.asset,
    router: row.router,
    holder: row.holder,
    expiresAt: row.expires_at,
  };
}
