/** Slither's findings in the contracts are those that contracts/AUDIT.md answers. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findOnPath } from '../../sandbox/cluster/prometheus.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// It compiles with forge.
const slither = findOnPath('forge', process.env['PATH']) === null ? null : findOnPath('slither', process.env['PATH']);
const title = slither === null ? ' (skipped: slither or forge is not here; contracts/AUDIT.md says how to get it)' : '';

interface Finding {
  readonly check: string;
  readonly elements: readonly { readonly type: string; readonly name: string }[];
}

test.skipIf(slither === null)(
  `Slither finds in the contracts what their audit answers, and nothing else${title}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'slither-'));
    const report = join(folder, 'report.json');
    const args = ['.', '--compile-force-framework', 'foundry', '--exclude-informational', '--exclude-optimization'];
    try {
      await promisify(execFile)(
        slither ?? '',
        [...args, '--filter-paths', 'node_modules|contracts/test|test/contract', '--fail-none', '--json', report],
        { cwd: ROOT },
      );
      const { results } = JSON.parse(readFileSync(report, 'utf8')) as {
        readonly results: { readonly detectors?: readonly Finding[] };
      };
      const found = (results.detectors ?? []).map(
        ({ check, elements }) => `${check} in ${elements.find(({ type }) => type === 'function')?.name}`,
      );
      expect([...new Set(found)].toSorted()).toEqual([
        'calls-loop in flushAround',
        'incorrect-equality in _trySplit',
        'incorrect-equality in flushAll',
        'incorrect-equality in flushAround',
        'reentrancy-events in flushAll',
        'reentrancy-events in flushAround',
        'reentrancy-events in settleGroup',
        'unused-return in _deploy',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  600_000,
);
