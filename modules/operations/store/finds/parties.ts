/** Sites, buyer accounts and licences as an operator lists them. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import { acrossSites, run } from '../../../../db/statement.ts';
import type { TenantStatus } from '../../../kernel/access/key.ts';
import type { Page, Place } from '../../../paging/store/page.ts';

const all = acrossSites('the operator');

/** A site as it is listed. */
export interface FoundTenant extends Place {
  readonly tenantId: string;
  readonly status: TenantStatus;
  readonly plan: string | null;
  readonly ownerUserId: string | null;
  readonly priceUsdc: string;
  /** In order; the first is the default. */
  readonly hosts: readonly string[];
}

/** Which sites; members left out are null. */
export interface TenantWanted {
  readonly tenantId?: string;
  readonly host: string | null;
  readonly ownerUserId: string | null;
  readonly status: TenantStatus | null;
}

/** Sites, the newest first. */
export async function listTenants(sql: Sql, { limit, after }: Page, wanted: TenantWanted): Promise<FoundTenant[]> {
  const { tenantId, host, ownerUserId, status } = wanted;
  let found = all
    .selectFrom('tenant as t')
    .select(['t.createdAt as at', 't.tenantId as id', 't.tenantId', 't.status', 't.plan', 't.ownerUserId', 't.priceUsdc'])
    .select(
      text<string[]>`array(select h.host from tenant_host as h where h.tenant_id = t.tenant_id order by h.position, h.host)`.as(
        'hosts',
      ),
    );
  if (after !== null)
    found = found.where((is) => is(is.refTuple('t.createdAt', 't.tenantId'), '<', is.tuple(after.at, after.id)));
  if (host !== null)
    found = found.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('tenant_host as h').select('h.host').whereRef('h.tenantId', '=', 't.tenantId').where('h.host', '=', host),
      ),
    );
  if (ownerUserId !== null) found = found.where('t.ownerUserId', '=', ownerUserId);
  if (status !== null) found = found.where('t.status', '=', status);
  if (tenantId !== undefined) found = found.where('t.tenantId', '=', tenantId);
  return run(sql, found.orderBy('t.createdAt', 'desc').orderBy('t.tenantId', 'desc').limit(limit));
}

/** A buyer account as it is listed. */
export interface FoundBuyer extends Place {
  readonly accountId: string;
  readonly name: string | null;
  readonly wallet: string | null;
  /** Its keys that are not revoked, by their last four characters. */
  readonly keys: readonly string[];
  readonly clients: readonly string[];
}

/** Which accounts; members left out are null. */
export interface BuyerWanted {
  /** Lower case. */
  readonly wallet: string | null;
  readonly accountId: string | null;
}

/** Buyer accounts, the newest first. */
export async function listBuyers(sql: Sql, { limit, after }: Page, { wallet, accountId }: BuyerWanted): Promise<FoundBuyer[]> {
  let found = all
    .selectFrom('buyer_account as a')
    .select(['a.createdAt as at', 'a.accountId as id', 'a.accountId', 'a.name', 'a.wallet'])
    .select([
      text<string[]>`array(select k.last4 from buyer_key as k
        where k.account_id = a.account_id and k.revoked_at is null order by k.created_at)`.as('keys'),
      text<string[]>`array(select c.client_id::text from oauth_client as c
        where c.account_id = a.account_id and c.revoked_at is null order by c.created_at)`.as('clients'),
    ]);
  if (after !== null)
    found = found.where((is) => is(is.refTuple('a.createdAt', 'a.accountId'), '<', is.tuple(after.at, after.id)));
  if (wallet !== null) found = found.where('a.wallet', '=', wallet);
  if (accountId !== null) found = found.where('a.accountId', '=', accountId);
  return run(sql, found.orderBy('a.createdAt', 'desc').orderBy('a.accountId', 'desc').limit(limit));
}

/** A licence as it is listed. Its id is that of the payment that bought it. */
export interface FoundLicence extends Place {
  readonly jti: string;
  readonly tenantId: string;
  readonly accountId: string;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly periodFrom: Date;
  readonly periodUntil: Date;
  readonly priceMicro: string;
  readonly boughtAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedReason: string | null;
}

const LICENCE = [
  ...(['l.boughtAt as at', 'l.jti as id', 'l.jti', 'l.tenantId', 'l.accountId', 'l.host', 'l.patterns', 'l.terms'] as const),
  ...(['l.periodFrom', 'l.periodUntil', 'l.priceMicro', 'l.boughtAt', 'l.revokedAt', 'l.revokedReason'] as const),
] as const;

/** Licences of a site, of an account, or of both, the newest first. */
export async function listLicences(
  sql: Sql,
  { limit, after }: Page,
  { tenantId, accountId }: { readonly tenantId: string | null; readonly accountId: string | null },
): Promise<FoundLicence[]> {
  // By the account's index of its licences where it is known, else by the site's.
  let found = all.selectFrom('licence as l').select(LICENCE);
  if (accountId !== null)
    found = found
      .innerJoin('account_licence as o', (on) => on.onRef('o.tenantId', '=', 'l.tenantId').onRef('o.jti', '=', 'l.jti'))
      .where('o.accountId', '=', accountId);
  if (accountId === null || tenantId !== null) found = found.where('l.tenantId', '=', tenantId as string);
  if (after !== null) found = found.where((is) => is(is.refTuple('l.boughtAt', 'l.jti'), '<', is.tuple(after.at, after.id)));
  return run(sql, found.orderBy('l.boughtAt', 'desc').orderBy('l.jti', 'desc').limit(limit));
}

/** One licence, by the payment that bought it, with the pages it covers up to a hundred; null when there is none. */
export async function findLicence(sql: Sql, jti: string): Promise<(FoundLicence & Record<string, unknown>) | null> {
  const [row] = await run(
    sql,
    all
      .selectFrom('ledger.payment_intake as p')
      .innerJoin('licence as l', (on) => on.onRef('l.tenantId', '=', 'p.tenantId').onRef('l.jti', '=', 'p.paymentId'))
      .select(LICENCE)
      .select(['l.kind', 'l.holder', 'l.paymentId', 'l.legs'])
      .select(
        text<string[]>`array(select g.path from licence_page as g
          where g.tenant_id = l.tenant_id and g.jti = l.jti order by g.path limit 100)`.as('pages'),
      )
      .where('p.paymentId', '=', jti),
  );
  return row ?? null;
}
