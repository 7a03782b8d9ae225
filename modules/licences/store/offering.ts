import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { anyOf, json, run, statement, tables } from '../../../db/statement.ts';
import type { PeriodFactor } from '../../kernel/licence/period.ts';
import type { CataloguedPage } from '../../pricing/rules/priceList.ts';
import { moveTenantVersion } from '../../tenants/store/tenants.ts';

/** Which site a host is of. */
export interface HostTenant {
  readonly tenantId: string;
  /** The version of its tenant at this moment. */
  readonly version: number;
  /** True when the host's traffic is routed to us, so that a request's own Host names its site. */
  readonly isRouted: boolean;
}

const tenantOf = statement<{ host: string }>()((place) =>
  tables
    .selectFrom('host_claim as claim')
    .innerJoin('tenant_host as owned', (on) =>
      on.onRef('owned.tenantId', '=', 'claim.tenantId').onRef('owned.host', '=', 'claim.host'),
    )
    .innerJoin('tenant', 'tenant.tenantId', 'claim.tenantId')
    .select(['claim.tenantId', 'tenant.version'])
    .select((is) => is('owned.routingVerifiedAt', 'is not', null).$castTo<boolean>().as('isRouted'))
    .where('claim.host', '=', place('host'))
    .where('owned.verifiedAt', 'is not', null),
);

/** The site of a verified host; null when nobody owns it. */
export async function findTenantOfHost(sql: Sql, host: string): Promise<HostTenant | null> {
  return (await tenantOf(sql, { host }))[0] ?? null;
}

/** What a site says about selling scopes. */
export interface OfferingRules {
  readonly sellsTraining: boolean;
  readonly periodFactors: readonly PeriodFactor[] | null;
}

const rulesOf = statement<{ tenantId: string }>()((place) =>
  tables.selectFrom('tenant').select(['version', 'sellsTraining', 'periodFactors']).where('tenantId', '=', place('tenantId')),
);

/** Reads what a site says about selling scopes; one that never did sells no training, at the usual factors. */
export async function readOfferingRules(sql: Sql, tenantId: string): Promise<OfferingRules> {
  return (await readVersionedRules(sql, tenantId)).rules;
}

/** The same, and the version of the tenant at the same moment; 0 for a site that is not there. */
export async function readVersionedRules(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly rules: OfferingRules; readonly version: number }> {
  const [row] = await rulesOf(sql, { tenantId });
  const { version, ...rules } = row ?? { version: 0, sellsTraining: false, periodFactors: null };
  return { rules, version };
}

/** Whether a site sells training, and when it last said so; null: it never said anything. */
export async function readOfferingTerms(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly sellsTraining: boolean; readonly changedAtMs: number | null }> {
  const [row] = await run(
    sql,
    tables.selectFrom('tenant').select(['sellsTraining', 'offeringChangedAt']).where('tenantId', '=', tenantId),
  );
  return { sellsTraining: row?.sellsTraining ?? false, changedAtMs: row?.offeringChangedAt?.getTime() ?? null };
}

/** An imported page as a catalogue needs it. */
export interface OfferedPage {
  readonly slug: string;
  readonly path: string;
  /** JSON text; null: nobody can be paid for it. */
  readonly credits: string | null;
}

const BY_BYTES = text<string>`path collate "C"`;
const pagesOf = (tenantId: string) => tables.selectFrom('imported_page').where('tenantId', '=', tenantId);
const firstPages = (tenantId: string, limit: number) => pagesOf(tenantId).orderBy(BY_BYTES).limit(limit);

/** Some of a site's imported pages, ascending by the bytes of their path, from after a path on. */
export async function readOfferedPages(
  sql: Sql,
  tenantId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<OfferedPage[]> {
  return run(
    sql,
    firstPages(tenantId, limit)
      .select(['slug', 'path', text<string | null>`credits::text`.as('credits')])
      .where(BY_BYTES, '>', after ?? ''),
  );
}

/** The first imported pages of a site by the bytes of their path, with their titles, and whether each names who is paid for it. */
export async function readCataloguedPages(sql: Sql, tenantId: string, limit: number): Promise<CataloguedPage[]> {
  const isCredited = text<boolean>`credits is not null`.as('isCredited');
  return run(sql, firstPages(tenantId, limit).select(['slug', 'path', 'title', isCredited]));
}

/** Sets what a site says about selling scopes; false when there is no such site. */
export async function writeOffering(database: Transactional, tenantId: string, offering: OfferingRules): Promise<boolean> {
  const { sellsTraining, periodFactors } = offering;
  const said = { sellsTraining, periodFactors: periodFactors && json(periodFactors), offeringChangedAt: text<Date>`now()` };
  return changeTenant(database, tenantId, (sql) =>
    run(sql, tables.updateTable('tenant').set(said).where('tenantId', '=', tenantId)),
  );
}

/** An imported page. */
export interface ImportedPage {
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
  pages: readonly ImportedPage[],
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
    const [row] = await run(
      sql,
      pagesOf(tenantId).select((column) => column.fn.countAll<string>().as('count')),
    );
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
): Promise<Readonly<Record<string, Omit<ImportedPage, 'slug'>>>> {
  const found = pagesOf(tenantId).select(['slug', 'path', 'title', 'credits']).where('slug', '=', anyOf(slugs)).orderBy('slug');
  return Object.fromEntries((await run(sql, found)).map(({ slug, ...page }) => [slug, page]));
}

/** Removes imported pages of a site; returns how many there were. */
export async function removeImportedPages(database: Transactional, tenantId: string, slugs: readonly string[]): Promise<number> {
  let removed = 0;
  await changeTenant(database, tenantId, async (sql) => {
    const gone = tables.deleteFrom('imported_page').where('tenantId', '=', tenantId).where('slug', '=', anyOf(slugs));
    removed = (await run(sql, gone.returning('slug'))).length;
  });
  return removed;
}
