import type { Sql, Transactional } from '../../../db/database.ts';
import { insertRow } from '../../../db/insertRow.ts';
import { run, tables } from '../../../db/statement.ts';
import type { Plan, TenantStatus } from '../../kernel/access/key.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';

/** The channel that says which tenant's rows changed. */
export const TENANT_CHANNEL = 'svc_tenant';

/** A tenant to store, with its verified hosts in order and its first pricing version. */
export interface NewTenant {
  readonly tenantId: string;
  readonly hosts: readonly string[];
  readonly status: TenantStatus;
  readonly plan: Plan | null;
  readonly ownerUserId: string | null;
  /** Who names the owner; null: not known yet. */
  readonly ownerIssuer: string | null;
  readonly originUrl: string | null;
  readonly licenseIssuer: string | null;
  readonly pricing: Pricing;
}

/**
 * Tells every process, when this database transaction commits, that a tenant's rows changed; whoever changes a tenant, host
 * or key row calls it.
 */
export async function notifyTenant(sql: Sql, tenantId: string): Promise<void> {
  await sql.query('select pg_notify($1, $2)', [TENANT_CHANNEL, tenantId]);
}

/**
 * Moves a tenant's version, so that what was decided by the one before is refused and every copy in memory is read again; `at` is when,
 * the statement's own time unless given. False when there is no such tenant.
 */
export async function moveTenantVersion(sql: Sql, tenantId: string, at: Date | null = null): Promise<boolean> {
  const rows = await sql.query(
    'update tenant set version = version + 1, updated_at = coalesce($2, now()) where tenant_id = $1 returning 1',
    [tenantId, at],
  );
  if (rows.length > 0) await notifyTenant(sql, tenantId);
  return rows.length > 0;
}

/** Stores a tenant, its verified hosts with their global claims, and pricing version 1. A host claimed by another: 23505. */
export async function insertTenant(database: Transactional, tenant: NewTenant, at: Date): Promise<void> {
  const { tenantId, hosts, pricing } = tenant;
  await database.transaction(async (sql) => {
    await insertRow(sql, 'tenant', {
      tenant_id: tenantId,
      status: tenant.status,
      plan: tenant.plan,
      owner_user_id: tenant.ownerUserId,
      owner_issuer: tenant.ownerIssuer,
      origin_url: tenant.originUrl,
      license_issuer: tenant.licenseIssuer,
      price_usdc: pricing.priceUsdc,
      citation_multiplier: pricing.citationMultiplier,
      article_prefixes: pricing.articlePrefixes,
      credits_inline: pricing.creditsInline,
      credits_free_slugs: pricing.creditsFreeSlugs,
      credits_api_url: pricing.creditsApiUrl,
      created_at: at,
      updated_at: at,
    });
    await sql.query('insert into tenant_pricing (tenant_id, version, pricing, valid_from) values ($1, 1, $2, $3)', [
      tenantId,
      JSON.stringify(pricing),
      at,
    ]);
    await sql.query(
      `insert into tenant_host (tenant_id, host, position, verified_at)
       select $1, host, place - 1, $3 from unnest($2::text[]) with ordinality as given (host, place)`,
      [tenantId, hosts, at],
    );
    await sql.query('insert into host_claim (host, tenant_id) select host, $1 from unnest($2::text[]) as given (host)', [
      tenantId,
      hosts,
    ]);
  });
}

/**
 * Writes the next pricing version and ends the one in force, at the same moment (safety 17). `change` gets the pricing in
 * force, under the tenant's row lock, and returns the next one or throws. Null when there is no such tenant.
 */
export async function replacePricing(
  database: Transactional,
  tenantId: string,
  at: Date,
  change: (current: Pricing) => Pricing,
): Promise<{ version: number } | null> {
  return database.transaction(async (sql) => {
    const [tenant] = await sql.query<{ version: number }>('select version from tenant where tenant_id = $1 for no key update', [
      tenantId,
    ]);
    if (tenant === undefined) return null;
    const [current] = await sql.query<{ pricing: Pricing; valid_from: Date }>(
      'select pricing, valid_from from tenant_pricing where tenant_id = $1 and valid_until is null',
      [tenantId],
    );
    if (current === undefined) throw new Error('a site without a pricing in force');
    const next = change(current.pricing);
    const version = tenant.version + 1;
    // Two edits within one clock tick, or a clock that went back, must not leave a version with a negative life.
    const from = at > current.valid_from ? at : current.valid_from;
    await sql.query('update tenant_pricing set valid_until = $2 where tenant_id = $1 and valid_until is null', [tenantId, from]);
    await sql.query('insert into tenant_pricing (tenant_id, version, pricing, valid_from) values ($1, $2, $3, $4)', [
      tenantId,
      version,
      JSON.stringify(next),
      from,
    ]);
    await sql.query(
      `update tenant set price_usdc = $2, citation_multiplier = $3, article_prefixes = $4, credits_inline = $5,
         credits_free_slugs = $6, credits_api_url = $7, version = $8, updated_at = $9 where tenant_id = $1`,
      [tenantId, ...columnsOf(next), version, at],
    );
    await notifyTenant(sql, tenantId);
    return { version };
  });
}

