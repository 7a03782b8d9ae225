import type { Sql, Transactional } from '../../../db/database.ts';
import type { PeriodFactor } from '../../kernel/licence/period.ts';
import { moveTenantVersion } from '../../tenants/store/tenants.ts';

/** Which site a host is of. */
export interface HostTenant {
  readonly tenantId: string;
  /** The version of its tenant at this moment. */
  readonly version: number;
  /** True when the host's traffic is routed to us, so that a request's own Host names its site. */
  readonly isRouted: boolean;
}

/** The site of a verified host; null when nobody owns it. */
export async function findTenantOfHost(sql: Sql, host: string): Promise<HostTenant | null> {
  const rows = await sql.query<{ tenant_id: string; version: number; routed: boolean }>(
    `select claim.tenant_id, tenant.version, owned.routing_verified_at is not null as routed from host_claim as claim
       join tenant_host as owned on owned.tenant_id = claim.tenant_id and owned.host = claim.host
       join tenant on tenant.tenant_id = claim.tenant_id
      where claim.host = $1 and owned.verified_at is not null`,
    [host],
  );
  return rows[0] ? { tenantId: rows[0].tenant_id, version: rows[0].version, isRouted: rows[0].routed } : null;
}

/** What a site says about selling scopes. */
export interface OfferingRules {
  readonly sellsTraining: boolean;
  readonly periodFactors: readonly PeriodFactor[] | null;
}

/** Reads what a site says about selling scopes; one that never did sells no training, at the usual factors. */
export async function readOfferingRules(sql: Sql, tenantId: string): Promise<OfferingRules> {
  const [offering] = await sql.query<{ sells_training: boolean; period_factors: PeriodFactor[] | null }>(
    'select sells_training, period_factors from tenant where tenant_id = $1',
    [tenantId],
  );
  return { sellsTraining: offering?.sells_training ?? false, periodFactors: offering?.period_factors ?? null };
}

/** The same, and the version of the tenant at the same moment; 0 for a site that is not there. */
export async function readVersionedRules(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly rules: OfferingRules; readonly version: number }> {
  const [row] = await sql.query<{ version: number; sells_training: boolean; period_factors: PeriodFactor[] | null }>(
    'select version, sells_training, period_factors from tenant where tenant_id = $1',
    [tenantId],
  );
  const rules = { sellsTraining: row?.sells_training ?? false, periodFactors: row?.period_factors ?? null };
  return { rules, version: row?.version ?? 0 };
}

/** Whether a site sells training, and when it last said so; null: it never said anything. */
export async function readOfferingTerms(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly sellsTraining: boolean; readonly changedAtMs: number | null }> {
  const [offering] = await sql.query<{ sells_training: boolean; changed_at: Date | null }>(
    'select sells_training, offering_changed_at as changed_at from tenant where tenant_id = $1',
    [tenantId],
  );
  return { sellsTraining: offering?.sells_training ?? false, changedAtMs: offering?.changed_at?.getTime() ?? null };
}

/** An imported page as a catalogue needs it. */
export interface OfferedPage {
  readonly slug: string;
  readonly path: string;
  /** JSON text; null: nobody can be paid for it. */
  readonly credits: string | null;
}

/** Some of a site's imported pages, ascending by the bytes of their path, from after a path on. */
export async function readOfferedPages(
  sql: Sql,
  tenantId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<OfferedPage[]> {
  return sql.query<OfferedPage & Record<string, unknown>>(
    `select slug, path, credits::text as credits from imported_page
      where tenant_id = $1 and path collate "C" > $2 order by path collate "C" limit $3`,
    [tenantId, after ?? '', limit],
  );
}

/** The first imported pages of a site by the bytes of their path, with their titles. */
export async function readCataloguedPages(
  sql: Sql,
  tenantId: string,
  limit: number,
): Promise<{ readonly slug: string; readonly path: string; readonly title: string | null }[]> {
  return sql.query('select slug, path, title from imported_page where tenant_id = $1 order by path collate "C" limit $2', [
    tenantId,
    limit,
  ]);
}

/** Sets what a site says about selling scopes; false when there is no such site. */
export async function writeOffering(database: Transactional, tenantId: string, offering: OfferingRules): Promise<boolean> {
  const factors = offering.periodFactors === null ? null : JSON.stringify(offering.periodFactors);
  return changeTenant(database, tenantId, (sql) =>
    sql.query('update tenant set sells_training = $2, period_factors = $3, offering_changed_at = now() where tenant_id = $1', [
      tenantId,
      offering.sellsTraining,
      factors,
    ]),
  );
}

/** An imported page. */
export interface ImportedPageRow {
  readonly slug: string;
  /** Canonical. */
  readonly path: string;
  readonly title: string | null;
  readonly credits: unknown;
}

/**
 * Adds imported pages to a site or replaces those of the same slug; false when there is no such site. A path taken: 23505. `judge` is
 * told how many pages the site has then; nothing is written when it throws.
 */
export async function writeImportedPages(
  database: Transactional,
  tenantId: string,
  pages: readonly ImportedPageRow[],
  judge: (count: number) => void,
): Promise<boolean> {
  return changeTenant(database, tenantId, async (sql) => {
    await sql.query(
      `insert into imported_page (tenant_id, slug, path, title, credits)
       select $1, slug, path, title, nullif(credits, 'null'::jsonb)
         from unnest($2::text[], $3::text[], $4::text[], $5::jsonb[]) as page (slug, path, title, credits)
       on conflict (tenant_id, slug) do update set path = excluded.path, title = excluded.title, credits = excluded.credits,
         imported_at = now()`,
      [
        tenantId,
        pages.map(({ slug }) => slug),
        pages.map(({ path }) => path),
        pages.map(({ title }) => title),
        pages.map(({ credits }) => JSON.stringify(credits ?? null)),
      ],
    );
    const [row] = await sql.query<{ count: string }>('select count(*) from imported_page where tenant_id = $1', [tenantId]);
    judge(Number(row?.count ?? 0));
  });
}

/** Changes rows of a tenant and bumps its version, so that every copy in memory is read again. */
async function changeTenant(database: Transactional, tenantId: string, change: (sql: Sql) => Promise<unknown>): Promise<boolean> {
  return database.transaction(async (sql) => {
    if (!(await moveTenantVersion(sql, tenantId))) return false;
    await change(sql);
    return true;
  });
}

/** A site's imported pages of these slugs, by slug. */
export async function findImportedPages(
  sql: Sql,
  tenantId: string,
  slugs: readonly string[],
): Promise<Readonly<Record<string, Omit<ImportedPageRow, 'slug'>>>> {
  const rows = await sql.query<ImportedPageRow & Record<string, unknown>>(
    'select slug, path, title, credits from imported_page where tenant_id = $1 and slug = any($2::text[]) order by slug',
    [tenantId, slugs],
  );
  return Object.fromEntries(rows.map(({ slug, path, title, credits }) => [slug, { path, title, credits }]));
}

/** Removes imported pages of a site; returns how many there were. */
export async function removeImportedPages(database: Transactional, tenantId: string, slugs: readonly string[]): Promise<number> {
  let removed = 0;
  await changeTenant(database, tenantId, async (sql) => {
    const rows = await sql.query('delete from imported_page where tenant_id = $1 and slug = any($2::text[]) returning 1', [
      tenantId,
      slugs,
    ]);
    removed = rows.length;
  });
  return removed;
}
