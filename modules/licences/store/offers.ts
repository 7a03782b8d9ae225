import type { InferResult } from 'kysely';
import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { acrossSites, json, run, tables } from '../../../db/statement.ts';
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
const open = acrossSites('an account').selectFrom('open_licence_offer').select(OFFERED).select(['pageCount', 'pagesDigest']);
/** Offers that a payment was shown for have their pages. */
const whole = acrossSites('an account')
  .selectFrom('licence_offer')
  .select(OFFERED)
  .select([text<number>`jsonb_array_length(pages)`.as('pageCount'), text<string | null>`null`.as('pagesDigest')]);
type Row = InferResult<typeof whole>[number];

/** A request has one offer at a time; those before it are paid for some minutes more. */
const MOST_PAYABLE = 20;

/**
 * The offer that stands for a request of an account: the one made within its life, or this new one. Two
 * processes at once get the same. Null: the account has as many open offers as it may, and nothing was kept. Where a site has as many as
 * it may, the oldest of the account with most of them gives way, so that an account that floods a site loses its own.
 */
export async function keepOffer(database: Database, offer: OpenOffer, at: Date, caps: OfferCaps): Promise<OpenOffer | null> {
  const { pageCount, pagesDigest } = offer;
  if (pagesDigest === null) throw new Error('an offer that is frozen is not kept as an open one');
  return database.transaction(async (sql) => {
    // Offers of one account come one after the other.
    const account = tables.selectFrom('buyer_account').select('accountId').where('accountId', '=', offer.accountId);
    await run(sql, account.forNoKeyUpdate());
    const standing = await findStandingOffer(sql, offer, at);
    if (standing) return standing;
    const [row] = await run(
      sql,
      acrossSites('an account').selectNoFrom(({ selectFrom, fn }) => {
        const count = selectFrom('open_licence_offer').select(fn.countAll<string>().as('count'));
        const ofAccount = count.where('accountId', '=', offer.accountId).where('expiresAt', '>', at);
        return [ofAccount.as('ofAccount'), count.where('tenantId', '=', offer.tenantId).as('ofTenant')];
      }),
    );
    if (Number(row?.ofAccount) >= caps.ofAccount) return null;
    if (Number(row?.ofTenant) >= caps.ofTenant) await giveWay(sql, offer.tenantId);
    await run(sql, tables.insertInto('open_licence_offer').values({ ...storedOf(offer), pageCount, pagesDigest }));
    return offer;
  });
}

async function giveWay(sql: Sql, tenantId: string): Promise<void> {
  await run(
    sql,
    tables
      .deleteFrom('open_licence_offer')
      .where('tenantId', '=', tenantId)
      .where('offerId', '=', ({ selectFrom, fn }) =>
        selectFrom(
          selectFrom('open_licence_offer')
            .select([
              'offerId',
              'expiresAt',
              fn
                .countAll()
                .over((all) => all.partitionBy('accountId'))
                .as('mine'),
            ])
            .where('tenantId', '=', tenantId)
            .as('every'),
        )
          .select('every.offerId')
          .orderBy('every.mine', 'desc')
          .orderBy('every.expiresAt')
          .orderBy('every.offerId')
          .limit(1),
      ),
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

/** Forgets an open offer, so that the next one of its request is made again. */
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
  const { accountId, requestHash } = request;
  const standing = open.where((is) => is.and({ accountId, requestHash })).where('expiresAt', '>', at);
  const [row] = await run(sql, standing.orderBy('expiresAt', 'desc').limit(1));
  return row ? offerOf(row) : null;
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
  const { accountId, requestHash } = request;
  const wanted = { accountId, requestHash, priceMicro: request.priceMicro.toString() };
  const frozen = whole.where((is) => is.and(wanted)).where('expiresAt', '>', since);
  const payable = open.where((is) => is.and(wanted)).where('expiresAt', '>', since);
  // Of one that is both, what is frozen counts.
  const found = [
    ...(await run(sql, frozen.orderBy('expiresAt', 'desc').limit(MOST_PAYABLE))),
    ...(await run(sql, payable.orderBy('expiresAt', 'desc').limit(MOST_PAYABLE))),
  ];
  const newestFirst = found.sort((a, b) => b.expiresAt.getTime() - a.expiresAt.getTime()).map(offerOf);
  return newestFirst.find(fits) ?? null;
}

/** An offer, open or frozen; null when there is none. */
export async function findOffer(sql: Sql, offerId: string): Promise<OpenOffer | null> {
  const [frozen] = await run(sql, whole.where('offerId', '=', offerId));
  const [row] = frozen ? [frozen] : await run(sql, open.where('offerId', '=', offerId));
  return row ? offerOf(row) : null;
}

/** Forgets some offers that ended before `before` and that nobody paid for. Returns how many. */
export async function dropOffers(sql: Sql, before: Date, limit: number): Promise<number> {
  const every = acrossSites('a worker');
  const ended = every.selectFrom('open_licence_offer').select(['tenantId', 'offerId']).where('expiresAt', '<', before);
  const unpaid = every
    .selectFrom('licence_offer as offer')
    .select(['tenantId', 'offerId'])
    .where('expiresAt', '<', before)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('ledger.payment_intake as payment')
            .select('payment.paymentId')
            .whereRef('payment.tenantId', '=', 'offer.tenantId')
            .whereRef('payment.licenceOfferId', '=', 'offer.offerId'),
        ),
      ),
    );
  const forgotten = await run(
    sql,
    every
      .deleteFrom('open_licence_offer')
      .where((is) =>
        is(is.refTuple('tenantId', 'offerId'), 'in', ended.orderBy('expiresAt').limit(limit).$asTuple('tenantId', 'offerId')),
      )
      .returning('offerId'),
  );
  const frozen = await run(
    sql,
    every
      .deleteFrom('licence_offer')
      .where((is) =>
        is(is.refTuple('tenantId', 'offerId'), 'in', unpaid.orderBy('expiresAt').limit(limit).$asTuple('tenantId', 'offerId')),
      )
      .returning('offerId'),
  );
  return forgotten.length + frozen.length;
}

function offerOf({ priceMicro, legs, ...row }: Row): OpenOffer {
  return {
    ...row,
    priceMicro: BigInt(priceMicro),
    legs: legs.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
  };
}
