import type { Address, Leg } from '../../domain/legs.ts';
import type { CrossingKind } from '../../domain/terms.ts';
import type { Database, Sql } from '../database.ts';

/** An offer as frozen: what a 402 said, and everything its licence will say (safety 16). */
export interface LicenceOffer {
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
  readonly pages: readonly { readonly path: string; readonly slug: string; readonly micro: bigint }[];
  readonly legs: readonly Leg[];
  readonly legWords: readonly `0x${string}`[] | null;
  readonly payTo: Address;
  readonly network: string;
  readonly asset: Address;
  readonly router: Address;
  readonly holder: Address | null;
  readonly expiresAt: Date;
}

interface OfferRow {
  offer_id: string;
  tenant_id: string;
  account_id: string;
  request_hash: string;
  host: string;
  patterns: string[];
  terms: string[];
  kind: CrossingKind;
  period_from: Date;
  period_until: Date;
  price_micro: string;
  pages: { path: string; slug: string; micro: string }[];
  legs: { toAddress: Address; amountMicro: string; role: Leg['role']; authorId?: string }[];
  leg_words: `0x${string}`[] | null;
  pay_to: Address;
  network: string;
  asset: Address;
  router: Address;
  holder: Address | null;
  expires_at: Date;
}
type Row = OfferRow & Record<string, unknown>;

/**
 * The offer that stands for a request of an account: the one made within its life, or this new one (decisions: Offer memory).
 * Two processes at once get the same.
 */
export async function keepOffer(database: Database, offer: LicenceOffer, at: Date): Promise<LicenceOffer> {
  return database.transaction(async (sql) => {
    const rows = await sql.query<{ offer_id: string }>(
      `insert into licence_offer_memory (account_id, request_hash, offer_id, expires_at) values ($1, $2, $3, $4)
       on conflict (account_id, request_hash) do update set
         offer_id = case when licence_offer_memory.expires_at <= $5 then excluded.offer_id else licence_offer_memory.offer_id end,
         expires_at = case when licence_offer_memory.expires_at <= $5 then excluded.expires_at
           else licence_offer_memory.expires_at end
       returning offer_id`,
      [offer.accountId, offer.requestHash, offer.offerId, offer.expiresAt, at],
    );
    const standing = rows[0]?.offer_id ?? offer.offerId;
    if (standing !== offer.offerId) {
      const found = await findOffer(sql, standing);
      if (found) return found;
      throw new Error('a standing offer has no row');
    }
    await insertOffer(sql, offer);
    return offer;
  });
}

async function insertOffer(sql: Sql, offer: LicenceOffer): Promise<void> {
  await sql.query(
    `insert into licence_offer (offer_id, tenant_id, account_id, request_hash, host, patterns, terms, kind, period_from,
       period_until, price_micro, pages, legs, leg_words, pay_to, network, asset, router, holder, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    [
      ...[offer.offerId, offer.tenantId, offer.accountId, offer.requestHash, offer.host, offer.patterns, offer.terms, offer.kind],
      ...[offer.periodFrom, offer.periodUntil, offer.priceMicro.toString()],
      JSON.stringify(offer.pages.map((page) => ({ ...page, micro: page.micro.toString() }))),
      JSON.stringify(offer.legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() }))),
      ...[offer.legWords, offer.payTo, offer.network, offer.asset, offer.router, offer.holder, offer.expiresAt],
    ],
  );
}

/** The offer that stands for a request of an account; null when there is none alive. */
export async function findStandingOffer(
  sql: Sql,
  request: { readonly accountId: string; readonly requestHash: string },
  at: Date,
): Promise<LicenceOffer | null> {
  const rows = await sql.query<Row>(
    `select licence_offer.* from licence_offer_memory join licence_offer using (offer_id)
      where licence_offer_memory.account_id = $1 and licence_offer_memory.request_hash = $2
        and licence_offer_memory.expires_at > $3`,
    [request.accountId, request.requestHash, at],
  );
  return rows[0] ? offerFromRow(rows[0]) : null;
}

/** The newest offer of a request that this payment fits, alive at `since` or later; null when there is none. */
export async function findFittingOffer(
  sql: Sql,
  request: { readonly accountId: string; readonly requestHash: string },
  payment: { readonly to: string; readonly value: bigint },
  since: Date,
): Promise<LicenceOffer | null> {
  const rows = await sql.query<Row>(
    `select * from licence_offer where account_id = $1 and request_hash = $2 and expires_at > $3 and pay_to = $4
        and price_micro = $5 order by expires_at desc limit 1`,
    [request.accountId, request.requestHash, since, payment.to, payment.value.toString()],
  );
  return rows[0] ? offerFromRow(rows[0]) : null;
}

/** An offer; null when there is none. */
export async function findOffer(sql: Sql, offerId: string): Promise<LicenceOffer | null> {
  const rows = await sql.query<Row>('select * from licence_offer where offer_id = $1', [offerId]);
  return rows[0] ? offerFromRow(rows[0]) : null;
}

/** How many offers of an account are alive. */
export async function countOffers(sql: Sql, accountId: string, at: Date): Promise<number> {
  const rows = await sql.query<{ count: string }>(
    'select count(*) from licence_offer_memory where account_id = $1 and expires_at > $2',
    [accountId, at],
  );
  return Number(rows[0]?.count ?? 0);
}

/** Forgets some offers that ended before `before` and that nobody paid for. Returns how many. */
export async function dropOffers(sql: Sql, before: Date, limit: number): Promise<number> {
  await sql.query('delete from licence_offer_memory where expires_at < $1', [before]);
  const rows = await sql.query(
    `delete from licence_offer where offer_id in (
       select offer_id from licence_offer where expires_at < $1
         and not exists (select from payment where payment.licence_offer_id = licence_offer.offer_id)
       order by expires_at limit $2) returning 1`,
    [before, limit],
  );
  return rows.length;
}

function offerFromRow(row: OfferRow): LicenceOffer {
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
    pages: row.pages.map((page) => ({ ...page, micro: BigInt(page.micro) })),
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
