import { createHash } from 'node:crypto';
import { insertAlertMail } from '../../mail/store/mails.ts';
import { anomalyEventKey, buildAnomalyData } from '../../webhooks/rules/anomalyEvent.ts';
import { judgeRule, RANGES_MS } from '../../webhooks/rules/anomalyRule.ts';
import { storeEvent } from '../../webhooks/use/storeEvent.ts';
import { measure } from '../rules/measure.ts';
import { readFigures } from '../store/figures.ts';
import type { AnomalyRule } from '../store/rules.ts';
import { listSweptRules, lockRule, updateRuleState } from '../store/rules.ts';
import type { AnomalyDeps } from './deps.ts';

/** What one sweep did. */
export interface SweptRules {
  readonly rules: number;
  readonly events: number;
  /** Rules that could not be judged; the log says why. */
  readonly failures: number;
}

const PAGE = 200;

/**
 * Judges every enabled rule of every active tenant once, by the time of its begin. A rule that fires is changed, and its event,
 * deliveries and e-mail written, in one database transaction, so that a sweep that is repeated or runs twice at once fires
 * nothing twice. A rule that fails holds up no other. Ends early when `cancelled` aborts.
 */
export async function sweepRules(deps: AnomalyDeps, cancelled?: AbortSignal): Promise<SweptRules> {
  const nowMs = deps.clock();
  const swept = { rules: 0, events: 0, failures: 0 };
  let after: AnomalyRule | null = null;
  const isStopped = (): boolean => cancelled?.aborted === true;
  while (!isStopped()) {
    const page: AnomalyRule[] = await listSweptRules(deps.database, after, PAGE);
    for (const rule of page) {
      if (isStopped()) break;
      swept.rules += 1;
      try {
        if (await sweepRule(deps, rule, nowMs)) swept.events += 1;
      } catch (error) {
        swept.failures += 1;
        deps.warn('an anomaly rule could not be judged', { tenantId: rule.tenantId, ruleId: rule.ruleId, error });
      }
    }
    after = page.at(-1) ?? null;
    if (page.length < PAGE) break;
  }
  return swept;
}

/** True when the rule fired. What was measured is judged again under the rule's lock, by what is remembered then. */
async function sweepRule({ database }: AnomalyDeps, rule: AnomalyRule, nowMs: number): Promise<boolean> {
  const figures = await readFigures(database, rule, nowMs, RANGES_MS[rule.rangeKey]);
  const value = measure(rule.metric, figures);
  if (value === null || judgeRule(rule, rule, value, nowMs).state === rule) return false;
  return await database.transaction(async (sql) => {
    const locked = await lockRule(sql, rule.tenantId, rule.ruleId);
    if (locked === null || !locked.enabled || !isSameRule(locked, rule)) return false;
    const { state, fires } = judgeRule(locked, locked, value, nowMs);
    if (state === locked) return false;
    await updateRuleState(sql, locked, state);
    if (fires === null) return false;
    const { tenantId, host } = locked;
    const hash = createHash('sha256').update(anomalyEventKey(locked.ruleId, fires)).digest('base64url');
    const [eventId, data] = [`evt_${hash.slice(0, 32)}`, buildAnomalyData(locked, value)];
    await storeEvent(sql, { tenantId, eventId, type: 'anomaly.detected', host, detailed: data, summary: data });
    await insertAlertMail(sql, { tenantId, mailId: eventId, subject: 'An anomaly was detected', detail: data.detail });
    return true;
  });
}

function isSameRule(a: AnomalyRule, b: AnomalyRule): boolean {
  return a.metric === b.metric && a.rangeKey === b.rangeKey && a.threshold === b.threshold && a.host === b.host;
}
