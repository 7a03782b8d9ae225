import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { lockTenant } from '../../tenants/store/tenants.ts';
import type { AnomalyRuleSettings, BreachState } from '../../webhooks/rules/anomalyRule.ts';

/** A stored rule and what is remembered of it. */
export interface AnomalyRule extends AnomalyRuleSettings, BreachState {
  readonly tenantId: string;
  readonly ruleId: string;
}

const rules = () =>
  tables
    .selectFrom('anomaly_rule as r')
    .select(['r.tenantId', 'r.ruleId', 'r.metric', 'r.rangeKey', 'r.threshold', 'r.host', 'r.enabled'])
    .select(['r.breachedAt', 'r.firedWindow', 'r.firedAt']);

type RuleRow = Awaited<ReturnType<ReturnType<typeof rules>['execute']>>[number];

const changeRule = ({ tenantId, ruleId }: Pick<AnomalyRule, 'tenantId' | 'ruleId'>) =>
  tables.updateTable('anomaly_rule').where('tenantId', '=', tenantId).where('ruleId', '=', ruleId);

/** Stores a rule unless the tenant has `limit` of them; counted under the tenant's lock. */
export async function insertRule(
  sql: Sql,
  rule: AnomalyRuleSettings & { readonly tenantId: string; readonly ruleId: string },
  limit: number,
): Promise<'inserted' | 'full' | 'no_tenant'> {
  const { tenantId, ruleId, metric, rangeKey, threshold, host, enabled } = rule;
  if ((await lockTenant(sql, tenantId)) === null) return 'no_tenant';
  const [held] = await run(
    sql,
    tables
      .selectFrom('anomaly_rule')
      .select((column) => column.fn.countAll<string>().as('rules'))
      .where('tenantId', '=', tenantId),
  );
  if (Number(held?.rules) >= limit) return 'full';
  await run(sql, tables.insertInto('anomaly_rule').values({ tenantId, ruleId, metric, rangeKey, threshold, host, enabled }));
  return 'inserted';
}

/** A tenant's rules, the oldest first. */
export async function listRuleRows(sql: Sql, tenantId: string): Promise<AnomalyRule[]> {
  const rows = await run(sql, rules().where('r.tenantId', '=', tenantId).orderBy('r.createdAt').orderBy('r.ruleId'));
  return rows.map(toRule);
}

/** Enabled rules of active tenants in the order of their keys, after a rule or from the first. */
export async function listSweptRules(
  sql: Sql,
  after: Pick<AnomalyRule, 'tenantId' | 'ruleId'> | null,
  limit: number,
): Promise<AnomalyRule[]> {
  const swept = rules()
    .innerJoin('tenant as t', 't.tenantId', 'r.tenantId')
    .where('r.enabled', '=', true)
    .where('t.status', '=', 'active')
    .orderBy('r.tenantId')
    .orderBy('r.ruleId')
    .limit(limit);
  const rest =
    after === null ? swept : swept.where(text<boolean>`(r.tenant_id, r.rule_id) > (${after.tenantId}, ${after.ruleId})`);
  return (await run(sql, rest)).map(toRule);
}

/** Locks a rule for the rest of the database transaction; null when there is none. */
export async function lockRule(sql: Sql, tenantId: string, ruleId: string): Promise<AnomalyRule | null> {
  const [row] = await run(sql, rules().where('r.tenantId', '=', tenantId).where('r.ruleId', '=', ruleId).forUpdate());
  return row === undefined ? null : toRule(row);
}

/** Stores what is remembered of a rule. */
export async function updateRuleState(
  sql: Sql,
  rule: Pick<AnomalyRule, 'tenantId' | 'ruleId'>,
  state: BreachState,
): Promise<void> {
  const remembered = { breachedAt: dateOf(state.breachedAtMs), firedWindow: state.firedWindow, firedAt: dateOf(state.firedAtMs) };
  await run(sql, changeRule(rule).set(remembered));
}

/** Stores a rule's settings and state. */
export async function updateRuleRow(sql: Sql, rule: AnomalyRule): Promise<void> {
  const { metric, rangeKey, threshold, host, enabled } = rule;
  await run(sql, changeRule(rule).set({ metric, rangeKey, threshold, host, enabled, updatedAt: text`now()` }));
  await updateRuleState(sql, rule, rule);
}

/** Removes a rule; its events stay. False when there is none. */
export async function deleteRuleRow(sql: Sql, tenantId: string, ruleId: string): Promise<boolean> {
  const rule = tables.deleteFrom('anomaly_rule').where('tenantId', '=', tenantId).where('ruleId', '=', ruleId);
  return (await run(sql, rule.returning('ruleId'))).length > 0;
}

function toRule({ breachedAt, firedAt, rangeKey, ...rule }: RuleRow): AnomalyRule {
  return { ...rule, rangeKey, breachedAtMs: breachedAt?.getTime() ?? null, firedAtMs: firedAt?.getTime() ?? null };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
