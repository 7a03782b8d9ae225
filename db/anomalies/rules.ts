import type { AnomalyMetric, AnomalyRuleSettings, BreachState, RangeKey } from '../../domain/anomaly/rule.ts';
import type { Sql } from '../database.ts';

/** A stored rule and what is remembered of it. */
export interface AnomalyRule extends AnomalyRuleSettings, BreachState {
  readonly tenantId: string;
  readonly ruleId: string;
}

interface RuleRow {
  readonly tenant_id: string;
  readonly rule_id: string;
  readonly metric: AnomalyMetric;
  readonly range_key: RangeKey;
  readonly threshold: number;
  readonly host: string | null;
  readonly enabled: boolean;
  readonly breached_at: Date | null;
  readonly fired_window: number | null;
  readonly fired_at: Date | null;
}

const COLUMNS =
  'r.tenant_id, r.rule_id, r.metric, r.range_key, r.threshold, r.host, r.enabled, r.breached_at, r.fired_window, r.fired_at';

/** Stores a rule unless the tenant has `limit` of them; counted under the tenant's lock. */
export async function insertRule(
  sql: Sql,
  rule: AnomalyRuleSettings & { readonly tenantId: string; readonly ruleId: string },
  limit: number,
): Promise<'inserted' | 'full' | 'no_tenant'> {
  const [tenant] = await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [rule.tenantId]);
  if (tenant === undefined) return 'no_tenant';
  const rows = await sql.query(
    `insert into anomaly_rule (tenant_id, rule_id, metric, range_key, threshold, host, enabled)
     select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from anomaly_rule where tenant_id = $1) < $8 returning 1`,
    [rule.tenantId, rule.ruleId, rule.metric, rule.rangeKey, rule.threshold, rule.host, rule.enabled, limit],
  );
  return rows.length > 0 ? 'inserted' : 'full';
}

/** A tenant's rules, the oldest first. */
export async function listRuleRows(sql: Sql, tenantId: string): Promise<AnomalyRule[]> {
  const rows = await sql.query<RuleRow>(
    `select ${COLUMNS} from anomaly_rule r where r.tenant_id = $1 order by r.created_at, r.rule_id`,
    [tenantId],
  );
  return rows.map(toRule);
}

/** Enabled rules of active tenants in the order of their keys, after a rule or from the first. */
export async function listSweptRules(
  sql: Sql,
  after: Pick<AnomalyRule, 'tenantId' | 'ruleId'> | null,
  limit: number,
): Promise<AnomalyRule[]> {
  const rows = await sql.query<RuleRow>(
    `select ${COLUMNS} from anomaly_rule r join tenant t on t.tenant_id = r.tenant_id
     where r.enabled and t.status = 'active' and ($1::uuid is null or (r.tenant_id, r.rule_id) > ($1, $2))
     order by r.tenant_id, r.rule_id limit $3`,
    [after?.tenantId ?? null, after?.ruleId ?? null, limit],
  );
  return rows.map(toRule);
}

/** Locks a rule for the rest of the database transaction; null when there is none. */
export async function lockRule(sql: Sql, tenantId: string, ruleId: string): Promise<AnomalyRule | null> {
  const [row] = await sql.query<RuleRow>(
    `select ${COLUMNS} from anomaly_rule r where r.tenant_id = $1 and r.rule_id = $2 for update`,
    [tenantId, ruleId],
  );
  return row === undefined ? null : toRule(row);
}

/** Stores what is remembered of a rule. */
export async function updateRuleState(
  sql: Sql,
  rule: Pick<AnomalyRule, 'tenantId' | 'ruleId'>,
  state: BreachState,
): Promise<void> {
  await sql.query(
    'update anomaly_rule set breached_at = $3, fired_window = $4, fired_at = $5 where tenant_id = $1 and rule_id = $2',
    [rule.tenantId, rule.ruleId, dateOf(state.breachedAtMs), state.firedWindow, dateOf(state.firedAtMs)],
  );
}

/** Stores a rule's settings and state anew. */
export async function updateRuleRow(sql: Sql, rule: AnomalyRule): Promise<void> {
  await sql.query(
    `update anomaly_rule set metric = $3, range_key = $4, threshold = $5, host = $6, enabled = $7, updated_at = now()
     where tenant_id = $1 and rule_id = $2`,
    [rule.tenantId, rule.ruleId, rule.metric, rule.rangeKey, rule.threshold, rule.host, rule.enabled],
  );
  await updateRuleState(sql, rule, rule);
}

/** Removes a rule; its events stay. False when there is none. */
export async function deleteRuleRow(sql: Sql, tenantId: string, ruleId: string): Promise<boolean> {
  const rows = await sql.query('delete from anomaly_rule where tenant_id = $1 and rule_id = $2 returning 1', [tenantId, ruleId]);
  return rows.length > 0;
}

function toRule(row: RuleRow): AnomalyRule {
  return {
    tenantId: row.tenant_id,
    ruleId: row.rule_id,
    metric: row.metric,
    rangeKey: row.range_key,
    threshold: row.threshold,
    host: row.host,
    enabled: row.enabled,
    breachedAtMs: row.breached_at?.getTime() ?? null,
    firedWindow: row.fired_window,
    firedAtMs: row.fired_at?.getTime() ?? null,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