/** The pricing in force, as stored; null when there is no such tenant. */
export async function findPricing(sql: Sql, tenantId: string): Promise<Pricing | null> {
  const [row] = await sql.query<{ pricing: Pricing }>(
    'select pricing from tenant_pricing where tenant_id = $1 and valid_until is null',
    [tenantId],
  );
  return row?.pricing ?? null;
}

/** A tenant's version, which every change of what it sells moves; null when there is no such tenant. */
export async function findVersion(sql: Sql, tenantId: string): Promise<number | null> {
  const [row] = await sql.query<{ version: number }>('select version from tenant where tenant_id = $1', [tenantId]);
  return row?.version ?? null;
}

/** What of a tenant its operator sets: as the audit log shows it. */
export async function findStanding(sql: Sql, tenantId: string): Promise<{ status: TenantStatus; plan: Plan | null } | null> {
  const [row] = await sql.query<{ status: TenantStatus; plan: Plan | null }>(
    'select status, plan from tenant where tenant_id = $1',
    [tenantId],
  );
  return row ?? null;
}

/** What a key of the site would be let in by; null when there is no such tenant. */
export async function findGate(
  sql: Sql,
  tenantId: string,
): Promise<{ status: TenantStatus; plan: Plan | null; version: number } | null> {
  const [row] = await sql.query<{ status: TenantStatus; plan: Plan | null; version: number }>(
    'select status, plan, version from tenant where tenant_id = $1',
    [tenantId],
  );
  return row ?? null;
}

/** Sets a tenant's status or plan and bumps its version; false when there is no such tenant. */
export async function updateTenant(
  database: Transactional,
  tenantId: string,
  change: { readonly status?: TenantStatus; readonly plan?: Plan | null },
  at: Date,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const rows = await sql.query(
      `update tenant set status = coalesce($2, status), plan = case when $3 then $4 else plan end, version = version + 1,
         updated_at = $5 where tenant_id = $1 returning 1`,
      [tenantId, change.status ?? null, change.plan !== undefined, change.plan ?? null, at],
    );
    if (rows.length > 0) await notifyTenant(sql, tenantId);
    return rows.length > 0;
  });
}

/** The networks a site's owner chose; null: never chosen, or no such site. */
export async function findChosenNetworks(sql: Sql, tenantId: string): Promise<readonly string[] | null> {
  const [row] = await sql.query<{ networks: string[] | null }>('select networks from tenant where tenant_id = $1', [tenantId]);
  return row?.networks ?? null;
}

/** Writes the networks a site's owner chose and bumps its version; false when there is no such tenant. */
export async function writeChosenNetworks(
  database: Transactional,
  tenantId: string,
  networks: readonly string[],
  at: Date,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const found = await sql.query(
      'update tenant set networks = $2, version = version + 1, updated_at = $3 where tenant_id = $1 returning 1',
      [tenantId, networks, at],
    );
    if (found.length > 0) await notifyTenant(sql, tenantId);
    return found.length > 0;
  });
}

/** The columns of what a tenant charges, from `price_usdc` to `credits_api_url`, in the order of the statement above. */
function columnsOf(pricing: Pricing): readonly unknown[] {
  const { priceUsdc, citationMultiplier, articlePrefixes, creditsInline, creditsFreeSlugs, creditsApiUrl } = pricing;
  const inline = creditsInline && JSON.stringify(creditsInline);
  return [priceUsdc, citationMultiplier, articlePrefixes, inline, creditsFreeSlugs, creditsApiUrl];
}

/** The host a site is known by: its first proven one; null when none is. */
export async function findFirstHost(sql: Sql, tenantId: string): Promise<string | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('tenant_host')
      .select('host')
      .where('tenantId', '=', tenantId)
      .where('verifiedAt', 'is not', null)
      .orderBy('position')
      .orderBy('host')
      .limit(1),
  );
  return row?.host ?? null;
}
