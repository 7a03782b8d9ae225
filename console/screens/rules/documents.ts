import { ask } from '../../core/data.ts';
import { mutation } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import type { Rule } from './words.ts';

/** The price rules of a site, and what holds where none fits. */
export const RULES_DOCUMENT = `query priceRules($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    version priceUsdc citationMultiplier
    priceRules { id path kind operators categories terms from until effect priceUsdc }
  }
}`;

const SUMS =
  'was { paid missed refused free earnedMicro missedMicro } byRules { paid missed refused free earnedMicro missedMicro }';

/** What rules would have made of the last 28 days. */
export const SIMULATION_DOCUMENT = `query simulatePriceRules($tenantId: ID, $rules: [PriceRuleInput!]!, $at: EpochMs) {
  tenant(tenantId: $tenantId) {
    simulatePriceRules(rules: $rules, at: $at, window: { lastDays: 28 }) {
      version requests replayed assumedPaths ${SUMS}
      rules { ruleId }
      pages(first: 5) { nodes { host path ${SUMS} } }
      agents(first: 5) { nodes { agent ${SUMS} } }
    }
  }
}`;

export const SET_RULES_DOCUMENT = mutation('setPriceRules', 'version');

/** The rules of a site, in the order in which they are looked at. */
export interface SiteRules {
  readonly version: number;
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
  readonly priceRules: readonly Rule[];
}

/** The rules as they are now. */
export async function rulesNow(): Promise<SiteRules> {
  const { tenant } = await ask<{ tenant: SiteRules | null }>(RULES_DOCUMENT);
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant;
}
