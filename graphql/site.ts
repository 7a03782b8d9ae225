import type { Plan } from '../domain/access.ts';
import type { ReportSite } from '../services/reports/request.ts';
import type { describeTenant } from '../services/tenantSelf.ts';
import { builder } from './builder.ts';

/** A site that the caller may see, as its owner configured it. */
export interface Site extends ReportSite {
  readonly self: Awaited<ReturnType<typeof describeTenant>>;
}

/** A site as reports and lists take it. */
export function siteOf(self: Site['self']): Site {
  return { tenantId: self.id, hosts: self.hosts, plan: self.plan as Plan | null, self };
}

/** The type everything of a site hangs on; each file of graphql/types adds its fields. */
export const Tenant = builder.objectRef<Site>('Tenant');
