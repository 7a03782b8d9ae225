import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readAlertRules, watchAlerts } from '../../sandbox/cluster/alerts.ts';
import { durationMs } from '../../sandbox/cluster/duration.ts';
import { readExpression } from '../../sandbox/cluster/expression.ts';
import { createHistory } from '../../sandbox/cluster/series.ts';
import type { Scene } from '../support/alertFigures.ts';
import { BESIDE, FIRES, LAST_MINUTE, QUIET, targetsOf, well } from '../support/alertFigures.ts';

const RULES = readAlertRules(new URL('../../deploy/alerts.yml', import.meta.url));
const START_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

/** Functions and aggregations of Prometheus, in the order of the alphabet. */
const PROMETHEUS =
  `abs absent absent_over_time avg avg_over_time bottomk ceil changes clamp clamp_max clamp_min count count_over_time
  count_values day_of_month day_of_week day_of_year delta deriv exp floor group histogram_quantile hour idelta increase irate
  label_join label_replace last_over_time ln log10 log2 max max_over_time min min_over_time minute month predict_linear
  present_over_time quantile quantile_over_time rate resets round scalar sgn sort sort_desc sqrt stddev stdvar sum
  sum_over_time time timestamp topk vector year`.split(/\s+/);

interface PrometheusFile {
  readonly global: { readonly scrape_interval: string; readonly evaluation_interval: string };
}

/** The alerts that fire at the end of a scene, its figures read every minute. */
function firing(scene: Scene): string[] {
  const history = createHistory();
  const watch = watchAlerts(RULES);
  let alerts: string[] = [];
  for (let minute = 0; minute <= LAST_MINUTE; minute += 1) {
    const nowMs = START_MS + minute * MINUTE_MS;
    for (const { text, ...target } of targetsOf(scene(minute), nowMs / 1_000)) history.add(target, text, nowMs);
    alerts = watch.judge(history, nowMs).flatMap(({ alert, state }) => (state === 'firing' ? [alert] : []));
  }
  return [...new Set(alerts)];
}

test('no alert fires while all is well and nothing is sold', () => {
  expect(firing(well)).toEqual([]);
});

test('every rule has figures on which it fires, and figures close to these on which it does not', () => {
  const names = RULES.map(({ alert }) => alert);
  expect(Object.keys(FIRES)).toEqual(names);
  expect(Object.keys(QUIET)).toEqual(names);
});

test.each(Object.entries(FIRES))('%s fires on the figures it is meant for, and no other does', (alert, scene) => {
  expect(firing(scene)).toEqual([alert, ...(BESIDE[alert] ?? [])]);
});

test.each(Object.entries(QUIET))('near %s no alert fires', (_, scene) => {
  expect(firing(scene)).toEqual([]);
});

test('a process that dies right after it was looked at is told of within a minute, scraped and judged as deploy/prometheus.yml says', () => {
  const { global } = parse(readFileSync(new URL('../../deploy/prometheus.yml', import.meta.url), 'utf8')) as PrometheusFile;
  const everyMs = durationMs(global.scrape_interval);
  expect(durationMs(global.evaluation_interval)).toBe(everyMs);
  const history = createHistory();
  const watch = watchAlerts(RULES);
  const told: number[] = [];
  for (let ms = 0; ms <= MINUTE_MS; ms += everyMs) {
    for (const { text, ...target } of targetsOf(well(0), 0))
      history.add(target, target.job === 'api' && ms > 0 ? null : text, ms);
    // The rules are judged just before the next scrape, the worst case.
    const alerts = watch.judge(history, ms + everyMs - 1);
    if (alerts.some(({ alert, state }) => alert === 'ApiDown' && state === 'firing')) told.push(ms + everyMs - 1);
  }
  expect(told[0]).toBeLessThan(MINUTE_MS);
});

test('an alert waits for the time of its rule, is told with its figures, and ends when they are well again', () => {
  const history = createHistory();
  const watch = watchAlerts(RULES);
  const at = (seconds: number, scene: Scene): unknown => {
    const nowMs = START_MS + seconds * 1_000;
    for (const { text, ...target } of targetsOf(scene(0), nowMs / 1_000)) history.add(target, text, nowMs);
    return watch.judge(history, nowMs);
  };
  const stuck = FIRES['PaymentsPendingTooLong'] as Scene;
  const alert = {
    alert: 'PaymentsPendingTooLong',
    severity: 'page',
    since: new Date(START_MS).toISOString(),
    summary: 'A payment on eip155:1 has been undecided for 61 s',
  };
  expect(at(0, stuck)).toEqual([{ ...alert, state: 'pending' }]);
  expect(at(60, stuck)).toEqual([{ ...alert, state: 'firing' }]);
  expect(at(70, well)).toEqual([]);
});

test('without any worker the figures are missing, which is told of beside the worker itself', () => {
  expect(firing((minute) => ({ ...well(minute), worker: null }))).toEqual(['WorkerDown', 'TargetDown', 'GaugesStale']);
});

test('an expression that cannot be read is refused', () => {
  const calls = [
    'max by (x',
    'topk(3, a)',
    'rate(a)',
    'predict_linear(a, 3)',
    'max(a[5m])',
    'sum without (x) (a)',
    'sum(a) by (x)',
  ];
  const operators = ['a > ', 'a b', 'a / b', 'a > bool 1', 'a and b', 'a unless b', 'a * on (x) b', 'a offset 5m', 'a{x<"1"}'];
  for (const text of [...calls, ...operators, 'a[5m]', 'a[5m]x', 'a > 5m']) {
    expect(() => readExpression(text), text).toThrow(SyntaxError);
  }
});

test('the evaluator knows the functions that deploy/alerts.yml uses, and no other of Prometheus', () => {
  const isRead = (text: string): boolean => {
    try {
      readExpression(text);
      return true;
    } catch {
      return false;
    }
  };
  const known = PROMETHEUS.filter((name) =>
    ['', 'a', 'a[5m]', 'a[5m], 1', '0.9, a'].some((input) => isRead(`${name}(${input})`)),
  );
  const used = RULES.flatMap(({ expr }) => [...expr.matchAll(/([a-z_]+) *(?:by *\([^)]*\) *)?\(/g)].map(([, name]) => name));
  expect(known).toEqual([...new Set(used)].filter((name) => name !== 'or').sort());
});

test('a product is counted before a sum', () => {
  expect(readExpression('1 + 2 * 3 - 4')(createHistory(), 0)).toBe(3);
});
