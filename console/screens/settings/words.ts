/** Rules and networks in words. */
import { count, usd } from '../../core/format.ts';
import type { Rule } from './documents.ts';

/** What a rule can watch, and how its threshold is typed and stored. */
export interface Metric {
  readonly value: string;
  readonly label: string;
  readonly unit: 'number' | 'usd' | 'percent' | 'part';
}

export const METRICS: readonly Metric[] = [
  { value: 'EARNED_DROP_PCT', label: 'Earnings fall by', unit: 'percent' },
  { value: 'EARNED_MICRO', label: 'Earnings reach', unit: 'usd' },
  { value: 'MISSED_MICRO', label: 'Missed earnings reach', unit: 'usd' },
  { value: 'PAYMENT_FAILURE_RATE', label: 'Payment failure rate reaches', unit: 'part' },
  { value: 'PAYMENT_FAILED', label: 'Failed payments reach', unit: 'number' },
  { value: 'PAID', label: 'Paid requests reach', unit: 'number' },
  { value: 'DENIED', label: 'Refused requests reach', unit: 'number' },
  { value: 'AGENT_HITS', label: 'Agents’ requests reach', unit: 'number' },
  { value: 'MASQUERADE_ATTEMPTS', label: 'Spoofed requests reach', unit: 'number' },
  { value: 'FREE_WITHOUT_AUTHORS', label: 'Reads free for want of authors reach', unit: 'number' },
  { value: 'UNSERVABLE', label: 'Pages that could not be served reach', unit: 'number' },
];

export const RANGES = [
  { value: 'LAST_1H', label: 'one hour' },
  { value: 'LAST_6H', label: '6 hours' },
  { value: 'LAST_24H', label: '24 hours' },
  { value: 'LAST_7D', label: '7 days' },
  { value: 'LAST_30D', label: '30 days' },
] as const;

/** A rule as a sentence: `Missed earnings reach $5.00 within 24 hours, on every host`. */
export function ruleText({ metric, range, threshold, host }: Pick<Rule, 'metric' | 'range' | 'threshold' | 'host'>): string {
  const of = METRICS.find(({ value }) => value === metric);
  const within = RANGES.find(({ value }) => value === range)?.label ?? range;
  return `${of?.label ?? metric} ${thresholdText(metric, threshold)} within ${within}, ${host === null ? 'on every host' : `on ${host}`}`;
}

function thresholdText(metric: string, threshold: number): string {
  const unit = unitOf(metric);
  if (unit === 'usd') return usd(Math.round(threshold));
  if (unit === 'percent') return `${threshold} %`;
  if (unit === 'part') return `${Number((threshold * 100).toPrecision(12))} %`;
  return count(threshold);
}

/** In what a metric's threshold is typed. */
export function unitOf(metric: string): Metric['unit'] {
  return METRICS.find(({ value }) => value === metric)?.unit ?? 'number';
}

/** A stored threshold as it is typed: micro-USDC as dollars, a part of one as percent. */
export function typedThreshold(metric: string, threshold: number): string {
  const unit = unitOf(metric);
  if (unit === 'usd') return String(threshold / 1_000_000);
  if (unit === 'part') return String(Number((threshold * 100).toPrecision(12)));
  return String(threshold);
}

/** What was typed as a threshold; null where it is no number. */
export function thresholdOf(metric: string, typed: string): number | null {
  const value = Number(typed.trim().replace(',', '.'));
  if (typed.trim() === '' || !Number.isFinite(value)) return null;
  const unit = unitOf(metric);
  if (unit === 'usd') return Math.round(value * 1_000_000);
  return unit === 'part' ? Number((value / 100).toPrecision(12)) : value;
}

const NETWORKS: Readonly<Record<string, string>> = {
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia (test money)',
  'eip155:137': 'Polygon',
  'eip155:1': 'Ethereum',
  'eip155:42161': 'Arbitrum One',
  'eip155:10': 'OP Mainnet',
  'eip155:43114': 'Avalanche',
};

/** A network by the name people know it by. */
export function networkName(id: string): string {
  return NETWORKS[id] ?? id;
}
