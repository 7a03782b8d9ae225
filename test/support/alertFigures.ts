/** Figures on which each rule of deploy/alerts.yml fires alone, and figures close to them on which none does; for every judge of the rules. */

/** What the targets serve at a moment; null: one does not answer. */
export interface Figures {
  readonly worker: string | null;
  readonly api: string | null;
  readonly disk: string;
}
/** The figures of a minute, the first being 0. */
export type Scene = (minute: number) => Figures;

/** The minutes of a scene; the rules are judged at the last. */
export const LAST_MINUTE = 20;
/** Stands for the second at which figures are read. */
export const NOW = 'NOW';

const WORKER = `svc_gauges_read_at ${NOW}
svc_settle_pending_age{network="eip155:1"} 2
svc_recon_oldest_age{network="eip155:1"} 5
svc_wal_archive_age 20
svc_wal_archive_failing 0
svc_recon_read_age{network="eip155:1"} 20
svc_recon_compared_behind{network="eip155:1"} 64
svc_settle_sweep_age{network="eip155:1"} 25
svc_relayer_settlements_left{network="eip155:1",relayer="0xab"} 25000
svc_relayer_paused{network="eip155:1",relayer="0xab"} 0
svc_rollup_mismatches 0
svc_webhook_backlog 3
svc_webhook_lag 1
svc_database_clock_skew 0.1
svc_chain_clock_skew{network="eip155:1"} 0
svc_rpc_up{network="eip155:1",node="1"} 1
svc_rpc_behind{network="eip155:1",node="1"} 1
svc_rpc_standstill{network="eip155:1",node="1"} 2
svc_rpc_head_age{network="eip155:1",node="1"} 3
svc_rpc_disagrees{network="eip155:1",node="1"} 0
svc_night_age 40000
svc_temporal_up 1
svc_build_info{version="1.0.0"} 1
svc_database_slot_active{slot="standby"} 1
svc_database_slot_behind{slot="standby"} 4096
svc_database_transaction_age 2
svc_database_xid_age 150000000
svc_process_loop_delay 12`;
const API = 'svc_process_loop_delay 12';
const AVAILABLE = 'node_filesystem_avail_bytes{mountpoint="/var/lib/postgresql"}';
const SIZE = 'node_filesystem_size_bytes{mountpoint="/var/lib/postgresql"}';

const disk = (available: number): string => `${AVAILABLE} ${available}\n${SIZE} 1000000000000`;
const WELL: Figures = { worker: WORKER, api: API, disk: disk(8e11) };

/** Nothing is wrong, and nothing is sold. */
export const well: Scene = () => WELL;

const worker = (before: string, after: string) => (): Figures => {
  if (!WORKER.includes(before)) throw new Error(`no figure is ${before}`);
  return { ...WELL, worker: WORKER.replace(before, after) };
};
const alsoWorker =
  (lines: (minute: number) => string): Scene =>
  (minute) => ({ ...WELL, worker: `${WORKER}\n${lines(minute)}` });
const alsoApi =
  (lines: (minute: number) => string): Scene =>
  (minute) => ({ ...WELL, api: `${API}\n${lines(minute)}` });

/** Ten a minute, none longer than `upTo`, on the steps of a histogram. */
const buckets = (name: string, minute: number, upTo: number, labels = ''): string =>
  [10, 50, 100, 500, 10_000, 15_000, 20_000, '+Inf']
    .map((le) => `${name}_bucket{${labels}le="${le}"} ${le === '+Inf' || Number(le) >= upTo ? minute * 10 : 0}`)
    .join('\n');
/** Calls of a route: so many a minute, of these so many with an error. */
const calls = (minute: number, route: string, bad: number, error = 'status="500",code="internal"', all = 100): string =>
  `svc_http_duration_count{route="${route}",method="POST",status="200"} ${minute * (all - bad)}
svc_http_duration_count{route="${route}",method="POST",${error}} ${minute * bad}`;
const waits = (minute: number, ms: number): string =>
  `svc_pool_wait_sum{pool="payments"} ${minute * 60 * ms}\nsvc_pool_wait_count{pool="payments"} ${minute * 60}`;

