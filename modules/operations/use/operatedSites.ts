import type { Transactional } from '../../../db/database.ts';
import { joinTransaction } from '../../../db/database.ts';
import { findHostState } from '../../hosts/store/removal.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import type { Plan, TenantStatus } from '../../kernel/access/key.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { insertAuditEntry } from '../../tenants/store/auditLog.ts';
import { findStanding } from '../../tenants/store/tenants.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite, plainState } from '../../tenants/use/change.ts';
import type { TenantDeps, TenantInput } from '../../tenants/use/tenants.ts';
import { createTenant, requireHost, setTenantPlan, setTenantStatus } from '../../tenants/use/tenants.ts';
import { addVerifiedHost } from '../store/admin.ts';

/** What an operator changes of sites, each with its entry in the audit log that the site's owner reads. */

interface Deps {
  readonly database: Transactional;
}

/** Creates a site (see `createTenant`, which also says what it throws); the first entry of its log says how it began. */
export async function createSite(deps: TenantDeps, actor: Actor, input: TenantInput): Promise<{ readonly tenantId: string }> {
  return await deps.database.transaction(async (sql) => {
    const made = await createTenant({ ...deps, database: joinTransaction(sql) }, input);
    const { tenantId: _given, ...after } = input;
    const entry = { tenantId: made.tenantId, actor, action: 'site.create', target: null, before: null };
    await insertAuditEntry(sql, { ...entry, after: plainState(after) });
    return made;
  });
}

/** Sets a site's plan. Throws not_found; a second call is written down, too. */
export async function setSitePlan(deps: Deps, call: SiteCall, plan: Plan | null): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'site.plan',
    target: null,
    look: (sql) => findStanding(sql, tenantId),
    make: (database) => setTenantPlan({ database }, { tenantId, plan }),
  });
}

/** Sets a site's status; the only change a closed site takes. Throws not_found. */
export async function setSiteStatus(deps: Deps, call: SiteCall, status: TenantStatus): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'site.status',
    target: null,
    mayBeClosed: true,
    look: (sql) => findStanding(sql, tenantId),
    make: (database) => setTenantStatus({ database }, { tenantId, status }),
  });
}

/** Makes a host a site's verified one, without a challenge. Throws invalid_parameter, not_found; conflict when another site has it. */
export async function addSiteHost(deps: Deps, call: SiteCall, name: string): Promise<{ readonly host: string }> {
  const { tenantId } = call;
  const host = requireHost(name);
  return await changeSite(deps, call, {
    action: 'host.add',
    target: host,
    look: (sql) => findHostState(sql, tenantId, host),
    make: async (database) => {
      if (await addVerifiedHost(database, tenantId, host, new Date())) return { host };
      throw new ServiceError('conflict', 'the host belongs to another site');
    },
  });
}
