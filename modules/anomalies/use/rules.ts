import { randomUUID } from 'node:crypto';
import type { Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { normaliseHost } from '../../kernel/hosts/host.ts';
import type { AnomalyRuleSettings } from '../../webhooks/rules/anomalyRule.ts';
import { ANOMALY_METRICS, ARMED, MAX_RULES, phaseOf, RANGES_MS, thresholdProblem } from '../../webhooks/rules/anomalyRule.ts';
import type { AnomalyRule } from '../store/rules.ts';
import { deleteRuleRow, insertRule, listRuleRows, lockRule, updateRuleRow } from '../store/rules.ts';

/** What managing rules works with. */
export interface RuleDeps {
  readonly database: Transactional;
}

/** What a caller says about a new rule; every host and enabled unless told. */
export type RuleRequest = Pick<AnomalyRuleSettings, 'metric' | 'rangeKey' | 'threshold'> & Partial<AnomalyRuleSettings>;

/** A rule as its owner sees it; epoch ms. */
export interface ShownRule extends AnomalyRuleSettings {
  readonly ruleId: string;
  readonly phase: 'armed' | 'breached' | 'throttled';
  readonly firedAtMs: number | null;
}

/**
 * Makes a rule. Throws `invalid_parameter`, `conflict` when the tenant has twenty, `not_found` without such a tenant. A second
 * call makes a second rule.
 */
export async function createRule(deps: RuleDeps, tenantId: string, request: RuleRequest): Promise<{ readonly ruleId: string }> {
  const settings: AnomalyRuleSettings = { host: null, enabled: true, ...request };
  checkRule(settings);
  const ruleId = randomUUID();
  const outcome = await deps.database.transaction((sql) => insertRule(sql, { ...settings, tenantId, ruleId }, MAX_RULES));
  if (outcome === 'no_tenant') throw new ServiceError('not_found', 'no such site');
  if (outcome === 'full') throw new ServiceError('conflict', `a site has at most ${MAX_RULES} anomaly rules`);
  return { ruleId };
}

/**
 * Changes a rule; members left out stay. A rule that measures something else, or by another threshold, begins armed. Throws
 * `invalid_parameter` and `not_found`; a second call changes nothing.
 */
export async function updateRule(
  deps: RuleDeps,
  tenantId: string,
  ruleId: string,
  changes: Partial<AnomalyRuleSettings>,
): Promise<void> {
  await deps.database.transaction(async (sql) => {
    const rule = await lockRule(sql, tenantId, ruleId);
    if (rule === null) throw noRule();
    const next = { ...rule, ...changes };
    checkRule(next);
    await updateRuleRow(sql, isSameBreach(rule, next) ? next : { ...next, ...ARMED });
  });
}

/** Removes a rule; its events stay. Throws `not_found`, on a second call too. */
export async function deleteRule(deps: RuleDeps, tenantId: string, ruleId: string): Promise<void> {
  if (!(await deleteRuleRow(deps.database, tenantId, ruleId))) throw noRule();
}

/** A tenant's rules, the oldest first, each with its phase at `nowMs`. */
export async function listRules(deps: RuleDeps, tenantId: string, nowMs: number = Date.now()): Promise<ShownRule[]> {
  const rules = await listRuleRows(deps.database, tenantId);
  return rules.map((rule) => {
    const { ruleId, metric, rangeKey, threshold, host, enabled, firedAtMs } = rule;
    return { ruleId, metric, rangeKey, threshold, host, enabled, firedAtMs, phase: phaseOf(rangeKey, rule, nowMs) };
  });
}

function checkRule({ metric, rangeKey, threshold, host }: AnomalyRuleSettings): void {
  const refuse = (parameter: string, sentence: string): never => {
    throw new ServiceError('invalid_parameter', sentence, { parameter });
  };
  if (!ANOMALY_METRICS.includes(metric)) refuse('metric', `a metric is one of ${ANOMALY_METRICS.join(', ')}`);
  if (!Object.hasOwn(RANGES_MS, rangeKey)) refuse('rangeKey', `a range is one of ${Object.keys(RANGES_MS).join(', ')}`);
  const problem = thresholdProblem(metric, threshold);
  if (problem !== null) refuse('threshold', problem);
  if (host !== null && (host !== normaliseHost(host) || !/^[a-z0-9.-]{3,253}$/.test(host))) {
    refuse('host', 'a host is a host name in lower case, or null for all');
  }
}

function isSameBreach(rule: AnomalyRule, next: AnomalyRule): boolean {
  const { metric, rangeKey, threshold, host, enabled } = rule;
  const isSame = next.metric === metric && next.rangeKey === rangeKey && next.threshold === threshold && next.host === host;
  return isSame && next.enabled === enabled;
}

function noRule(): ServiceError {
  return new ServiceError('not_found', 'no such anomaly rule');
}
