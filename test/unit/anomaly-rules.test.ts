import { expect, test } from 'vitest';
import type { Figures, TrafficSum } from '../../modules/anomalies/rules/measure.ts';
import { measure } from '../../modules/anomalies/rules/measure.ts';
import { anomalyEventKey, buildAnomalyData } from '../../modules/webhooks/rules/anomalyEvent.ts';
import type { BreachState } from '../../modules/webhooks/rules/anomalyRule.ts';
import {
  ANOMALY_METRICS,
  ARMED,
  judgeRule,
  phaseOf,
  thresholdProblem,
  throttleMs,
} from '../../modules/webhooks/rules/anomalyRule.ts';

const MINUTE = 60_000;
const rule = { rangeKey: '1h', threshold: 100 } as const;

/** Sweeps every five minutes; returns the minutes at which the rule fired. */
function firings(values: readonly (number | null)[]): {
  readonly minutes: number[];
  readonly keys: string[];
  readonly state: BreachState;
} {
  let state = ARMED;
  const [minutes, keys]: [number[], string[]] = [[], []];
  for (const [sweep, value] of values.entries()) {
    const verdict = judgeRule(rule, state, value, sweep * 5 * MINUTE);
    state = verdict.state;
    if (verdict.fires === null) continue;
    minutes.push(sweep * 5);
    keys.push(anomalyEventKey('r', verdict.fires));
  }
  return { minutes, keys, state };
}

test('a standing breach fires once a throttle window, each time with an id of its own', () => {
  const { minutes, keys } = firings(Array.from({ length: 50 }, () => 100));
  expect(minutes).toEqual([0, 60, 120, 180, 240]);
  expect(new Set(keys).size).toBe(5);
});

test('between 80 percent and the threshold nothing changes, below it the rule is armed again', () => {
  expect(firings([99]).minutes).toEqual([]);
  expect(firings([100, 80, 99]).state.breachedAtMs).toBe(0);
  expect(firings([100, 79.9]).state).toEqual({ breachedAtMs: null, firedWindow: 0, firedAtMs: 0 });
});

test('a value that goes up and down fires no oftener than one that stays up', () => {
  expect(firings(Array.from({ length: 50 }, (_, sweep) => (sweep % 2 === 0 ? 500 : 0))).minutes).toEqual([0, 60, 120, 180, 240]);
  expect(firings([500, ...Array.from({ length: 12 }, () => 0), 500]).minutes).toEqual([0, 65]);
});

test('too few cases change nothing', () => {
  expect(firings([null, 100, null, null]).state.breachedAtMs).toBe(5 * MINUTE);
});

test('a rule is throttled while it is over its breach and may not fire yet', () => {
  const over = { breachedAtMs: null, firedWindow: 0, firedAtMs: 0 };
  expect(phaseOf('1h', ARMED, 0)).toBe('armed');
  expect(phaseOf('1h', { ...over, breachedAtMs: 0 }, 1)).toBe('breached');
  expect(phaseOf('1h', over, 59 * MINUTE)).toBe('throttled');
  expect(phaseOf('1h', over, 60 * MINUTE)).toBe('armed');
});

test('the throttle is half the range, at least an hour', () => {
  expect((['1h', '6h', '24h', '7d', '30d'] as const).map((key) => throttleMs(key) / MINUTE)).toEqual([
    60, 180, 720, 5_040, 21_600,
  ]);
});

const traffic = (verdict: string, hits: number, more: Partial<TrafficSum> = {}): TrafficSum => ({
  verdict,
  hits,
  classifiedAs: 'agent',
  reason: '',
  micro: 0n,
  invalid: 0,
  ...more,
});
const figures = (more: Partial<Figures>): Figures => ({
  traffic: [],
  earned: { events: 0, micro: 0n },
  earnedBefore: { events: 0, micro: 0n },
  ...more,
});

test('what agents got free counts as free for want of authors only where that was the reason', () => {
  const free = [traffic('served-free', 7), traffic('served-free', 4, { reason: 'no_credits' }), traffic('paid', 2)];
  expect(measure('free_without_authors', figures({ traffic: free }))).toBe(4);
});

test('every metric counts what its name says', () => {
  const all = figures({
    traffic: [
      traffic('denied', 35, { micro: 500n }), // 30 of them paid afterwards
      traffic('blocked', 2, { micro: 40n, invalid: 2 }),
      traffic('paid', 30),
      traffic('payment-failed', 10),
      traffic('unservable', 3),
      traffic('served-free', 7, { classifiedAs: 'human', invalid: 1 }),
    ],
    earned: { events: 5, micro: 250n },
    earnedBefore: { events: 20, micro: 1_000n },
  });
  const values = Object.fromEntries(ANOMALY_METRICS.map((metric) => [metric, measure(metric, all)]));
  expect(values).toEqual({
    agent_hits: 80,
    free_without_authors: 0,
    denied: 5,
    paid: 30,
    payment_failed: 10,
    payment_failure_rate: 0.25,
    masquerade_attempts: 3,
    missed_micro: 540,
    earned_micro: 250,
    earned_drop_pct: 75,
    unservable: 3,
  });
});

test('rates and drops of fewer than twenty cases say nothing', () => {
  expect(measure('payment_failure_rate', figures({ traffic: [traffic('paid', 9), traffic('payment-failed', 10)] }))).toBeNull();
  expect(measure('earned_drop_pct', figures({ earnedBefore: { events: 19, micro: 1_000n } }))).toBeNull();
  expect(measure('earned_drop_pct', figures({ earnedBefore: { events: 20, micro: 0n } }))).toBeNull();
});

test('an event says metric, sentence, range and the threshold as it was set', () => {
  const set = { metric: 'payment_failure_rate', rangeKey: '24h', threshold: 0.25, host: 'a.example' } as const;
  expect(buildAnomalyData(set, 1 / 3)).toEqual({
    metric: 'payment_failure_rate',
    rangeKey: '24h',
    threshold: 0.25,
    detail: 'Share of payments that failed on a.example in the last 24 hours: 33.33 %. The threshold is 25 %.',
  });
  expect(buildAnomalyData({ ...set, metric: 'earned_micro', threshold: 1_000_000, host: null }, 2_500_000).detail).toBe(
    'Earnings in the last 24 hours: 2.500000 USDC. The threshold is 1.000000 USDC.',
  );
});

test('a threshold is a number that its metric can reach', () => {
  for (const bad of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 0.5, 2 ** 60])
    expect(thresholdProblem('denied', bad)).not.toBeNull();
  expect(thresholdProblem('denied', 1)).toBeNull();
  expect(thresholdProblem('payment_failure_rate', 1.1)).not.toBeNull();
  expect(thresholdProblem('payment_failure_rate', 0.05)).toBeNull();
  expect(thresholdProblem('earned_drop_pct', 101)).not.toBeNull();
});
