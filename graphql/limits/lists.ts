import { MAX_LISTED, MAX_PRETENDED } from '../../modules/anomalies/use/attention.ts';
import { MAX_TAGS } from '../../modules/discovery/rules/listing.ts';
import { MAX_LIST } from '../../modules/gate/rules/enforcement.ts';
import { VISITOR_CLASSES } from '../../modules/gate/rules/visitors.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { FAILURE_REASONS } from '../../modules/kernel/errors.ts';
import { TERMS } from '../../modules/kernel/licence/period.ts';
import { MAX_LEGS } from '../../modules/kernel/money/legs.ts';
import { MAX_FORMS } from '../../modules/kernel/pages/forms.ts';
import { MAX_PATTERNS } from '../../modules/kernel/pages/scope.ts';
import { MAX_BUCKETS } from '../../modules/kernel/time/series.ts';
import { MAX_STEP_PATHS } from '../../modules/pricing/rules/priceList.ts';
import { AGENT_CATEGORIES, MAX_OPERATORS, MAX_RULES as MAX_PRICE_RULES } from '../../modules/pricing/rules/rule.ts';
import { MAX_AGENTS_OF_ONE } from '../../modules/reports/use/lists/operators.ts';
import { MAX_OTHERS } from '../../modules/reports/use/lists/otherAgents.ts';
import { MAX_SUMMED_SITES } from '../../modules/reports/use/ownedSites.ts';
import { MOST_ENDPOINTS_SHOWN } from '../../modules/reports/use/webhookTimes.ts';
import { MAX_RULES } from '../../modules/webhooks/rules/anomalyRule.ts';
import { MAX_ENDPOINTS } from '../../modules/webhooks/rules/endpoint.ts';
import { EVENT_TYPES } from '../../modules/webhooks/rules/event.ts';

/**
 * The most that each list may hold which is not a page, by type and field. It is what the list costs, and for lists that are read from
 * rows it is also the most that is read; whatever comes longer by another way meets the ceiling of an execution (budget.ts).
 */
export const MOST_OF = {
  'Crossing.legs': MAX_LEGS,
  'Payment.crossings': 5,
  'Payment.observations': 100,
  'WebhookEvent.deliveries': 20,
  'Delivery.attempts': 20,
  'SettlementBatch.txHashes': 50,
  'SoldLicence.patterns': MAX_PATTERNS,
  'SoldLicence.terms': TERMS.length,
  'SoldLicence.reportedUse': TERMS.length,
  'UsedPage.reportedUse': TERMS.length,
  'Earnings.series': MAX_BUCKETS,
  'Audit.series': MAX_BUCKETS,
  'EarningsGroup.series': MAX_BUCKETS,
  'AuditGroup.series': MAX_BUCKETS,
  'SettlementTimes.series': MAX_BUCKETS,
  'WebhookTimes.endpoints': MOST_ENDPOINTS_SHOWN,
  'AuditTotals.failedByReason': FAILURE_REASONS.length,
  'WaitingAuthor.reasons': 6,
  'EnforcementStatus.basedOn': 6,
  'EnforcementStatus.tracks': 4,
  'HostChallenge.present': 10,
  'OpenHostPayload.present': 10,
  'CreateSitePayload.present': 10,
  'TestPurchasePayload.steps': 6,
  'WebhookEndpoint.eventTypes': EVENT_TYPES.length,
  'WebhookEndpoint.hostFilter': 100,
  'PublisherKey.scopes': SCOPES.length,
  'Viewer.scopes': SCOPES.length,
  'Viewer.tenantIds': 1_000,
  'SitesEarnings.sites': MAX_SUMMED_SITES,
  'Tenant.articlePrefixes': 1_000,
  'Tenant.freeSlugs': 5_000,
  'Gate.excludePrefixes': MAX_LIST,
  'Gate.forms': MAX_FORMS,
  'Gate.includeExtensions': MAX_LIST,
  'Gate.seoAllowlist': MAX_LIST,
  'Gate.visitorClasses': VISITOR_CLASSES.length,
  'CrawlerPolicy.allow': MAX_LIST,
  'CrawlerPolicy.block': MAX_LIST,
  'CrawlerPolicy.charge': MAX_LIST,
  'SetCrawlerPolicyPayload.allow': MAX_LIST,
  'SetCrawlerPolicyPayload.block': MAX_LIST,
  'SetCrawlerPolicyPayload.charge': MAX_LIST,
  'SetGateScopePayload.forms': MAX_FORMS,
  'SetSeoAllowlistPayload.fragments': MAX_LIST,
  'LicenceOffering.periodFactors': 50,
  'PriceEffect.steps': 36,
  'PriceStep.paths': MAX_STEP_PATHS,
  'PricedPage.payees': MAX_LEGS,
  'Discovery.tags': MAX_TAGS,
  'Tenant.priceRules': MAX_PRICE_RULES,
  'PriceRule.operators': MAX_OPERATORS,
  'PriceRule.categories': AGENT_CATEGORIES.length,
  'PriceRule.terms': TERMS.length,
  'PriceRuleSimulation.rules': MAX_PRICE_RULES + 1,
  'Attention.failingEndpoints': MAX_ENDPOINTS,
  'Attention.hosts': MAX_LISTED,
  'Attention.licencesEnding': MAX_LISTED,
  'Attention.masqueraded': MAX_PRETENDED,
  'Attention.rules': MAX_RULES,
  'Operator.agents': MAX_AGENTS_OF_ONE,
  'OtherAgents.agents': MAX_OTHERS,
  'BatchReport.networks': 50,
  'BuyerAccount.notices': 100,
  'BuyerAccount.approvals': 100,
  'BuyerAccount.keys': 20,
  'BudgetAlerts.alerts': 100,
  'BuyerAccount.spendingBy': 100,
  'NetworkChoice.configured': 50,
  'NetworkChoice.taken': 50,
} as const satisfies Readonly<Record<string, number>>;

/** A list of the table, by type and field. */
export type BoundedList = keyof typeof MOST_OF;

/** The most a list may hold: one row for `nodes` and `edges`, whose page has been counted by its `first`. */
export function mostOf(type: string, field: string): number {
  return MOST_OF[`${type}.${field}` as BoundedList] ?? 1;
}
