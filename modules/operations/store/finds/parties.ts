/** Sites, buyer accounts and licences as an operator lists them. */
import type { QueryResultRow } from 'pg';
import type { Sql } from '../../../../db/database.ts';
import type { TenantStatus } from '../../../kernel/access/key.ts';
import type { Page, Place } from '../../../paging/store/page.ts';

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
  return sql.query<FoundTenant & QueryResultRow>(
    `select t.created_at as at, t.tenant_id as id, t.tenant_id as "tenantId", t.status, t.plan, t.owner_user_id as "ownerUserId",
       t.price_usdc::text as "priceUsdc",
       array(select h.host from tenant_host as h where h.tenant_id = t.tenant_id order by h.position, h.host) as hosts
     from tenant as t
      where ($2::timestamptz is null or (t.created_at, t.tenant_id) < ($2, $3::uuid))
        and ($4::text is null or exists (select 1 from tenant_host as h where h.tenant_id = t.tenant_id and h.host = $4))
        and ($5::text is null or t.owner_user_id = $5) and ($6::text is null or t.status = $6)
        and ($7::uuid is null or t.tenant_id = $7)
      order by t.created_at desc, t.tenant_id desc limit $1`,
    [limit, after?.at ?? null, after?.id ?? null, wanted.host, wanted.ownerUserId, wanted.status, wanted.tenantId ?? null],
  );
}

/** What else stands of one site: its pricing in force, its hosts with their proofs, how many keys are active. No secret. */
export async function findTenantStory(sql: Sql, tenantId: string): Promise<Record<string, unknown>> {
  const [row] = await sql.query<{ story: Record<string, unknown> }>(
    `select jsonb_build_object(
       'originUrl', t.origin_url, 'licenseIssuer', t.license_issuer, 'version', t.version, 'updatedAt', t.updated_at,
       'pricing', (select v.pricing from tenant_pricing as v where v.tenant_id = t.tenant_id and v.valid_until is null),
       'hosts', (select coalesce(jsonb_agg(jsonb_build_object('host', h.host, 'verifiedAt', h.verified_at) order by h.position, h.host),
           '[]') from tenant_host as h where h.tenant_id = t.tenant_id),
       'activeKeys', (select count(*) from api_key as k where k.tenant_id = t.tenant_id and k.revoked_at is null
           and (k.expires_at is null or k.expires_at > now())),
       'sellsTraining', t.sells_training
     ) as story from tenant as t where t.tenant_id = $1`,
    [tenantId],
  );
  return row?.story ?? {};
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
  return sql.query<FoundBuyer & QueryResultRow>(
    `select a.created_at as at, a.account_id as id, a.account_id as "accountId", a.name, a.wallet,
       array(select k.last4 from buyer_key as k where k.account_id = a.account_id and k.revoked_at is null order by k.created_at) as keys,
       array(select c.client_id::text from oauth_client as c where c.account_id = a.account_id and c.revoked_at is null
         order by c.created_at) as clients
     from buyer_account as a
      where ($2::timestamptz is null or (a.created_at, a.account_id) < ($2, $3::uuid))
        and ($4::text is null or a.wallet = $4) and ($5::uuid is null or a.account_id = $5)
      order by a.created_at desc, a.account_id desc limit $1`,
    [limit, after?.at ?? null, after?.id ?? null, wallet, accountId],
  );
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

const LICENCE = `l.bought_at as at, l.jti as id, l.jti, l.tenant_id as "tenantId", l.account_id as "accountId", l.host, l.patterns,
  l.terms, l.period_from as "periodFrom", l.period_until as "periodUntil", l.price_micro::text as "priceMicro",
  l.bought_at as "boughtAt", l.revoked_at as "revokedAt", l.revoked_reason as "revokedReason"`;

/** Licences of a site, of an account, or of both, the newest first. */
export async function listLicences(
  sql: Sql,
  { limit, after }: Page,
  { tenantId, accountId }: { readonly tenantId: string | null; readonly accountId: string | null },
): Promise<FoundLicence[]> {
  // By the account's index of its licences where it is known, else by the site's.
  const from =
    accountId === null
      ? 'licence as l where l.tenant_id = $4 and $5::uuid is null'
      : `account_licence as o join licence as l on l.tenant_id = o.tenant_id and l.jti = o.jti
         where o.account_id = $5 and ($4::uuid is null or o.tenant_id = $4)`;
  return sql.query<FoundLicence & QueryResultRow>(
    `select ${LICENCE} from ${from} and ($2::timestamptz is null or (l.bought_at, l.jti) < ($2, $3::uuid))
      order by l.bought_at desc, l.jti desc limit $1`,
    [limit, after?.at ?? null, after?.id ?? null, tenantId, accountId],
  );
}

/** One licence, by the payment that bought it, with the pages it covers up to a hundred; null when there is none. */
export async function findLicence(sql: Sql, jti: string): Promise<(FoundLicence & Record<string, unknown>) | null> {
  const [row] = await sql.query<FoundLicence & QueryResultRow>(
    `select ${LICENCE}, l.kind, l.holder, l.payment_id as "paymentId", l.legs,
       array(select g.path from licence_page as g where g.tenant_id = l.tenant_id and g.jti = l.jti order by g.path limit 100) as pages
     from ledger.payment_intake as p join licence as l on l.tenant_id = p.tenant_id and l.jti = p.payment_id where p.payment_id = $1`,
    [jti],
  );
  return row ?? null;
}
