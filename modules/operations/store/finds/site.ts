/** A site as an operator looks at it, read by MikroORM's EntityManager: a command of a person, on no path of quotes, checks or money. */
import type { Database } from '../../../../db/database.ts';
import { ApiKey } from '../../../../db/entities/credentials.ts';
import { TenantHost } from '../../../../db/entities/hosts.ts';
import { Tenant } from '../../../../db/entities/tenants.ts';
import { openOrm, readerOf } from '../../../../db/orm.ts';
import { findPricing } from '../../../pricing/store/pricing.ts';

/** What else stands of one site: its pricing in force, its hosts with their proofs, how many keys are active. No secret. */
export async function findTenantStory(database: Database, tenantId: string) {
  const site = readerOf(openOrm(database.pool), tenantId);
  const { originUrl, licenseIssuer, version, updatedAt, sellsTraining } = await site.findOneOrFail(Tenant, {});
  const hosts = await site.find(TenantHost, {}, { orderBy: { position: 'asc', host: 'asc' } });
  const activeKeys = await site.count(ApiKey, {
    revokedAt: null,
    $or: [{ expiresAt: null }, { expiresAt: { $gt: new Date() } }],
  });
  return {
    originUrl,
    licenseIssuer,
    version,
    updatedAt,
    pricing: await findPricing(database, tenantId),
    hosts: hosts.map(({ host, verifiedAt }) => ({ host, verifiedAt })),
    activeKeys,
    sellsTraining,
  };
}
