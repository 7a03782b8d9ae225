import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { statement, tables } from '../../../db/statement.ts';
import type { DefaultPayee } from '../../pricing/rules/pricing.ts';

const hosts = text<readonly string[]>`array(select proven.host from tenant_host as proven
  where proven.tenant_id = tenant.tenant_id and proven.verified_at is not null order by proven.position, proven.host)`;

const self = statement<{ tenantId: string }>()((place) =>
  tables
    .selectFrom('tenant')
    .leftJoin('tenant_pricing as v', (on) => on.onRef('v.tenantId', '=', 'tenant.tenantId').on('v.validUntil', 'is', null))
    .where('tenant.tenantId', '=', place('tenantId'))
    .select(['tenant.tenantId as id', 'tenant.version', 'originUrl', 'articlePrefixes', 'priceUsdc', 'citationMultiplier'])
    .select(['creditsApiUrl', 'creditsInline', 'creditsFreeSlugs', 'licenseIssuer', 'plan', 'status', 'ownerUserId'])
    .select(['createdAt', 'updatedAt', 'directoryListed', 'walletPublic', 'showcaseListed', 'proofPublic'])
    .select([
      hosts.as('hosts'),
      text<DefaultPayee | null>`nullif(v.pricing -> 'defaultPayee', 'null')`.as('defaultPayee'),
      text<number | null>`(v.pricing ->> 'readAgainHours')::int`.as('readAgainHours'),
    ]),
);

/**
 * A tenant's own row as it reads it, decimals as text: `version` is moved by every change of what the site sells, and of its hosts; `hosts` are
 * the verified ones, the default one first.
 */
export type TenantSelf = Readonly<Awaited<ReturnType<typeof self>>[number]>;

/** Reads a tenant; null when there is none. */
export async function findTenantSelf(sql: Sql, tenantId: string): Promise<TenantSelf | null> {
  return (await self(sql, { tenantId }))[0] ?? null;
}
