import { SCOPES } from '../../domain/access.ts';
import { ANOMALY_METRICS, RANGES_MS } from '../../domain/anomaly/rule.ts';
import { CHALLENGE_METHODS } from '../../domain/hostChallenge.ts';
import { EVENT_TYPES } from '../../domain/webhook/event.ts';
import { builder } from '../builder.ts';

/** Names of GraphQL for words of the API: upper case, with an underscore for whatever is no letter or digit. */
export function named<const T extends string>(words: readonly T[], prefix = '') {
  const nameOf = (word: string): string => `${prefix}${word.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  return Object.fromEntries(words.map((value) => [nameOf(value), { value }])) as Record<string, { value: T }>;
}

/** `tenant.read` is `TENANT_READ`, and so on. */
export const KeyScope = builder.enumType('KeyScope', {
  description: 'What a publisher key may do; `TENANT_READ` is the scope `tenant.read` of the API, and so on.',
  values: named(SCOPES),
});

/** How a host is proven. */
export const ProofMethod = builder.enumType('ProofMethod', {
  description: 'How a host is proven: `WELL_KNOWN` file, `META_TAG` of its front page, or `DNS_TXT` record.',
  values: named(CHALLENGE_METHODS),
});

/** Where an endpoint's messages go. */
export const EndpointChannel = builder.enumType('EndpointChannel', {
  description: 'What an endpoint takes: signed JSON (`RAW`), or one line for a chat.',
  values: named(['raw', 'slack', 'discord', 'teams']),
});

/** How much an event says. */
export const EndpointProfile = builder.enumType('EndpointProfile', {
  description: 'How much an event says: every leg (`DETAILED`), or sums alone (`SUMMARY`).',
  values: named(['detailed', 'summary']),
});

/** Types of events. */
export const EventTypeName = builder.enumType('EventType', {
  description: 'What an event tells of: `SETTLEMENT_COMPLETED` is `settlement.completed`, `ANOMALY_DETECTED` `anomaly.detected`.',
  values: named(EVENT_TYPES),
});

/** What an anomaly rule watches. */
export const AnomalyMetricName = builder.enumType('AnomalyMetric', {
  description: 'What a rule watches. `*_MICRO` are micro-USDC, `PAYMENT_FAILURE_RATE` a part of 1, `EARNED_DROP_PCT` percent.',
  values: named(ANOMALY_METRICS),
});

/** Over which time an anomaly rule looks. */
export const AnomalyRange = builder.enumType('AnomalyRange', {
  description: 'Over which time a rule looks: `LAST_24H` is the last 24 hours.',
  values: named(Object.keys(RANGES_MS) as (keyof typeof RANGES_MS)[], 'LAST_'),
});
