import { answeredOf } from '../../kernel/payment/answered.ts';
import { NO_CREDITS } from '../../pricing/rules/pricing.ts';
import type { AnomalyMetric } from '../../webhooks/rules/anomalyRule.ts';
import { MIN_SAMPLE } from '../../webhooks/rules/anomalyRule.ts';

/** Net sums of one group of observations. */
export interface TrafficSum {
  readonly verdict: string;
  readonly classifiedAs: string;
  readonly reason: string;
  readonly hits: number;
  readonly micro: bigint;
  /** Requests whose presented signature failed. */
  readonly invalid: number;
}

/** What settled in a window, net of corrections. */
export interface EarningsSum {
  readonly events: number;
  readonly micro: bigint;
}

/** What metrics are computed from: a window's traffic and earnings, and the earnings of the window of equal length before it. */
export interface Figures {
  readonly traffic: readonly TrafficSum[];
  readonly earned: EarningsSum;
  readonly earnedBefore: EarningsSum;
}

/** Which figures a metric needs. */
export function figuresOf(metric: AnomalyMetric): 'traffic' | 'earned' | 'earned_and_before' {
  if (metric === 'earned_micro') return 'earned';
  return metric === 'earned_drop_pct' ? 'earned_and_before' : 'traffic';
}

/** The value of a metric in its own unit; null when there are too few cases to say (rates and drops: fewer than 20). */
export function measure(metric: AnomalyMetric, figures: Figures): number | null {
  const { traffic, earned, earnedBefore } = figures;
  const hits = (verdict: string) => sum(traffic.filter((row) => row.verdict === verdict).map((row) => row.hits));
  switch (metric) {
    case 'agent_hits':
      return sum(traffic.filter(({ classifiedAs }) => classifiedAs === 'agent').map((row) => row.hits));
    case 'denied':
      return answeredOf(traffic).unanswered;
    case 'paid':
    case 'unservable':
      return hits(metric);
    case 'payment_failed':
      return hits('payment-failed');
    case 'payment_failure_rate': {
      const failed = hits('payment-failed');
      const tried = failed + hits('paid');
      return tried < MIN_SAMPLE ? null : failed / tried;
    }
    case 'masquerade_attempts':
      return sum(traffic.map(({ invalid }) => invalid));
    case 'missed_micro':
      return Number(answeredOf(traffic).unansweredMicro);
    case 'free_without_authors':
      return sum(traffic.filter((row) => row.verdict === 'served-free' && row.reason === NO_CREDITS).map((row) => row.hits));
    case 'earned_micro':
      return Number(earned.micro);
    case 'earned_drop_pct': {
      if (earnedBefore.events < MIN_SAMPLE || earnedBefore.micro <= 0n) return null;
      return Math.max(0, (Number(earnedBefore.micro - earned.micro) / Number(earnedBefore.micro)) * 100);
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
