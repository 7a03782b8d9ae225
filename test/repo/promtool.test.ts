/** deploy/alerts.yml before Prometheus' own judge. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Scene } from '../support/alertFigures.ts';
import { BESIDE, FIRES, LAST_MINUTE, QUIET, well } from '../support/alertFigures.ts';
import { findPromtool, PROMTOOL_VERSION, seriesOf } from '../support/promtool.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const promtool = findPromtool(process.env);
const title =
  promtool === null ? ` (skipped: promtool ${PROMTOOL_VERSION} is not here; docs/runbook.md says how to build it)` : '';
const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What it prints; what it says of its own failure stays in the error, so that a wanted failure is not read as the test's. */
const run = (...args: string[]): string => execFileSync(promtool ?? '', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });

/** One test of `promtool test rules`: exactly these alerts fire at the end of the scene. */
function ruleTest(name: string, scene: Scene, firing: readonly string[]): object {
  const exp_samples = firing.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 }));
  const expr = 'group by (alertname) (ALERTS{alertstate="firing"})';
  return {
    name,
    interval: '1m',
    input_series: seriesOf(scene),
    promql_expr_test: [{ expr, eval_time: `${LAST_MINUTE}m`, exp_samples }],
  };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
}
interface PrometheusFile {
  readonly global: { readonly scrape_interval: string; readonly evaluation_interval: string };
}
const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), 'utf8'));

function writeTests(tests: readonly object[], evaluation_interval = '1m'): string {
  const file = join(folder, `rules-${Math.random()}.yml`);
  writeFileSync(file, stringify({ rule_files: [join(ROOT, 'deploy/alerts.yml')], evaluation_interval, tests }));
  return file;
}

test('every rule has figures on which it fires, and figures close to these on which it does not', () => {
  const names = (read('deploy/alerts.yml') as RuleFile).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect([Object.keys(FIRES), Object.keys(QUIET)]).toEqual([names, names]);
});

describe.skipIf(promtool === null)(`Prometheus${title}`, () => {
  test('reads the rules and its own configuration', () => {
    expect(run('check', 'rules', 'deploy/alerts.yml')).toContain('SUCCESS');
    expect(run('check', 'config', '--syntax-only', 'deploy/prometheus.yml')).toContain('SUCCESS');
  });

  test('fires each alert on the figures it is meant for, no other beside it, and none on figures close to these', () => {
    const tests = [
      ruleTest('all is well', well, []),
      ...Object.entries(FIRES).map(([alert, scene]) => ruleTest(alert, scene, [alert, ...(BESIDE[alert] ?? [])])),
      ...Object.entries(QUIET).map(([alert, scene]) => ruleTest(`near ${alert}`, scene, [])),
    ];
    expect(run('test', 'rules', writeTests(tests))).toContain('SUCCESS');
  });

  test('tells of a process that dies within a minute, scraped and judged as deploy/prometheus.yml says', () => {
    const { global } = read('deploy/prometheus.yml') as PrometheusFile;
    expect(global.evaluation_interval).toBe(global.scrape_interval);
    // It answers at 0 s and never again; the rules are judged at 50 s for the last time before the minute is over.
    const exp_annotations = { summary: 'No API process answers', runbook_url: 'docs/runbook.md#apidown' };
    const exp_alerts = [{ exp_labels: { severity: 'page' }, exp_annotations }];
    const dies = {
      interval: global.scrape_interval,
      input_series: [
        { series: 'up{job="api",instance="api-1"}', values: '1 0x6' },
        { series: 'svc_gauges_read_at{job="worker"}', values: '0+10x6' },
      ],
      alert_rule_test: [{ eval_time: '50s', alertname: 'ApiDown', exp_alerts }],
    };
    expect(run('test', 'rules', writeTests([dies], global.evaluation_interval))).toContain('SUCCESS');
  });

  test('waits for the time of a rule, tells the figures, and ends when they are well again', () => {
    const exp_labels = { severity: 'page', network: 'eip155:1' };
    const runbook_url = 'docs/runbook.md#paymentspendingtoolong';
    const exp_annotations = { summary: 'A payment on eip155:1 has been undecided for 1m 1s', runbook_url };
    const at = (eval_time: string, exp_alerts: readonly object[]) => ({
      eval_time,
      alertname: 'PaymentsPendingTooLong',
      exp_alerts,
    });
    const stuck = {
      interval: '30s',
      input_series: [{ series: 'svc_settle_pending_age{network="eip155:1"}', values: '61x2 2x2' }],
      alert_rule_test: [at('30s', []), at('60s', [{ exp_labels, exp_annotations }]), at('90s', [])],
    };
    expect(run('test', 'rules', writeTests([stuck], '30s'))).toContain('SUCCESS');
  });

  test('says so when a figure does not bring the alert', () => {
    const wrong = ruleTest('not at all', QUIET['ApiDown'] ?? well, ['ApiDown']);
    expect(() => run('test', 'rules', writeTests([wrong]))).toThrow(/FAILED/);
  });
});
