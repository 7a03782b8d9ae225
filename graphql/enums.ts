import { MINTABLE_SCOPES, SCOPES } from '../domain/access.ts';
import { ANOMALY_METRICS, RANGES_MS } from '../domain/anomaly/rule.ts';
import { FAILURE_REASONS } from '../domain/errors.ts';
import { CHALLENGE_METHODS } from '../domain/hostChallenge.ts';
import { PAYMENT_STATES } from '../domain/payment/state.ts';
import type { NamedWindow, SeriesUnit } from '../domain/series.ts';
import { EVENT_TYPES } from '../domain/webhook/event.ts';
import { AGENT_ORDERS } from '../services/graph/agents.ts';
import type { WhatIfGroupBy } from '../services/graph/whatIf.ts';
import { AUDIT_GROUPS } from '../services/reports/audit.ts';
import type { EarningsBreakdown } from '../services/reports/earnings.ts';
import { builder } from './builder.ts';

/** Names of GraphQL for words of the API: upper case, with an underscore for whatever is no letter or digit. */
export function named<const T extends string>(words: readonly T[], prefix = '') {
  const nameOf = (word: string): string => `${prefix}${word.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  return Object.fromEntries(words.map((value) => [nameOf(value), { value }])) as Record<string, { value: T }>;
}

function describedGroups<T extends string>(groups: Record<T, string>) {
  const values = named(Object.keys(groups) as T[]);
  return Object.fromEntries(
    Object.entries<{ value: T }>(values).map(([name, { value }]) => [name, { value, description: groups[value] }]),
  ) as Record<string, { value: T; description: string }>;
}

/** A read or a citation. */
export const CrossingKind = builder.enumType('CrossingKind', {
  description: 'What was bought: the reading of a page, or its citation.',
  values: named(['read', 'citation']),
});

/** What earnings are broken down by. */
export const EarningsGroupBy = builder.enumType('EarningsGroupBy', {
  description:
    'What earnings are broken down by. `AGENT`, `PAYER` and `PAYER_HISTORY` read every crossing of the window and take longest; of agents ' +
    'and payers the 1,000 with the most money are listed.',
  values: describedGroups<EarningsBreakdown>({
    ...{ host: 'By host.', slug: 'By page; licences are none, and in no group.', kind: 'Reads and citations.' },
    author: 'By the wallet that is paid; of legs, not of crossings.',
    'author-id': 'By author: all wallets whose newest leg names the same id are one; a wallet without an id is one by itself.',
    ...{
      purpose: 'Pages and licences: `page` and `licence`.',
      agent: 'By the agent’s label.',
      payer: 'By the address that signed.',
    },
    'payer-history': 'Those who had paid the site before the window, `returning`, and all others, `new`.',
  }),
});

/** What a crossing bought. */
export const CrossingPurposeName = builder.enumType('CrossingPurpose', {
  description: 'What was bought.',
  values: {
    PAGE: { value: 'page', description: 'One page.' },
    LICENCE: {
      value: 'licence',
      description: 'A licence over a scope of pages; its slug is `licence:` and the id of its payment.',
    },
  } as const,
});

/** Whether a payer had paid before. */
export const PayerHistoryName = builder.enumType('PayerHistory', {
  description: 'Whether a payer had bought something of the site before the window, however long ago.',
  values: {
    NEW: { value: 'new', description: 'The first purchase that stands is in the window.' },
    RETURNING: { value: 'returning', description: 'There is one from before the window.' },
  } as const,
});

/** What the audit is broken down by. */
export const AuditGroupBy = builder.enumType('AuditGroupBy', {
  description: 'What the audit is broken down by. `SLUG` and `AUTHOR` add rows up and take longest.',
  values: named(AUDIT_GROUPS),
});

/** What a price is broken down by. */
export const WhatIfGroupByName = builder.enumType('WhatIfGroupBy', {
  description: 'What requests are broken down by.',
  values: describedGroups<WhatIfGroupBy>({ agent: 'By the agent’s label.', slug: 'By page; reads every row of the window.' }),
});

/** How long buckets are. */
export const SeriesEvery = builder.enumType('SeriesEvery', {
  description: 'How long a bucket of a series is, by the calendar of its time zone.',
  values: {
    HOUR: { value: 'hour', description: 'From full hour to full hour of the clock; shorter where the clock is changed.' },
    DAY: { value: 'day', description: 'From midnight to midnight: 23 or 25 hours where the clock is changed.' },
    WEEK: { value: 'week', description: 'From Monday to Monday.' },
    MONTH: { value: 'month', description: 'From the first to the first.' },
  } as const satisfies Record<string, { value: SeriesUnit; description: string }>,
});

/** Windows with a name. */
export const NamedWindowName = builder.enumType('NamedWindow', {
  description:
    'A window of a calendar. One that holds this moment has no end. `compare` compares it with the same stretch a day, week, month or ' +
    'year before; of the last n days, n days before.',
  values: {
    TODAY: { value: 'today', description: 'Since midnight.' },
    YESTERDAY: { value: 'yesterday', description: 'The day before today.' },
    THIS_WEEK: { value: 'thisWeek', description: 'Since Monday.' },
    PREVIOUS_WEEK: { value: 'previousWeek', description: 'The last whole week, Monday to Sunday.' },
    THIS_MONTH: { value: 'thisMonth', description: 'Since the first of the month.' },
    PREVIOUS_MONTH: { value: 'previousMonth', description: 'The last whole month.' },
    THIS_YEAR: { value: 'thisYear', description: 'Since January 1.' },
    PREVIOUS_YEAR: { value: 'previousYear', description: 'The last whole year.' },
    LAST_7_DAYS: { value: 'last7Days', description: 'Today and the 6 days before.' },
    LAST_28_DAYS: { value: 'last28Days', description: 'Today and the 27 days before.' },
    LAST_30_DAYS: { value: 'last30Days', description: 'Today and the 29 days before.' },
    LAST_90_DAYS: { value: 'last90Days', description: 'Today and the 89 days before.' },
  } as const satisfies Record<string, { value: NamedWindow; description: string }>,
});

/** What a gate decided. */
export const Verdict = builder.enumType('Verdict', {
  description: 'What became of a request: `SERVED_FREE` is `served-free` of the API, and so on.',
  values: named(['served-free', 'agent-reread', 'denied', 'blocked', 'paid', 'payment-failed', 'unservable']),
});

/** Whom a gate took the reader for. */
export const Classification = builder.enumType('Classification', {
  description: 'Whom the gate took the reader for.',
  values: named(['human', 'agent']),
});

/** States of a payment. */
export const PaymentState = builder.enumType('PaymentState', {
  description:
    'Where a payment stands: accepted → (held) → broadcast → settled → final; or failed, superseded, expired, or review, where a ' +
    'person looks.',
  values: named(PAYMENT_STATES),
});

/** Why a payment failed. */
export const FailureReason = builder.enumType('FailureReason', {
  description: 'Why a payment failed; the five reasons the audit counts.',
  values: named(FAILURE_REASONS),
});

/** Why the chain does not show a leg settled. */
export const ExceptionReason = builder.enumType('ExceptionReason', {
  description:
    'Why the chain does not show a leg settled: its payment is on the way, went wrong, was given up, shows another amount, or its ' +
    'receipt was not found; written_off: a person found that no evidence will tell.',
  values: named(['unsettled', 'settlement_pending', 'amount_mismatch', 'missing_receipt', 'forgone', 'reverted', 'written_off']),
});

/** Roles of legs. */
export const LegRole = builder.enumType('LegRole', {
  description: 'Whose a leg is; platform legs are in no author’s statement.',
  values: named(['author', 'coauthor', 'platform']),
});

/** What a payment buys. */
export const PaymentPurpose = builder.enumType('PaymentPurpose', {
  description: 'What a payment buys: one page, or a licence over a scope of pages.',
  values: named(['page', 'licence']),
});

/** Live or mock. */
export const PaymentMode = builder.enumType('PaymentMode', {
  description: 'Live, or of a test key: mock payments are in no sum.',
  values: named(['live', 'mock']),
});

/** States of a delivery. */
export const DeliveryState = builder.enumType('DeliveryState', {
  description: 'Where a delivery stands; `EXHAUSTED` was tried as often as the schedule says.',
  values: named(['pending', 'delivered', 'failed', 'exhausted']),
});

/** Orders by time. */
export const TimeOrder = builder.enumType('TimeOrder', {
  description: 'How a list is ordered.',
  values: { NEWEST: { description: 'Newest first.' }, OLDEST: { description: 'Oldest first.' } } as const,
});

/** Orders by time or amount. */
export const AmountOrder = builder.enumType('AmountOrder', {
  description: 'How a list is ordered.',
  values: {
    NEWEST: { description: 'Newest first.' },
    OLDEST: { description: 'Oldest first.' },
    LARGEST: { description: 'The largest amount first.' },
    SMALLEST: { description: 'The smallest amount first.' },
  } as const,
});

/** Orders of licences. */
export const LicenceOrder = builder.enumType('LicenceOrder', {
  description: 'How licences are ordered.',
  values: {
    NEWEST: { description: 'Newest first.' },
    OLDEST: { description: 'Oldest first.' },
    LARGEST: { description: 'The highest price first.' },
    SMALLEST: { description: 'The lowest price first.' },
    ENDING: { description: 'The one that ends first comes first.' },
  } as const,
});

/** Orders of agents. */
export const AgentOrder = builder.enumType('AgentOrder', {
  description: 'How agents are ordered, the most first.',
  values: named(Object.keys(AGENT_ORDERS) as (keyof typeof AGENT_ORDERS)[]),
});

/** Orders of audit groups. */
export const AuditOrder = builder.enumType('AuditOrder', {
  description: 'How the groups of the audit are ordered, the most first.',
  values: named(['HITS', 'DENIED', 'PAID', 'MISSED', 'EARNED']),
});

/** What a gate looks at. */
export const GateMode = builder.enumType('GateMode', {
  description: 'What a gate looks at: articles alone (`PREFIXES`), or the whole `SITE` but some prefixes.',
  values: named(['prefixes', 'site']),
});

/** `tenant.read` is `TENANT_READ`, and so on. */
export const KeyScope = builder.enumType('KeyScope', {
  description: 'What a publisher key may do; `TENANT_READ` is the scope `tenant.read` of the API, and so on.',
  values: named(SCOPES),
});

/** `KeyScope` without what only the connect preset grants. */
export const MintableScope = builder.enumType('MintableScope', {
  description: 'What a key may be minted with. `DOMAIN_MANAGE` is not among it: `mintConnectKey` alone grants it.',
  values: named(MINTABLE_SCOPES),
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

/** A step of a purchase that is played. */
export const TestPurchaseStepName = builder.enumType('TestPurchaseStepName', {
  description: 'A step of a purchase in test mode.',
  values: {
    ACCESS: { value: 'access', description: 'A test key of the site is let in: its plan, and test keys of this service.' },
    PRICE: { value: 'price', description: 'The page has a price, and authors who can be paid.' },
    SIGN: { value: 'sign', description: 'A wallet without money signs a payment.' },
    SETTLE: { value: 'settle', description: 'The payment settles in test mode.' },
    LICENCE: { value: 'licence', description: 'The licence reads the page again.' },
    SITE: { value: 'site', description: 'The site itself offers the page to an agent, at the same price, to the same payees.' },
  } as const,
});
