import { formatUsdc } from '../../kernel/money/money.ts';
import type { AnomalyMetric, AnomalyRuleSettings, RangeKey } from './anomalyRule.ts';

/** `data` of `anomaly.detected`. */
export interface AnomalyData {
  readonly metric: AnomalyMetric;
  readonly detail: string;
  readonly rangeKey: RangeKey;
  readonly threshold: number;
}

const LABELS: Readonly<Record<AnomalyMetric, string>> = {
  agent_hits: 'Requests by agents',
  denied: 'Denied requests',
  paid: 'Paid requests',
  payment_failed: 'Failed payments',
  payment_failure_rate: 'Share of payments that failed',
  masquerade_attempts: 'Requests of agents that are not who they say',
  missed_micro: 'Missed earnings',
  earned_micro: 'Earnings',
  earned_drop_pct: 'Drop of earnings against the time before',
  unservable: 'Requests that could not be served',
  free_without_authors: 'Pages that agents got free for want of authors',
};

const RANGE_LABELS: Readonly<Record<RangeKey, string>> = {
  '1h': 'hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};

/** The data of an event: what is watched, the threshold as it was set, and the sentence that e-mail carries too. */
export function buildAnomalyData(rule: Omit<AnomalyRuleSettings, 'enabled'>, value: number): AnomalyData {
  const { metric, rangeKey, threshold, host } = rule;
  const place = host === null ? '' : ` on ${host}`;
  const [reached, limit] = [showValue(metric, value), showValue(metric, threshold)];
  const detail = `${LABELS[metric]}${place} in the last ${RANGE_LABELS[rangeKey]}: ${reached}. The threshold is ${limit}.`;
  return { metric, detail, rangeKey, threshold };
}

/**
 * What an event's id is the hash of: the rule, the begin of the breach, the number of the throttle window. Sweeps that see the
 * same breach in the same window name the same event.
 */
export function anomalyEventKey(ruleId: string, fires: { readonly breachedAtMs: number; readonly window: number }): string {
  return JSON.stringify(['anomaly.detected', ruleId, fires.breachedAtMs, fires.window]);
}

function showValue(metric: AnomalyMetric, value: number): string {
  if (metric === 'missed_micro' || metric === 'earned_micro') return `${formatUsdc(BigInt(Math.trunc(value)))} USDC`;
  if (metric === 'payment_failure_rate') return `${showDecimal(value * 100)} %`;
  if (metric === 'earned_drop_pct') return `${showDecimal(value)} %`;
  return String(value);
}

/** At most two decimals, none that are zero. */
function showDecimal(value: number): string {
  return String(Number(value.toFixed(2)));
}
