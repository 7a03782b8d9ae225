import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
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
  const licence = tables
    .selectFrom('licence')
    .leftJoin('licence_page as page', (join) =>
      join.onRef('page.tenantId', '=', 'licence.tenantId').onRef('page.jti', '=', 'licence.jti').on('page.path', '=', path),
    )
    .select([
      ...(['licence.tenantId', 'licence.host', 'licence.terms', 'licence.periodFrom', 'licence.periodUntil'] as const),
      ...(['licence.revokedAt', 'page.slug', text.raw<boolean>(TENANT_IS_OPEN).as('isOpen')] as const),
    ])
    .where('licence.jti', '=', of.jti);
  const [row] = await run(
    sql,
    licence.where(
      'licence.tenantId',
      '=',
      'tenantId' in of
        ? of.tenantId
        : ({ selectFrom }) =>
            selectFrom('account_licence as held')
              .select('held.tenantId')
              .where('held.accountId', '=', of.accountId)
              .where('held.jti', '=', of.jti),
    ),
  );
  return row ?? null;
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
  const before = await repeatOf(database, row);
  if (before) return before;
  return await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`usage ${tenantId} ${licenceJti}`]);
    const known = await repeatOf(sql, row);
    if (known) return known;
    const [last] = await run(
      sql,
      tables
        .selectFrom('usage_report')
        .select(({ fn }) => fn.max('place').as('place'))
        .where('tenantId', '=', tenantId)
        .where('licenceJti', '=', licenceJti)
        .where('day', '=', day),
    );
    const place = (last?.place ?? 0) + 1;
    if (place > most) return 'full';
    const { host, slug, use, count, withinTerms, at } = row;
    const report = { tenantId, licenceJti, idempotencyId, requestHash, host, slug, use, count, withinTerms, at, day, place };
    await run(sql, tables.insertInto('usage_report').values(report));
    return 'written';
  });
}

/** What this report would repeat: the same report under its id, or another; null: nothing stands under it. */
async function repeatOf(
  sql: Sql,
  { tenantId, licenceJti, idempotencyId, requestHash }: UsageRow,
): Promise<'again' | 'other' | null> {
  const [known] = await run(
    sql,
    tables
      .selectFrom('usage_report')
      .select('requestHash')
      .where('tenantId', '=', tenantId)
      .where('licenceJti', '=', licenceJti)
      .where('idempotencyId', '=', idempotencyId),
  );
  if (!known) return null;
  return known.requestHash === requestHash ? 'again' : 'other';
}
