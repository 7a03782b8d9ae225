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
  for (const text of ['max by (x', 'topk(3, a)', 'rate(a)', 'a > ', 'a b', 'a[5m]x', 'predict_linear(a, 3)']) {
    expect(() => readExpression(text), text).toThrow(SyntaxError);
  }
});