/** All alerts in the order of the file; each fires alone. */
export const FIRES: Readonly<Record<string, Scene>> = {
  PaymentsPendingTooLong: worker('pending_age{network="eip155:1"} 2', 'pending_age{network="eip155:1"} 61'),
  OutstandingMoneyOld: worker('oldest_age{network="eip155:1"} 5', 'oldest_age{network="eip155:1"} 601'),
  ChainNotRead: worker('read_age{network="eip155:1"} 20', 'read_age{network="eip155:1"} 301'),
  EvidenceNotCompared: worker('compared_behind{network="eip155:1"} 64', 'compared_behind{network="eip155:1"} 501'),
  PaymentsNotSwept: worker('sweep_age{network="eip155:1"} 25', 'sweep_age{network="eip155:1"} 301'),
  RelayerGasLow: worker(
    'settlements_left{network="eip155:1",relayer="0xab"} 25000',
    'settlements_left{network="eip155:1",relayer="0xab"} 999',
  ),
  RelayerPaused: worker('relayer="0xab"} 0', 'relayer="0xab"} 1'),
  SettlementFailing: alsoApi(
    (minute) => `svc_settle_outcome_total{reason="settled"} ${minute * 90}
svc_settle_outcome_total{reason="chain_unavailable"} ${minute * 10}`,
  ),
  PaymentsExpiredWaiting: alsoWorker((minute) => `svc_settle_expired_waiting_total ${minute}`),
  GasBudgetSpent: alsoWorker(() => 'svc_gas_budget_spent{site="news.example"} 1'),
  NetworkGasHalfSpent: alsoWorker(() => 'svc_gas_network_share{network="eip155:1"} 0.51'),
  FeesRaisedOften: alsoWorker((minute) => `svc_settle_replacements_total{kind="fees"} ${minute * 2}`),
  RollupsDiffer: worker('mismatches 0', 'mismatches 2'),
  NightFailed: alsoWorker(() => 'svc_alert_open{kind="night_failed"} 1'),
  NightMissed: worker('svc_night_age 40000', 'svc_night_age 93601'),
  OperatorAlertOpen: alsoWorker(() => 'svc_alert_open{kind="payment_review"} 1'),
  RpcNodeAway: worker('svc_rpc_up{network="eip155:1",node="1"} 1', 'svc_rpc_up{network="eip155:1",node="1"} 0'),
  RpcNodeBehind: alsoWorker(() => 'svc_rpc_behind{network="eip155:1",node="2"} 11'),
  ChainStandsStill: worker(
    'svc_rpc_standstill{network="eip155:1",node="1"} 2',
    'svc_rpc_standstill{network="eip155:1",node="1"} 61',
  ),
  HeadOld: worker('svc_rpc_head_age{network="eip155:1",node="1"} 3', 'svc_rpc_head_age{network="eip155:1",node="1"} 121'),
  RpcNodesDisagree: alsoWorker(() => 'svc_rpc_disagrees{network="eip155:1",node="2"} 1'),
  ApiDown: (minute) => ({ ...WELL, api: minute < LAST_MINUTE - 1 ? API : null }),
  WorkerDown: (minute) => ({ ...WELL, worker: minute < LAST_MINUTE - 1 ? WORKER : null }),
  TargetDown: (minute) => ({ ...WELL, disk: minute < LAST_MINUTE - 3 ? WELL.disk : '' }),
  TemporalAway: worker('svc_temporal_up 1', 'svc_temporal_up 0'),
  ReleasesDiffer: alsoApi(() => 'svc_build_info{version="1.1.0"} 1'),
  HighErrorRate: alsoApi((minute) => calls(minute, '/_svc/audit', 8)),
  LatencyHigh: alsoApi((minute) => buckets('svc_http_duration', minute, 20_000, 'route="/_svc/verify",')),
  PoolWaits: alsoApi((minute) => waits(minute, 300)),
  DiskFillsUp: (minute) => ({ ...WELL, disk: disk(8e11 - minute * 1e9) }),
  DiskFull: alsoWorker((minute) => `svc_database_full_total ${minute === LAST_MINUTE ? 1 : 0}`),
  WebhookBacklog: worker('webhook_lag 1', 'webhook_lag 301'),
  QuotesSlow: alsoApi((minute) => buckets('svc_quote_duration', minute, 100)),
  SettlementsSlow: alsoApi((minute) => buckets('svc_settle_duration', minute, 20_000)),
  GaugesStale: worker(`svc_gauges_read_at ${NOW}`, 'svc_gauges_read_at 0'),
  WalArchiveOld: worker('svc_wal_archive_failing 0', 'svc_wal_archive_failing 1'),
  StandbyAway: worker('slot_active{slot="standby"} 1', 'slot_active{slot="standby"} 0'),
  StandbyBehind: worker('slot_behind{slot="standby"} 4096', 'slot_behind{slot="standby"} 1100000000'),
  TransactionOld: worker('transaction_age 2', 'transaction_age 3601'),
  XidAgeHigh: worker('xid_age 150000000', 'xid_age 500000001'),
  ClockSkew: worker('database_clock_skew 0.1', 'database_clock_skew -6'),
  ChainClockSkew: worker('svc_chain_clock_skew{network="eip155:1"} 0', 'svc_chain_clock_skew{network="eip155:1"} 6'),
  EventLoopBlocked: worker('loop_delay 12', 'loop_delay 1500'),
};

