import { expect, test } from 'vitest';
import { readAlertRules, watchAlerts } from '../../sandbox/cluster/alerts.ts';
import { readExpression } from '../../sandbox/cluster/expression.ts';
import { createHistory } from '../../sandbox/cluster/series.ts';

const RULES = readAlertRules(new URL('../../deploy/alerts.yml', import.meta.url));
const START_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

/** Gauges as every worker shows them while all is well. */
const WELL = `svc_gauges_read_at NOW
svc_settle_pending_age{network="eip155:1"} 2
svc_recon_oldest_age{network="eip155:1"} 5
svc_recon_read_age{network="eip155:1"} 20
svc_relayer_balance{network="eip155:1",relayer="0xab"} 1000000000000000000
svc_relayer_paused{network="eip155:1",relayer="0xab"} 0
svc_rollup_mismatches 0
svc_webhook_backlog 3
svc_webhook_lag 1
svc_database_clock_skew 0.1
svc_chain_clock_skew{network="eip155:1"} 0
svc_rpc_up{network="eip155:1",node="1"} 1
svc_rpc_behind{network="eip155:1",node="1"} 1
svc_rpc_standstill{network="eip155:1",node="1"} 2
svc_rpc_disagrees{network="eip155:1",node="1"} 0
svc_process_loop_delay 12`;

/** The alerts that fire after twenty minutes of these figures, read every minute; `text` gets the number of the minute. */
function firing(text: (minute: number) => string | null): string[] {
  const history = createHistory();
  const watch = watchAlerts(RULES);
  let alerts: string[] = [];
  for (let minute = 0; minute <= 20; minute += 1) {
    const nowMs = START_MS + minute * MINUTE_MS;
    history.add('worker-1', text(minute)?.replace('NOW', String(nowMs / 1_000)) ?? null, nowMs);
    alerts = watch.judge(history, nowMs).flatMap(({ alert, state }) => (state === 'firing' ? [alert] : []));
  }
  return [...new Set(alerts)];
}

const buckets = (name: string, minute: number, upTo: number): string =>
  [10, 50, 100, 10_000, 20_000, '+Inf']
    .map((le) => `${name}_bucket{le="${le}"} ${le === '+Inf' || Number(le) >= upTo ? minute * 10 : 0}`)
    .join('\n');

test('no alert fires while all is well, with nothing sold or with quick sales', () => {
  expect(firing(() => WELL)).toEqual([]);
  const sold = (minute: number) => `${WELL}
svc_settle_outcome_total{reason="settled"} ${minute * 100}
svc_settle_outcome_total{reason="overloaded"} ${minute}
svc_settle_replacements_total{kind="fees"} ${minute}
${buckets('svc_quote_duration', minute, 10)}
${buckets('svc_settle_duration', minute, 100)}`;
  expect(firing(sold)).toEqual([]);
});

const FIRES: Readonly<Record<string, (minute: number) => string | null>> = {
  PaymentsPendingTooLong: () => WELL.replace('pending_age{network="eip155:1"} 2', 'pending_age{network="eip155:1"} 61'),
  OutstandingMoneyOld: () => WELL.replace('oldest_age{network="eip155:1"} 5', 'oldest_age{network="eip155:1"} 601'),
  ChainNotRead: () => WELL.replace('read_age{network="eip155:1"} 20', 'read_age{network="eip155:1"} 301'),
  RelayerGasLow: () => WELL.replace('1000000000000000000', '4900000000000000'),
  RelayerPaused: () => WELL.replace('relayer="0xab"} 0', 'relayer="0xab"} 1'),
  SettlementFailing: (minute) => `${WELL}
svc_settle_outcome_total{reason="settled"} ${minute * 90}
svc_settle_outcome_total{reason="chain_unavailable"} ${minute * 10}`,
  FeesRaisedOften: (minute) => `${WELL}\nsvc_settle_replacements_total{kind="fees"} ${minute * 2}`,
  RollupsDiffer: () => WELL.replace('mismatches 0', 'mismatches 2'),
  OperatorAlertOpen: () => `${WELL}\nsvc_alert_open{kind="payment_review"} 1`,
  RpcNodeAway: () => WELL.replace('svc_rpc_up{network="eip155:1",node="1"} 1', 'svc_rpc_up{network="eip155:1",node="1"} 0'),
  RpcNodeBehind: () => `${WELL}\nsvc_rpc_behind{network="eip155:1",node="2"} 11`,
  ChainStandsStill: () =>
    WELL.replace('svc_rpc_standstill{network="eip155:1",node="1"} 2', 'svc_rpc_standstill{network="eip155:1",node="1"} 61'),
  RpcNodesDisagree: () => `${WELL}\nsvc_rpc_disagrees{network="eip155:1",node="2"} 1`,
  WebhookBacklog: () => WELL.replace('webhook_lag 1', 'webhook_lag 301'),
  QuotesSlow: (minute) => `${WELL}\n${buckets('svc_quote_duration', minute, 100)}`,
  SettlementsSlow: (minute) => `${WELL}\n${buckets('svc_settle_duration', minute, 20_000)}`,
  GaugesStale: () => null,
  ClockSkew: () => WELL.replace('clock_skew 0.1', 'clock_skew -6'),
  ChainClockSkew: () => WELL.replace('svc_chain_clock_skew{network="eip155:1"} 0', 'svc_chain_clock_skew{network="eip155:1"} 6'),
  EventLoopBlocked: () => WELL.replace('loop_delay 12', 'loop_delay 1500'),
};

test('every rule has figures below on which it fires', () => {
  expect(Object.keys(FIRES)).toEqual(RULES.map(({ alert }) => alert));
});

test.each(Object.entries(FIRES))('%s fires alone on the figures it is meant for', (alert, text) => {
  expect(firing(text)).toEqual([alert]);
});

test('an alert waits for the time of its rule, is told with its figures, and ends when they are well again', () => {
  const history = createHistory();
  const watch = watchAlerts(RULES);
  const at = (seconds: number, text: string): unknown => {
    const nowMs = START_MS + seconds * 1_000;
    history.add('worker-1', text.replace('NOW', String(nowMs / 1_000)), nowMs);
    return watch.judge(history, nowMs);
  };
  const stuck = FIRES['PaymentsPendingTooLong']?.(0) ?? '';
  const alert = {
    alert: 'PaymentsPendingTooLong',
    severity: 'page',
    since: new Date(START_MS).toISOString(),
    summary: 'A payment on eip155:1 has been undecided for 61 s',
  };
  expect(at(0, stuck)).toEqual([{ ...alert, state: 'pending' }]);
  expect(at(60, stuck)).toEqual([{ ...alert, state: 'firing' }]);
  expect(at(70, WELL)).toEqual([]);
});

test('figures last read two minutes ago are stale, and an expression that cannot be read is refused', () => {
  expect(firing(() => WELL.replace('NOW', String(START_MS / 1_000)))).toEqual(['GaugesStale']);
  for (const text of ['max by (x', 'topk(3, a)', 'rate(a)', 'a > ', 'a b', 'a[5m]x']) {
    expect(() => readExpression(text), text).toThrow(SyntaxError);
  }
});
