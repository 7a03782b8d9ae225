/** deploy/alerts.yml before Prometheus' own judge, on the same figures as before ours (test/unit/alert-rules.test.ts). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Scene } from '../support/alertFigures.ts';
import { BESIDE, FIRES, LAST_MINUTE, QUIET, well } from '../support/alertFigures.ts';
import { findPromtool, PROMTOOL_VERSION, seriesOf } from '../support/promtool.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const promtool = findPromtool(process.env);
const title =
  promtool === null ? ` (skipped: promtool ${PROMTOOL_VERSION} is not here; docs/operations.md says how to build it)` : '';
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

function writeTests(tests: readonly object[]): string {
  const file = join(folder, `rules-${Math.random()}.yml`);
  writeFileSync(file, stringify({ rule_files: [join(ROOT, 'deploy/alerts.yml')], evaluation_interval: '1m', tests }));
  return file;
}

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

  test('says so when a figure does not bring the alert', () => {
    const wrong = ruleTest('not at all', QUIET['ApiDown'] ?? well, ['ApiDown']);
    expect(() => run('test', 'rules', writeTests([wrong]))).toThrow(/FAILED/);
  });
});
