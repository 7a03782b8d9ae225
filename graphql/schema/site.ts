import { ownedTenant } from '../../modules/identity/use/owners/ownedTenant.ts';
import type { Plan } from '../../modules/kernel/access/key.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { ReportSite } from '../../modules/reports/use/request.ts';
import { describeTenant } from '../../modules/tenants/use/self.ts';
import { noSites } from '../request/access.ts';
import type { GraphqlContext } from '../request/context.ts';
import { builder } from './builder.ts';

/** A site that the caller may see, as its owner configured it. */
export interface Site extends ReportSite {
  readonly self: Awaited<ReturnType<typeof describeTenant>>;
}

/** A site as reports and lists take it. */
function siteOf(self: Site['self']): Site {
  return { tenantId: self.id, hosts: self.hosts, plan: self.plan as Plan | null, self };
}

/** The type everything of a site hangs on; each file of graphql/types adds its fields. */
export const Tenant = builder.objectRef<Site>('Tenant');

/** The site of a key, or one of an owner's; null for a site that is not the caller's. Throws as `siteIdOf`. */
export async function findSite(context: GraphqlContext, asked: string | null): Promise<Site | null> {
  const tenantId = siteIdOf(context, asked);
  if (tenantId === null) return null;
  return siteOf(await describeTenant({ ...context.deps, database: context.deps.reading }, tenantId));
}

/** Which site a caller means; null for one that is not the caller's. Throws missing_credential, scope_missing for an account, and as `ownedTenant`. */
export function siteIdOf(
  { key, owner, account }: Pick<GraphqlContext, 'key' | 'owner' | 'account'>,
  asked: string | null,
): string | null {
  if (account) throw noSites();
  if (key) return asked === null || asked.toLowerCase() === key.tenantId ? key.tenantId : null;
  if (!owner) throw new ServiceError('missing_credential', 'an API key or an owner’s token is needed');
  if (asked !== null && !owner.tenantIds.includes(asked.toLowerCase())) return null;
  return ownedTenant(owner, asked);
}

/** The sites a caller may ask about, in lower case; none of an account. */
export function sitesOf({ key, owner }: Pick<GraphqlContext, 'key' | 'owner'>): readonly string[] {
  return owner?.tenantIds ?? (key ? [key.tenantId] : []);
}
