/** Foundry's invariants: thousands of calls in any order, in one process. The contracts' own tests run on a chain. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findOnPath } from '../../sandbox/cluster/prometheus.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const forge = findOnPath('forge', process.env['PATH']);
const title = forge === null ? ' (skipped: forge is not here; contracts/AUDIT.md says how to get it)' : '';

test.skipIf(forge === null)(
  `whatever anybody calls in whatever order, each author has or is owed exactly his parts, and nothing stays behind${title}`,
  async () => {
    const { stdout } = await promisify(execFile)(forge ?? '', ['test', '--root', ROOT, '--json'], {
      cwd: ROOT,
      env: { ...process.env, FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' },
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: { readonly stdout?: string; readonly stderr?: string }) => ({ stdout: `${error.stdout}\n${error.stderr}` }));
    const suites = JSON.parse(stdout) as Record<string, { readonly test_results: Record<string, { readonly status: string }> }>;
    const results = Object.values(suites).flatMap(({ test_results }) => Object.entries(test_results));
    expect(results.map(([name, { status }]) => [name, status])).toEqual([
      ['invariant_authorsHaveTheirParts()', 'Success'],
      ['invariant_nothingIsKept()', 'Success'],
    ]);
  },
  600_000,
);
