import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { statement, tables } from '../../../db/statement.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';
import { PRICING_IN_FORCE } from '../../pricing/store/pricing.ts';

const hosts = text<readonly string[]>`array(select proven.host from tenant_host as proven
  where proven.tenant_id = tenant.tenant_id and proven.verified_at is not null order by proven.position, proven.host)`;

const self = statement<{ tenantId: string }>()((place) =>
  tables
    .selectFrom('tenant')
    .where('tenant.tenantId', '=', place('tenantId'))
    .select(['tenant.tenantId as id', 'tenant.version', 'originUrl', 'articlePrefixes', 'priceUsdc', 'citationMultiplier'])
    .select(['creditsApiUrl', 'creditsInline', 'creditsFreeSlugs', 'licenseIssuer', 'plan', 'status', 'ownerUserId'])
    .select(['createdAt', 'updatedAt', 'directoryListed', 'walletPublic', 'showcaseListed', 'proofPublic'])
    .select([hosts.as('hosts'), PRICING_IN_FORCE.as('pricing')]),
);

/**
 * A tenant's own row as it reads it, decimals as text: `version` is moved by every change of what the site sells, and of its hosts; `hosts` are
 * the verified ones, the default one first.
 */
export type TenantSelf = Readonly<Omit<Awaited<ReturnType<typeof self>>[number], 'pricing'>> &
  Pick<Pricing, 'defaultPayee' | 'readAgainHours'>;

/** Reads a tenant; null when there is none. */
export async function findTenantSelf(sql: Sql, tenantId: string): Promise<TenantSelf | null> {
  const [row] = await self(sql, { tenantId });
  if (!row) return null;
  const { pricing, ...tenant } = row;
  return { ...tenant, defaultPayee: pricing?.defaultPayee ?? null, readAgainHours: pricing?.readAgainHours ?? null };
}
