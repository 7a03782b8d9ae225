import type { Sql, Transactional } from '../../../db/database.ts';
import { insertRow } from '../../../db/insertRow.ts';
import { TENANT_IS_OPEN } from '../../licences/store/licences.ts';

/** A page under a licence that a use is reported of. */
export interface LicensedPage {
  readonly tenantId: string;
  readonly host: string;
  readonly terms: readonly string[];
  readonly periodFrom: Date;
  readonly periodUntil: Date;
  readonly revokedAt: Date | null;
  /** The site that sold it is active and owns its host at this moment. */
  readonly isOpen: boolean;
  /** Null: the licence does not grant the page. */
  readonly slug: string | null;
}

/** A licence, looked for among those of an account or of a site. */
export type LicenceOf =
  | { readonly jti: string; readonly accountId: string }
  | { readonly jti: string; readonly tenantId: string };

/** The page of a licence at a canonical path; null when the account, or the site, has no such licence. */
export async function findLicensedPage(sql: Sql, of: LicenceOf, path: string): Promise<LicensedPage | null> {
  const [owner, which] =
    'accountId' in of
      ? [
          of.accountId,
          '(licence.tenant_id, licence.jti) = (select tenant_id, jti from account_licence where account_id = $1 and jti = $2)',
        ]
      : [of.tenantId, 'licence.tenant_id = $1 and licence.jti = $2'];
  const [row] = await sql.query<{
    tenant_id: string;
    host: string;
    terms: string[];
    period_from: Date;
    period_until: Date;
    revoked_at: Date | null;
    is_open: boolean;
    slug: string | null;
  }>(
    `select licence.tenant_id, licence.host, licence.terms, licence.period_from, licence.period_until, licence.revoked_at, page.slug,
       ${TENANT_IS_OPEN} as is_open
     from licence left join licence_page as page on page.tenant_id = licence.tenant_id and page.jti = licence.jti and page.path = $3
     where ${which}`,
    [owner, of.jti, path],
  );
  if (!row) return null;
  const { tenant_id: tenantId, host, terms, slug, is_open: isOpen } = row;
  return {
    tenantId,
    host,
    terms,
    slug,
    isOpen,
    periodFrom: row.period_from,
    periodUntil: row.period_until,
    revokedAt: row.revoked_at,
  };
}

/** A report as stored. */
export interface UsageRow {
  readonly tenantId: string;
  readonly licenceJti: string;
  readonly idempotencyId: string;
  readonly requestHash: string;
  readonly host: string;
  readonly slug: string;
  readonly use: string;
  readonly count: number;
  readonly withinTerms: boolean | null;
  readonly at: Date;
}

/**
 * Writes a report in the next place of its licence and day. `again`: it was written before; `other`: its id stands for another report of
 * this licence; `full`: the licence has had `most` reports on that day. What is new waits for other new reports of the licence.
 */
export async function writeUsage(
  database: Transactional,
  row: UsageRow,
  { day, most }: { readonly day: string; readonly most: number },
): Promise<'written' | 'again' | 'other' | 'full'> {
  const { tenantId, licenceJti, idempotencyId, requestHash } = row;
  const before = await findKnown(database, row);
  if (before) return before;
  return await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`usage ${tenantId} ${licenceJti}`]);
    const known = await findKnown(sql, row);
    if (known) return known;
    const [{ place } = { place: 1 }] = await sql.query<{ place: number }>(
      'select coalesce(max(place), 0) + 1 as place from usage_report where tenant_id = $1 and licence_jti = $2 and day = $3',
      [tenantId, licenceJti, day],
    );
    if (place > most) return 'full';
    await insertRow(sql, 'usage_report', {
      tenant_id: tenantId,
      licence_jti: licenceJti,
      idempotency_id: idempotencyId,
      request_hash: requestHash,
      host: row.host,
      slug: row.slug,
      use: row.use,
      count: row.count,
      within_terms: row.withinTerms,
      at: row.at,
      day,
      place,
    });
    return 'written';
  });
}

/** What a report is that stands under this id; null: nothing does. */
async function findKnown(
  sql: Sql,
  { tenantId, licenceJti, idempotencyId, requestHash }: UsageRow,
): Promise<'again' | 'other' | null> {
  const [known] = await sql.query<{ request_hash: string }>(
    'select request_hash from usage_report where tenant_id = $1 and licence_jti = $2 and idempotency_id = $3',
    [tenantId, licenceJti, idempotencyId],
  );
  if (!known) return null;
  return known.request_hash === requestHash ? 'again' : 'other';
}