/** What else must fire on the figures of an alert: without workers there are no figures of the database either. */
export const BESIDE: Readonly<Record<string, readonly string[]>> = { WorkerDown: ['GaugesStale'] };

/** Close to each of them, and not there: no alert fires. */
export const QUIET: Readonly<Record<string, Scene>> = {
  PaymentsPendingTooLong: worker('pending_age{network="eip155:1"} 2', 'pending_age{network="eip155:1"} 60'),
  OutstandingMoneyOld: worker('oldest_age{network="eip155:1"} 5', 'oldest_age{network="eip155:1"} 600'),
  ChainNotRead: worker('read_age{network="eip155:1"} 20', 'read_age{network="eip155:1"} 300'),
  EvidenceNotCompared: worker('compared_behind{network="eip155:1"} 64', 'compared_behind{network="eip155:1"} 500'),
  PaymentsNotSwept: worker('sweep_age{network="eip155:1"} 25', 'sweep_age{network="eip155:1"} 300'),
  RelayerGasLow: worker(
    'settlements_left{network="eip155:1",relayer="0xab"} 25000',
    'settlements_left{network="eip155:1",relayer="0xab"} 1000',
  ),
  RelayerPaused: alsoWorker(() => 'svc_relayer_paused{network="eip155:1",relayer="0xcd"} 0'),
  // One hostile payer who is held off all the time, and buyers' own mistakes.
  SettlementFailing: alsoApi(
    (minute) => `svc_settle_outcome_total{reason="settled"} ${minute * 96}
svc_settle_outcome_total{reason="payer_limited"} ${minute * 900}
svc_settle_outcome_total{reason="insufficient_funds"} ${minute * 100}
svc_settle_outcome_total{reason="overloaded"} ${minute * 4}`,
  ),
  PaymentsExpiredWaiting: alsoWorker((minute) => `svc_settle_expired_waiting_total ${Math.floor(minute / 4)}`),
  GasBudgetSpent: alsoWorker(() => 'svc_gas_budget_spent{site="none"} 0'),
  NetworkGasHalfSpent: alsoWorker(() => 'svc_gas_network_share{network="eip155:1"} 0.5'),
  FeesRaisedOften: alsoWorker((minute) => `svc_settle_replacements_total{kind="fees"} ${minute}`),
  RollupsDiffer: well,
  NightFailed: alsoWorker(() => 'svc_alert_open{kind="rollup_mismatch"} 3'),
  NightMissed: worker('svc_night_age 40000', 'svc_night_age 93600'),
  OperatorAlertOpen: alsoWorker(() => 'svc_alert_open{kind="host_failing"} 3'),
  RpcNodeAway: (minute) => (minute < LAST_MINUTE ? WELL : (FIRES['RpcNodeAway'] as Scene)(minute)),
  RpcNodeBehind: alsoWorker(() => 'svc_rpc_behind{network="eip155:1",node="2"} 10'),
  ChainStandsStill: alsoWorker(() => 'svc_rpc_standstill{network="eip155:1",node="2"} 900'),
  HeadOld: alsoWorker(() => 'svc_rpc_head_age{network="eip155:1",node="2"} 900'),
  RpcNodesDisagree: alsoWorker(() => 'svc_rpc_disagrees{network="eip155:1",node="2"} 0'),
  ApiDown: (minute) => ({ ...WELL, api: minute < LAST_MINUTE ? API : null }),
  WorkerDown: (minute) => ({ ...WELL, worker: minute < LAST_MINUTE ? WORKER : null }),
  TargetDown: (minute) => ({ ...WELL, disk: minute < LAST_MINUTE - 1 ? WELL.disk : '' }),
  // One worker of two reaches it.
  TemporalAway: alsoWorker(() => 'svc_temporal_up{one="of two"} 0'),
  // An upgrade takes a while.
  ReleasesDiffer: (minute) => (minute < LAST_MINUTE - 5 ? WELL : (FIRES['ReleasesDiffer'] as Scene)(minute)),
  // Below the share; callers whom the service holds off; a process that drains; one error among few calls.
  HighErrorRate: alsoApi((minute) =>
    [
      calls(minute, '/_svc/audit', 5),
      calls(minute, '/_svc/verify', 90, 'status="503",code="payer_limited"'),
      calls(minute, '/readyz', 50, 'status="503",code="database_unavailable"'),
      calls(minute, '/_svc/quote', 1, 'status="500",code="internal"', 2),
    ].join('\n'),
  ),
  LatencyHigh: alsoApi((minute) =>
    [
      buckets('svc_http_duration', minute, 15_000, 'route="/_svc/verify",'),
      buckets('svc_http_duration', minute, 500, 'route="/_svc/quote",'),
      buckets('svc_http_duration', minute, 20_000, 'route="/_svc/earnings/export.csv",'),
    ].join('\n'),
  ),
  PoolWaits: alsoApi((minute) => waits(minute, 200)),
  DiskFillsUp: (minute) => ({ ...WELL, disk: disk(8e11 - minute * 1e8) }),
  DiskFull: alsoWorker(() => 'svc_database_full_total 3'),
  WebhookBacklog: worker('webhook_lag 1', 'webhook_lag 300'),
  QuotesSlow: alsoApi((minute) => buckets('svc_quote_duration', minute, 50)),
  SettlementsSlow: alsoApi((minute) => buckets('svc_settle_duration', minute, 10_000)),
  GaugesStale: well,
  WalArchiveOld: worker('svc_wal_archive_age 20', 'svc_wal_archive_age 600'),
  StandbyAway: (minute) => (minute < LAST_MINUTE ? WELL : (FIRES['StandbyAway'] as Scene)(minute)),
  StandbyBehind: worker('slot_behind{slot="standby"} 4096', 'slot_behind{slot="standby"} 1000000000'),
  TransactionOld: worker('transaction_age 2', 'transaction_age 3600'),
  XidAgeHigh: worker('xid_age 150000000', 'xid_age 500000000'),
  ClockSkew: worker('database_clock_skew 0.1', 'database_clock_skew -5'),
  ChainClockSkew: worker('svc_chain_clock_skew{network="eip155:1"} 0', 'svc_chain_clock_skew{network="eip155:1"} 5'),
  EventLoopBlocked: worker('loop_delay 12', 'loop_delay 1000'),
};

/** Every target of a minute with its job and what it serves; an empty text or null: it does not answer. */
export function targetsOf({ worker: ofWorker, api, disk: ofDisk }: Figures, nowSeconds: number) {
  const now = ofWorker?.replace(NOW, String(nowSeconds)) ?? null;
  return [
    { job: 'worker', instance: 'worker-1', text: now },
    { job: 'api', instance: 'api-1', text: api },
    { job: 'disk', instance: 'disk-1', text: ofDisk === '' ? null : ofDisk },
  ] as const;
}
