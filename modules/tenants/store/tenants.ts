import type { UpdateObject } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Plan, TenantStatus } from '../../kernel/access/key.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';
import { insertNextPricing, insertPricing } from '../../pricing/store/pricing.ts';

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
 * Tells every process, when this database transaction commits, that a tenant's rows changed; code that changes a tenant, host
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
  return changeTenant(sql, tenantId, {}, at);
}

/** What a change of a tenant sets, other than its version and when it moved. */
type TenantChange = Omit<UpdateObject<Tables, 'tenant'>, 'tenantId' | 'version' | 'updatedAt'>;

/** Changes a tenant, moves its version and tells every process; `at` null: the statement's own time. False when there is no such tenant. */
export async function changeTenant(sql: Sql, tenantId: string, change: TenantChange, at: Date | null): Promise<boolean> {
  const rows = await run(
    sql,
    tables
      .updateTable('tenant')
      .set({ ...change, version: (column) => column('version', '+', 1), updatedAt: at ?? text`now()` })
      .where('tenantId', '=', tenantId)
      .returning('tenantId'),
  );
  if (rows.length > 0) await notifyTenant(sql, tenantId);
  return rows.length > 0;
}

/** Stores a tenant, its verified hosts with their global claims, and pricing version 1. A host claimed by another: 23505. */
export async function insertTenant(database: Transactional, tenant: NewTenant, at: Date): Promise<void> {
  const { hosts, pricing, ...row } = tenant;
  const { tenantId } = tenant;
  await database.transaction(async (sql) => {
    await run(sql, tables.insertInto('tenant').values({ ...row, ...chargedBy(pricing), createdAt: at, updatedAt: at }));
    await insertPricing(sql, { tenantId, version: 1, pricing, validFrom: at });
    if (hosts.length === 0) return;
    const places = hosts.map((host, position) => ({ tenantId, host, position, verifiedAt: at }));
    await run(sql, tables.insertInto('tenant_host').values(places));
    await run(sql, tables.insertInto('host_claim').values(hosts.map((host) => ({ host, tenantId }))));
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
    const tenant = await lockTenant(sql, tenantId);
    if (tenant === null) return null;
    const version = tenant.version + 1;
    const next = await insertNextPricing(sql, { tenantId, version, at }, change);
    await changeTenant(sql, tenantId, chargedBy(next), at);
    return { version };
  });
}

const tenantOf = (tenantId: string) => tables.selectFrom('tenant').where('tenantId', '=', tenantId);

/**
 * Waits until nobody else changes what hangs on the site, and keeps others waiting to the end of the transaction; rows that name the site may
 * still be added. Null: there is no such site.
 */
export async function lockTenant(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly status: TenantStatus; readonly version: number } | null> {
  const [row] = await run(sql, tenantOf(tenantId).select(['status', 'version']).forNoKeyUpdate());
  return row ?? null;
}

/** A tenant's version, which every change of what it sells moves; null when there is no such tenant. */
export async function findVersion(sql: Sql, tenantId: string): Promise<number | null> {
  const [row] = await run(sql, tenantOf(tenantId).select('version'));
  return row?.version ?? null;
}

/** True when some page that the tenant imported names who is paid for it. */
export async function hasImportedCredits(sql: Sql, tenantId: string): Promise<boolean> {
  const pages = tables.selectFrom('imported_page').select('slug').where('tenantId', '=', tenantId);
  return (await run(sql, pages.where('credits', 'is not', null).limit(1))).length > 0;
}

/** What of a tenant its operator sets: as the audit log shows it. */
export async function findStanding(sql: Sql, tenantId: string): Promise<{ status: TenantStatus; plan: Plan | null } | null> {
  const [row] = await run(sql, tenantOf(tenantId).select(['status', 'plan']));
  return row ?? null;
}

/** What a key of the site would be let in by; null when there is no such tenant. */
export async function findGate(
  sql: Sql,
  tenantId: string,
): Promise<{ status: TenantStatus; plan: Plan | null; version: number } | null> {
  const [row] = await run(sql, tenantOf(tenantId).select(['status', 'plan', 'version']));
  return row ?? null;
}

/** Sets a tenant's status or plan and bumps its version; false when there is no such tenant. */
export async function updateTenant(
  database: Transactional,
  tenantId: string,
  change: { readonly status?: TenantStatus; readonly plan?: Plan | null },
  at: Date,
): Promise<boolean> {
  const { status, plan } = change;
  const set = { ...(status === undefined ? {} : { status }), ...(plan === undefined ? {} : { plan }) };
  return database.transaction((sql) => changeTenant(sql, tenantId, set, at));
}

/** The networks a site's owner chose; null: never chosen, or no such site. */
export async function findChosenNetworks(sql: Sql, tenantId: string): Promise<readonly string[] | null> {
  const [row] = await run(sql, tenantOf(tenantId).select('networks'));
  return row?.networks ?? null;
}

/** Writes the networks a site's owner chose and bumps its version; false when there is no such tenant. */
export async function writeChosenNetworks(
  database: Transactional,
  tenantId: string,
  networks: readonly string[],
  at: Date,
): Promise<boolean> {
  return database.transaction((sql) => changeTenant(sql, tenantId, { networks: [...networks] }, at));
}

/** What of a pricing stands beside the tenant. */
function chargedBy(pricing: Pricing) {
  const { priceUsdc, citationMultiplier, creditsInline, creditsApiUrl } = pricing;
  const [articlePrefixes, creditsFreeSlugs] = [pricing.articlePrefixes, pricing.creditsFreeSlugs];
  return {
    priceUsdc,
    citationMultiplier,
    articlePrefixes,
    creditsInline: creditsInline && json(creditsInline),
    creditsFreeSlugs,
    creditsApiUrl,
  };
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
