import type { ClassPolicy, VisitorClass } from '../../modules/gate/rules/visitors.ts';
import type { ChallengeMethod } from '../../modules/hosts/rules/challenge.ts';
import type { MINTABLE_SCOPES, Scope } from '../../modules/kernel/access/key.ts';
import type { FailureReason as FailureReasonWord } from '../../modules/kernel/errors.ts';
import type { ExceptionReason as ExceptionReasonWord } from '../../modules/kernel/money/splitPayouts.ts';
import type { PaymentState as PaymentStateWord } from '../../modules/kernel/payment/state.ts';
import type { NamedWindow, SeriesUnit } from '../../modules/kernel/time/series.ts';
import type { AuditGroup } from '../../modules/reports/use/audit.ts';
import type { EarningsBreakdown } from '../../modules/reports/use/earnings.ts';
import type { AgentOrder as AgentOrderWord } from '../../modules/reports/use/lists/agents.ts';
import type { WhatIfGroupBy } from '../../modules/reports/use/whatIf.ts';
import type { AnomalyMetric, RangeKey } from '../../modules/webhooks/rules/anomalyRule.ts';
import type { EventType } from '../../modules/webhooks/rules/event.ts';
import { builder } from './builder.ts';

/** Names of GraphQL for words of the API, upper case with an underscore for whatever is no letter or digit, and what each means. */
export function named<T extends string>(meanings: Record<T, string>, prefix = '') {
  const nameOf = (word: string): string => `${prefix}${word.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  return Object.fromEntries(
    Object.entries<string>(meanings).map(([value, description]) => [nameOf(value), { value, description }]),
  ) as Record<string, { value: T; description: string }>;
}

/** A read or a citation. */
export const CrossingKind = builder.enumType('CrossingKind', {
  description: 'What was bought: the reading of a page, or its citation.',
  values: named<'read' | 'citation'>({
    read: 'A page was read.',
    citation: 'A page was cited in an answer; it costs several reads.',
  }),
});

/** A class of visitors. */
export const VisitorClassName = builder.enumType('VisitorClass', {
  description: 'Visitors that an owner decides about together. A User-Agent is what a visitor says of itself.',
  values: named<VisitorClass>({
    ai: 'AI agents that a public list names.',
    automation: 'Tools and robots that no list names, and requests without a User-Agent.',
    pretender: 'What says that it is a browser and asks as none does, such as for Markdown.',
    masquerade: 'What says that it is a robot whose addresses are known, such as Googlebot, and comes from none of them.',
    search: 'Search engines, those of the site’s own list included.',
    preview: 'Previews of links in chats and social networks.',
    ads: 'Crawlers of advertising, which choose and check ads by the text of a page.',
    feed: 'Feed readers.',
    monitor: 'Monitors, health checks and validators.',
    app: 'Apps of phones, and browsers that automation is mistaken for.',
  }),
});

/** What becomes of a class of visitors. */
export const ClassPolicyName = builder.enumType('ClassPolicy', {
  description: 'What becomes of visitors of a class that no list of the owner’s names.',
  values: named<ClassPolicy>({ read: 'They read free.', charge: 'They pay.', block: 'They are refused.' }),
});

/** What earnings are broken down by. */
export const EarningsGroupBy = builder.enumType('EarningsGroupBy', {
  description:
    'What earnings are broken down by. `AGENT`, `PAYER` and `PAYER_HISTORY` read every crossing of the window and take longest; of agents ' +
    'and payers the 1,000 with the most money are listed.',
  values: named<EarningsBreakdown>({
    host: 'By host.',
    slug: 'By page; licences are none, and in no group.',
    kind: 'Reads and citations.',
    author: 'By the wallet that is paid; of legs, not of crossings.',
    'author-id':
      'By author: all wallets whose newest leg before the window’s end names the same id are one; a wallet without an id is one on its own.',
    purpose: 'Pages and licences: `page` and `licence`.',
    agent: 'By the agent’s label.',
    payer: 'By the address that signed.',
    'payer-history': 'Those who had paid the site before the window, `returning`, and all others, `new`.',
  }),
});

/** Orders of groups of earnings. */
export const EarningsOrder = builder.enumType('EarningsOrder', {
  description: 'How the groups of earnings are ordered, the most first.',
  values: named<'EARNED' | 'EVENTS' | 'READS' | 'CITATIONS' | 'GAIN' | 'LOSS' | 'KEY'>({
    EARNED: 'Money.',
    EVENTS: 'Reads and citations.',
    READS: 'Reads.',
    CITATIONS: 'Citations.',
    GAIN: 'What it earned more than in the window before; with `compare`.',
    LOSS: 'What it earned less than in the window before; with `compare`.',
    KEY: 'Its key, from the first letter on.',
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
  values: named<AuditGroup>({
    host: 'By host.',
    slug: 'By page.',
    author: 'By the wallet that payments behind it pay.',
    kind: 'Reads and citations.',
    agent: 'By the agent’s label.',
    verdict: 'By what became of the request.',
  }),
});

/** What a price is broken down by. */
export const WhatIfGroupByName = builder.enumType('WhatIfGroupBy', {
  description: 'What requests are broken down by.',
  values: named<WhatIfGroupBy>({ agent: 'By the agent’s label.', slug: 'By page; reads every row of the window.' }),
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
  values: named<'served-free' | 'agent-reread' | 'denied' | 'blocked' | 'paid' | 'payment-failed' | 'unservable'>({
    'served-free': 'It was served without payment: a person, a search engine, a page that is free.',
    'agent-reread': 'An agent read again what its licence covers.',
    denied: 'An agent was told the price. If it pays then, that is another observation.',
    blocked: 'An agent was refused by the crawler policy: missed money.',
    paid: 'It was paid for.',
    'payment-failed': 'A payment was shown and failed.',
    unservable: 'The site could not serve it; nobody is charged.',
  }),
});

/** Whom a gate took the reader for. */
export const Classification = builder.enumType('Classification', {
  description: 'Whom the gate took the reader for.',
  values: named<'human' | 'agent'>({ human: 'A person.', agent: 'A program.' }),
});

/** States of a payment. */
export const PaymentState = builder.enumType('PaymentState', {
  description:
    'Where a payment stands: accepted → (held) → broadcast → settled → final; or failed, superseded, expired, or review, where a ' +
    'person looks.',
  values: named<PaymentStateWord>({
    accepted: 'Stored; nothing is sent yet.',
    held: 'It waits: another payment of its payer for the same page is undecided.',
    broadcast: 'Signed into a transaction, which is sent.',
    settled: 'The chain shows the money moved.',
    final: 'The block that shows it stays.',
    failed: 'It failed, for a reason that is said. What the chain shows later turns it into settled all the same.',
    superseded: 'Another payment for the same settled while it was held, or a licence covered it; it is not sent.',
    expired: 'It ran out while it was held; it is not sent.',
    review: 'Long after it ran out the chain gave no answer: a person looks.',
  }),
});

/** Why a payment failed. */
export const FailureReason = builder.enumType('FailureReason', {
  description: 'Why a payment failed; the five reasons the audit counts.',
  values: named<FailureReasonWord>({
    insufficient_funds: 'The payer’s balance was too low.',
    authorization_invalid: 'The signed authorization does not fit, or could not be used.',
    malformed_payment: 'The payment could not be read.',
    network_unsupported: 'It was for a chain or token that the site does not take.',
    settlement_failed: 'The chain refused it.',
  }),
});

/** Why the chain does not show a leg settled. */
export const ExceptionReason = builder.enumType('ExceptionReason', {
  description:
    'Why the chain does not show a leg settled: its payment is on the way, went wrong, was given up, shows another amount, or its ' +
    'receipt was not found; payee_blocked: it waits for its author; written_off: a person found that no evidence will tell.',
  values: named<ExceptionReasonWord>({
    unsettled: 'The payment is under review: the chain gave no answer.',
    settlement_pending: 'The payment is on its way.',
    amount_mismatch: 'The chain shows another amount than the ledger.',
    missing_receipt: 'The payment is settled, and what the chain shows of it was not found.',
    payee_blocked: 'The token refuses to pay the author; his part waits for him and is paid once the token does.',
    forgone: 'The payment was never sent: superseded or expired.',
    reverted: 'The payment failed.',
    written_off: 'A person found that no evidence will tell.',
  }),
});

/** Roles of legs. */
export const LegRole = builder.enumType('LegRole', {
  description: 'Whose a leg is; platform legs are in no author’s statement.',
  values: named<'author' | 'coauthor' | 'platform'>({
    author: 'Somebody credited for the page directly.',
    coauthor: 'Somebody credited as a member of a group.',
    platform: 'The platform; in no author’s statement.',
  }),
});

/** What a payment buys. */
export const PaymentPurpose = builder.enumType('PaymentPurpose', {
  description: 'What a payment buys: one page, or a licence over a scope of pages.',
  values: named<'page' | 'licence'>({ page: 'One page.', licence: 'A licence over a scope of pages.' }),
});

/** Live or mock. */
export const PaymentMode = builder.enumType('PaymentMode', {
  description: 'Live, or of a test key: mock payments are in no sum.',
  values: named<'live' | 'mock'>({ live: 'Money moves.', mock: 'Of a test key: no money moves, and it is in no sum.' }),
});

/** States of a delivery. */
export const DeliveryState = builder.enumType('DeliveryState', {
  description: 'Where a delivery stands; `EXHAUSTED` was tried as often as the schedule says.',
  values: named<'pending' | 'delivered' | 'failed' | 'exhausted'>({
    pending: 'It is due, or will be tried again.',
    delivered: 'The receiver took it.',
    failed: 'It is not tried again: the receiver is gone, disabled, or cannot be reached at all.',
    exhausted: 'It was tried as often as the schedule says.',
  }),
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
  values: named<AgentOrderWord>({
    EARNED: 'What it paid.',
    MISSED: 'What it would have paid, what it paid afterwards too.',
    UNANSWERED_MICRO: 'What it would have paid and has not.',
    HITS: 'Its requests.',
    DENIED: 'Its requests that were denied.',
    UNANSWERED: 'Its requests that were denied, and that no payment answered.',
    PAYMENT_FAILED: 'Its payments that failed.',
    MASQUERADES: 'Its requests whose presented signature failed.',
  }),
});

/** Orders of audit groups. */
export const AuditOrder = builder.enumType('AuditOrder', {
  description: 'How the groups of the audit are ordered, the most first.',
  values: named<'HITS' | 'DENIED' | 'UNANSWERED' | 'PAID' | 'MISSED' | 'UNANSWERED_MICRO' | 'EARNED'>({
    HITS: 'Requests.',
    DENIED: 'Requests that were denied.',
    UNANSWERED: 'Requests that were denied, and that no payment answered.',
    PAID: 'Requests that were paid.',
    MISSED: 'What was missed, what was paid afterwards too.',
    UNANSWERED_MICRO: 'What was missed.',
    EARNED: 'What was earned.',
  }),
});

/** What a gate looks at. */
export const GateMode = builder.enumType('GateMode', {
  description: 'What a gate looks at: articles alone (`PREFIXES`), or the whole `SITE` but some prefixes.',
  values: named<'prefixes' | 'site'>({
    prefixes: 'What stands under the article prefixes.',
    site: 'Every path but those that are left alone.',
  }),
});

const MINTABLE_MEANINGS: Record<(typeof MINTABLE_SCOPES)[number], string> = {
  'tenant.read': 'Prices, settings, pages, hosts, endpoints; quotes and payments.',
  'earnings.read.all': 'Earnings, statements, crossings, payments, licences sold, events.',
  'audit.read': 'What was observed: the audit, agents, observations, anomaly rules.',
  'member.read': 'The author roster.',
};
const SCOPE_MEANINGS: Record<Scope, string> = {
  ...MINTABLE_MEANINGS,
  'domain.manage': 'To prove a host, until one is proven: of connection keys alone.',
};

/** `tenant.read` is `TENANT_READ`, and so on. */
export const KeyScope = builder.enumType('KeyScope', {
  description: 'What a publisher key may do; `TENANT_READ` is the scope `tenant.read` of the API, and so on.',
  values: named(SCOPE_MEANINGS),
});

/** `KeyScope` without what only the connect preset grants. */
export const MintableScope = builder.enumType('MintableScope', {
  description: 'What a key may be minted with. `DOMAIN_MANAGE` is not among it: `mintConnectKey` alone grants it.',
  values: named(MINTABLE_MEANINGS),
});

/** How a host is proven. */
export const ProofMethod = builder.enumType('ProofMethod', {
  description: 'How a host is proven: `WELL_KNOWN` file, `META_TAG` of its front page, or `DNS_TXT` record.',
  values: named<ChallengeMethod>({
    'well-known': 'A file under /.well-known.',
    'meta-tag': 'A meta tag of the front page.',
    'dns-txt': 'A TXT record in DNS.',
  }),
});

/** Where an endpoint's messages go. */
export const EndpointChannel = builder.enumType('EndpointChannel', {
  description: 'What an endpoint takes: signed JSON (`RAW`), or one line for a chat.',
  values: named<'raw' | 'slack' | 'discord' | 'teams'>({
    raw: 'Signed JSON.',
    slack: 'A line for Slack.',
    discord: 'A message for Discord.',
    teams: 'A card for Microsoft Teams.',
  }),
});

/** How much an event says. */
export const EndpointProfile = builder.enumType('EndpointProfile', {
  description: 'How much an event says: every leg (`DETAILED`), or sums alone (`SUMMARY`).',
  values: named<'detailed' | 'summary'>({ detailed: 'Every leg.', summary: 'Sums alone.' }),
});

/** Types of events. */
export const EventTypeName = builder.enumType('EventType', {
  description: 'What an event tells of: `SETTLEMENT_COMPLETED` is `settlement.completed`, `ANOMALY_DETECTED` `anomaly.detected`.',
  values: named<EventType>({
    'settlement.completed': '`settlement.completed`: crossings were settled.',
    'anomaly.detected': '`anomaly.detected`: a figure went out of bounds.',
  }),
});

/** What an anomaly rule watches. */
export const AnomalyMetricName = builder.enumType('AnomalyMetric', {
  description: 'What a rule watches. `*_MICRO` are micro-USDC, `PAYMENT_FAILURE_RATE` a part of 1, `EARNED_DROP_PCT` percent.',
  values: named<AnomalyMetric>({
    agent_hits: 'Requests classified as agents.',
    denied: 'Requests that were denied, less those that a payment answered.',
    paid: 'Requests that were paid.',
    payment_failed: 'Payments that failed.',
    payment_failure_rate: 'Failed payments among all that were tried, 0 … 1.',
    masquerade_attempts: 'Requests whose presented signature failed.',
    missed_micro: 'What denied and blocked requests would have paid, less what answered ones paid, micro-USDC.',
    earned_micro: 'What was earned, micro-USDC.',
    earned_drop_pct: 'By how many percent earnings fell, compared with the same time before.',
    unservable: 'Requests that the site could not serve.',
    free_without_authors: 'Requests of agents that were free because no author is named to be paid.',
  }),
});

/** Over which time an anomaly rule looks. */
export const AnomalyRange = builder.enumType('AnomalyRange', {
  description: 'Over which time a rule looks: `LAST_24H` is the last 24 hours.',
  values: named<RangeKey>(
    {
      '1h': 'The last hour.',
      '6h': 'The last 6 hours.',
      '24h': 'The last 24 hours.',
      '7d': 'The last 7 days.',
      '30d': 'The last 30 days.',
    },
    'LAST_',
  ),
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
