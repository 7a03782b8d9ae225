import type { Database } from '../../../db/database.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { EnforcementSettings } from '../rules/enforcement.ts';
import { DEFAULT_ENFORCEMENT } from '../rules/enforcement.ts';
import { findEnforcement } from '../store/enforcement.ts';
import { setEnforcement } from './enforcement.ts';

/**
 * Changes what a site's own gate decides by: crawler policy, classes of visitors, search engines, scope, forms of articles; members left out stay. Its
 * version goes up, so that gates fetch it again. Throws invalid_parameter and what `changeSite` throws; again: changes nothing else.
 */
export async function changeGate(
  deps: { readonly database: Database },
  call: SiteCall,
  action: 'gate.set_crawler_policy' | 'gate.set_visitor_class' | 'gate.set_seo_allowlist' | 'gate.set_scope',
  change: Partial<EnforcementSettings> | ((now: EnforcementSettings) => Partial<EnforcementSettings>),
): Promise<EnforcementSettings> {
  const { tenantId } = call;
  return await changeSite(deps, call, {
    action,
    target: null,
    look: async (sql) => (await findEnforcement(sql, tenantId)) ?? DEFAULT_ENFORCEMENT,
    make: async (database) => {
      const current = (await findEnforcement(database, tenantId)) ?? DEFAULT_ENFORCEMENT;
      await setEnforcement(
        { database },
        { tenantId, settings: { ...current, ...(typeof change === 'function' ? change(current) : change) } },
      );
      return (await findEnforcement(database, tenantId)) ?? DEFAULT_ENFORCEMENT;
    },
  });
}
