/** Rules of a publisher about its traffic and earnings: when one fires, and when it is ready to fire again. */

/** What can be watched. `*_micro` are micro-USDC, `payment_failure_rate` a part of 1, `earned_drop_pct` percent. */
export const ANOMALY_METRICS = [
  'agent_hits',
  'denied',
  'paid',
  'payment_failed',
  'payment_failure_rate',
  'masquerade_attempts',
  'missed_micro',
  'earned_micro',
  'earned_drop_pct',
  'unservable',
  'free_without_authors',
] as const;
/** One of the metrics. */
export type AnomalyMetric = (typeof ANOMALY_METRICS)[number];

const HOUR_MS = 3_600_000;

/** The windows a metric is measured over, by `rangeKey`, in ms. */
export const RANGES_MS = {
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
} as const;
/** The key of a window. */
export type RangeKey = keyof typeof RANGES_MS;

/** What an owner says about a rule. */
export interface AnomalyRuleSettings {
  readonly metric: AnomalyMetric;
  readonly rangeKey: RangeKey;
  /** The rule is breached from this value on; in the unit of its metric. */
  readonly threshold: number;
  /** One host only; null: all of the tenant's together. */
  readonly host: string | null;
  readonly enabled: boolean;
}

/** What is remembered between two sweeps; epoch ms. */
export interface BreachState {
  /** When the breach that stands began; null: there is none. */
  readonly breachedAtMs: number | null;
  /** The last throttle window, counted from the breach's begin, that fired. */
  readonly firedWindow: number | null;
  readonly firedAtMs: number | null;
}

/** A rule that nothing has happened to yet. */
export const ARMED: BreachState = { breachedAtMs: null, firedWindow: null, firedAtMs: null };

/** Most rules a tenant may have. */
export const MAX_RULES = 20;
/** Rates and drops say nothing about fewer cases than this. */
export const MIN_SAMPLE = 20;
/** A breach is over when the value is below this part of the threshold. */
const REARM_PART = 0.8;
const LEAST_THROTTLE_MS = HOUR_MS;

/** How long a rule is quiet after it fired, in ms: half of its range, at least an hour. */
export function throttleMs(rangeKey: RangeKey): number {
  return Math.max(RANGES_MS[rangeKey] / 2, LEAST_THROTTLE_MS);
}

/** Why a threshold cannot be one for this metric, as a sentence; null when it can. */
export function thresholdProblem(metric: AnomalyMetric, threshold: number): string | null {
  if (!Number.isFinite(threshold) || threshold <= 0) return 'a threshold is a number above 0';
  if (threshold > Number.MAX_SAFE_INTEGER) return 'a threshold is at most 2^53 - 1';
  if (metric === 'payment_failure_rate') return threshold <= 1 ? null : 'a rate is a part of 1, e.g. 0.25';
  if (metric === 'earned_drop_pct') return threshold <= 100 ? null : 'a drop is at most 100 percent';
  return Number.isInteger(threshold) ? null : 'the threshold of this metric is a whole number';
}

/** What one look at a rule comes to; `fires` names the breach and its throttle window, which make the event's id. */
export interface RuleVerdict {
  readonly state: BreachState;
  readonly fires: { readonly breachedAtMs: number; readonly window: number } | null;
}

/**
 * Judges a rule by what was measured; null (too few cases) changes nothing. A breach fires when it begins and, while it stands,
 * once in each further throttle window; below 80 % of the threshold it is over. A new breach waits until the rule's last firing
 * is one throttle old, so that a value that goes up and down fires no oftener than one that stays up.
 */
export function judgeRule(
  rule: Pick<AnomalyRuleSettings, 'rangeKey' | 'threshold'>,
  state: BreachState,
  value: number | null,
  nowMs: number,
): RuleVerdict {
  const unchanged = { state, fires: null };
  if (value === null) return unchanged;
  if (value < rule.threshold * REARM_PART) {
    return state.breachedAtMs === null ? unchanged : { state: { ...state, breachedAtMs: null }, fires: null };
  }
  if (value < rule.threshold) return unchanged;
  const quietMs = throttleMs(rule.rangeKey);
  if (state.breachedAtMs === null) {
    const isQuiet = state.firedAtMs !== null && nowMs - state.firedAtMs < quietMs;
    return isQuiet ? unchanged : fire(nowMs, 0, nowMs);
  }
  const window = Math.floor((nowMs - state.breachedAtMs) / quietMs);
  return window > (state.firedWindow ?? -1) ? fire(state.breachedAtMs, window, nowMs) : unchanged;
}

function fire(breachedAtMs: number, window: number, nowMs: number): RuleVerdict {
  return { state: { breachedAtMs, firedWindow: window, firedAtMs: nowMs }, fires: { breachedAtMs, window } };
}

/** The phase of a rule: `throttled` is over its breach, but may not fire again yet. */
export function phaseOf(rangeKey: RangeKey, state: BreachState, nowMs: number): 'armed' | 'breached' | 'throttled' {
  if (state.breachedAtMs !== null) return 'breached';
  const isQuiet = state.firedAtMs !== null && nowMs - state.firedAtMs < throttleMs(rangeKey);
  return isQuiet ? 'throttled' : 'armed';
}
