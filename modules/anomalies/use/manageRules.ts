import type { Database, Sql } from '../../../db/database.ts';
import { findAlertAddress } from '../../mail/store/mails.ts';
import { moveTenantVersion } from '../../tenants/store/tenants.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { AnomalyRuleSettings } from '../../webhooks/rules/anomalyRule.ts';
import { lockRule } from '../store/rules.ts';
import type { AddressDeps } from './address.ts';
import { confirmAlertAddress, setAlertAddress } from './address.ts';
import type { RuleRequest } from './rules.ts';
import { createRule, deleteRule, updateRule } from './rules.ts';

/** What managing a site's anomaly rules needs. */
export interface SiteRuleDeps {
  readonly database: Database;
}

/** What setting a site's address for alerts needs. */
export interface SiteAddressDeps extends SiteRuleDeps, Omit<AddressDeps, 'database'> {}

/** Makes an anomaly rule. Throws as `createRule`. A second call makes a second rule. */
export async function createSiteRule(
  deps: SiteRuleDeps,
  call: SiteCall,
  request: RuleRequest,
): Promise<{ readonly ruleId: string }> {
  return await changeSite(deps, call, {
    action: 'rule.create',
    target: ({ ruleId }) => ruleId,
    look: async (sql, made) => (made === undefined ? null : await ruleState(sql, call.tenantId, made.ruleId)),
    make: (database) => createRule({ database }, call.tenantId, request),
  });
}

/** Changes an anomaly rule; members left out stay. Throws as `updateRule`. The same again changes nothing. */
export async function updateSiteRule(
  deps: SiteRuleDeps,
  call: SiteCall,
  ruleId: string,
  change: Partial<AnomalyRuleSettings>,
): Promise<void> {
  await changeSite(deps, call, {
    action: 'rule.update',
    target: ruleId,
    look: (sql) => ruleState(sql, call.tenantId, ruleId),
    make: (database) => updateRule({ database }, call.tenantId, ruleId, change),
  });
}

/** Removes an anomaly rule. Throws not_found, on a second call too. */
export async function deleteSiteRule(deps: SiteRuleDeps, call: SiteCall, ruleId: string): Promise<void> {
  await changeSite(deps, call, {
    action: 'rule.delete',
    target: ruleId,
    look: (sql) => ruleState(sql, call.tenantId, ruleId),
    make: (database) => deleteRule({ database }, call.tenantId, ruleId),
  });
}

/** Sets where a site's alerts go by e-mail; null: nowhere. The version of the site moves. Throws as `setAlertAddress`. The same again changes nothing. */
export async function setSiteAlertAddress(deps: SiteAddressDeps, call: SiteCall, email: string | null): Promise<void> {
  await changeSite(deps, call, {
    action: 'alerts.set_address',
    target: null,
    look: async (sql) => ({ email: (await findAlertAddress(sql, call.tenantId))?.email ?? null }),
    make: (database) =>
      database.transaction(async (sql) => {
        await setAlertAddress({ ...deps, database }, call.tenantId, email);
        await moveTenantVersion(sql, call.tenantId);
      }),
  });
}

/** Confirms it with the code that was sent there. Throws as `confirmAlertAddress`. The same again changes nothing. */
export async function confirmSiteAlertAddress(
  deps: SiteAddressDeps,
  call: SiteCall,
  code: string,
): Promise<{ readonly email: string }> {
  return await changeSite(deps, call, {
    action: 'alerts.confirm_address',
    target: null,
    look: (sql) => findAlertAddress(sql, call.tenantId),
    make: async (database) => ({ email: await confirmAlertAddress({ ...deps, database }, call.tenantId, code) }),
  });
}

async function ruleState(sql: Sql, tenantId: string, ruleId: string): Promise<unknown> {
  const rule = await lockRule(sql, tenantId, ruleId);
  if (rule === null) return null;
  const { metric, rangeKey, threshold, host, enabled } = rule;
  return { metric, rangeKey, threshold, host, enabled };
}
