/** The figures this service shows about itself: names, kinds and units, and the port they are written to. */

/** A measure: how it adds up, its unit, and what it says. */
interface Measure {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** `ms`, `s`, `By` (bytes), `micro` (USDC), `wei`, `gas`, or `1` for counts. */
  readonly unit: string;
  readonly about: string;
}

/** Every measure by name; served with `_` for `.` and `_total` behind counters. */
export const METRICS = {
  'svc.http.duration': {
    kind: 'histogram',
    unit: 'ms',
    about: 'Time of a call; its count is the number of calls: by route, method, status (cut: the caller left) and error code.',
  },
  'svc.quote.duration': { kind: 'histogram', unit: 'ms', about: 'Time from the first byte of a quote call to its answer.' },
  'svc.settle.duration': { kind: 'histogram', unit: 'ms', about: 'Time from a payment presented to its answer, by outcome.' },
  'svc.settle.outcome': { kind: 'counter', unit: '1', about: 'Answers to presented payments: settled, or the reason.' },
  'svc.settle.pending': { kind: 'gauge', unit: '1', about: 'Payments that are not decided, by network.' },
  'svc.settle.pending_age': { kind: 'gauge', unit: 's', about: 'Age of the oldest payment that is not decided, by network.' },
  'svc.settle.sweep_age': {
    kind: 'gauge',
    unit: 's',
    about: 'Time since a round of the sweeper last ended without a failure, by network.',
  },
  'svc.settle.items_per_batch': { kind: 'histogram', unit: '1', about: 'Payments in one transaction.' },
  'svc.settle.gas_per_payment': { kind: 'histogram', unit: 'gas', about: 'Gas of a mined transaction, divided by its payments.' },
  'svc.settle.expired_waiting': {
    kind: 'counter',
    unit: '1',
    about:
      "Payments that were never sent, and whose authorization ended after they had waited for us, not behind their payer's own, for half a minute.",
  },
  'svc.settle.front_run': { kind: 'counter', unit: '1', about: "Payments proven by another transaction than their batch's." },
  'svc.settle.replacements': { kind: 'counter', unit: '1', about: 'Transactions signed again at the same nonce, by kind.' },
  'svc.settle.guard_held': { kind: 'counter', unit: '1', about: 'Payments held behind an open purchase of the same thing.' },
  'svc.settle.repeated_grants': { kind: 'counter', unit: '1', about: 'Stored successes that were answered once more.' },
  'svc.observe.accepted': { kind: 'counter', unit: '1', about: 'Reports of gates that were committed.' },
  'svc.webhook.attempts': { kind: 'counter', unit: '1', about: 'Attempts to deliver an event, by outcome.' },
  'svc.webhook.lag': {
    kind: 'gauge',
    unit: 's',
    about: 'How long the most overdue delivery is overdue; paused endpoints aside.',
  },
  'svc.webhook.backlog': { kind: 'gauge', unit: '1', about: 'Deliveries that are due and not delivered.' },
  'svc.hostcheck.outcome': { kind: 'counter', unit: '1', about: 'Checks of hosts: verified, or the reason.' },
  'svc.licence.minted': { kind: 'counter', unit: '1', about: 'Signatures under licences and access tokens, by kind.' },
  'svc.recon.outstanding_micro': {
    kind: 'gauge',
    unit: 'micro',
    about: 'Recorded money that no safe block proves yet, by network.',
  },
  'svc.recon.oldest_age': { kind: 'gauge', unit: 's', about: 'Age of the oldest recorded money that no safe block proves.' },
  'svc.recon.read_age': { kind: 'gauge', unit: 's', about: 'Time since the chain was last read for reconciliation, by network.' },
  'svc.recon.compared_behind': {
    kind: 'gauge',
    unit: '1',
    about: 'Blocks that were read and of which two RPC URLs have not shown the same yet, by network; 0 with one URL.',
  },
  'svc.rate_limited': {
    kind: 'counter',
    unit: '1',
    about: 'Calls refused because their caller calls too often, by what was counted.',
  },
  'svc.plan_gate.denied': { kind: 'counter', unit: '1', about: 'Calls refused because the plan does not include them.' },
  'svc.relayer.balance': { kind: 'gauge', unit: 'wei', about: 'Gas money of a relayer key, by network and address.' },
  'svc.relayer.settlements_left': {
    kind: 'gauge',
    unit: '1',
    about: 'Settlements that the gas money of a relayer key pays for at the fees of the moment, by network and address.',
  },
  'svc.relayer.gas': {
    kind: 'counter',
    unit: 'wei',
    about: 'What mined transactions cost: settle, flush, and void (nobody is charged).',
  },
  'svc.relayer.in_flight': { kind: 'gauge', unit: '1', about: 'Batches of a relayer key on their way.' },
  'svc.relayer.sign_duration': {
    kind: 'histogram',
    unit: 'ms',
    about: 'Time of a signature by a key management service, by service and outcome.',
  },
  'svc.relayer.paused': { kind: 'gauge', unit: '1', about: '1 while a relayer key takes no batches.' },
  'svc.gas.network_share': {
    kind: 'gauge',
    unit: '1',
    about: 'Gas that a network has cost today, of LIMITS.networkGasBudgetWeiPerDay: 1 is all of it.',
  },
  'svc.gas.budget_spent': { kind: 'gauge', unit: '1', about: 'Sites that have spent the gas budget of today, twenty at most.' },
  'svc.rollup.mismatches': { kind: 'gauge', unit: '1', about: 'Sites whose rollups did not equal their rows, of the last day.' },
  'svc.alert.open': { kind: 'gauge', unit: '1', about: 'Operator alerts that nobody has resolved, by kind.' },
  'svc.database.conflicts': {
    kind: 'counter',
    unit: '1',
    about: 'Transactions that lost a deadlock or a serialization conflict.',
  },
  'svc.database.size': { kind: 'gauge', unit: 'By', about: 'Bytes that the database takes on its volume, without WAL.' },
  'svc.database.full': { kind: 'counter', unit: '1', about: 'Statements that Postgres had no room for: its disk is full.' },
  'svc.database.xid_age': {
    kind: 'gauge',
    unit: '1',
    about: 'Transactions since the oldest one that Postgres has not frozen; at two billion it takes no writes.',
  },
  'svc.database.transaction_age': { kind: 'gauge', unit: 's', about: 'Age of the oldest transaction of the service.' },
  'svc.database.slot_behind': {
    kind: 'gauge',
    unit: 'By',
    about: 'WAL that Postgres keeps for a replication slot, which a standby has not taken; by slot.',
  },
  'svc.database.slot_active': { kind: 'gauge', unit: '1', about: '1 while a standby is connected at a replication slot.' },
  'svc.pool.wait': { kind: 'histogram', unit: 'ms', about: 'Time for which work waited for a connection of a full pool.' },
  'svc.pool.waiting': { kind: 'gauge', unit: '1', about: 'What waits for a connection of a pool at this moment.' },
  'svc.pool.connections': { kind: 'gauge', unit: '1', about: 'Connections of a pool, used and idle.' },
  'svc.database.clock_skew': { kind: 'gauge', unit: 's', about: 'Clock of the database minus clock of this process.' },
  'svc.wal.archive_age': {
    kind: 'gauge',
    unit: 's',
    about: 'Time since a segment of the WAL was last archived; absent where nothing is archived.',
  },
  'svc.wal.archive_failing': { kind: 'gauge', unit: '1', about: '1 while the last segment of the WAL could not be archived.' },
  'svc.chain.clock_skew': {
    kind: 'gauge',
    unit: 's',
    about: 'Time of the newest block, less what a block may be old, minus clock of this process, by network.',
  },
  'svc.rpc.up': { kind: 'gauge', unit: '1', about: '1 while an RPC node answers for our chain, by its place in NETWORKS.' },
  'svc.rpc.behind': { kind: 'gauge', unit: '1', about: 'Blocks that an RPC node is behind the best one.' },
  'svc.rpc.standstill': { kind: 'gauge', unit: 's', about: 'Time for which the head of an RPC node has not moved.' },
  'svc.rpc.head_age': { kind: 'gauge', unit: 's', about: 'Clock of this process minus the newest block of an RPC node.' },
  'svc.rpc.disagrees': { kind: 'gauge', unit: '1', about: '1 while the safe block of an RPC node is not that of the others.' },
  'svc.retention.rows': { kind: 'counter', unit: '1', about: 'Rows forgotten, or User-Agents taken out, by kind.' },
  'svc.gauges.read_at': { kind: 'gauge', unit: 's', about: 'When the database gauges were last read, epoch seconds.' },
  'svc.night.age': { kind: 'gauge', unit: 's', about: 'Time since the nightly round last ended well.' },
  'svc.temporal.up': { kind: 'gauge', unit: '1', about: '1 while Temporal answers a worker.' },
  'svc.build.info': { kind: 'gauge', unit: '1', about: '1, with the release that runs as `version`.' },
  'svc.graphql.restarts': { kind: 'counter', unit: '1', about: 'Threads of GraphQL that ended: time, memory, or defect.' },
  'svc.graphql.loop_delay': { kind: 'histogram', unit: 'ms', about: "Longest block of GraphQL's own event loop in 5 seconds." },
  'svc.process.loop_delay': { kind: 'gauge', unit: 'ms', about: 'Longest block of the event loop since the last reading.' },
} as const satisfies Record<string, Measure>;

/** The name of a measure. */
export type MetricName = keyof typeof METRICS;

/** Measures of one kind. */
type NamesOf<Kind extends Measure['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends Kind ? N : never;
}[MetricName];

/** Counters. */
export type CounterName = NamesOf<'counter'>;
/** Histograms. */
export type HistogramName = NamesOf<'histogram'>;
/** Gauges. */
export type GaugeName = NamesOf<'gauge'>;

/** Labels of a measure: few values each, never an id of a payment, a payer, or a tenant. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Where services write what they count; every call is cheap and never throws. */
export interface Metrics {
  count(name: CounterName, by?: number, labels?: MetricLabels): void;
  record(name: HistogramName, value: number, labels?: MetricLabels): void;
}

/** One value of a gauge. */
export interface GaugePoint {
  readonly name: GaugeName;
  readonly value: number;
  readonly labels?: MetricLabels;
}

/** Writes nowhere: for a process that serves no metrics. */
export const NO_METRICS: Metrics = { count: () => undefined, record: () => undefined };
