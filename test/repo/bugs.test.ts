import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MUTANTS } from '../mutants/list.ts';
import { isCheap } from '../mutants/mutant.ts';
import { scaled } from '../support/patience.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const ids = MUTANTS.filter(isCheap).map((mutant) => mutant.id);
/** Two at a time, each half in a copy of its own: one after the other they were the end of a run, which waited for them alone. */
const HALVES = [0, 1].map((rest) => ids.filter((_, at) => at % 2 === rest));

// One start of the tests a bug: a second or two on a quiet machine, six on one that is busy.
test(
  'the bugs in pure rules are caught by their tests',
  async () => {
    expect(ids.length).toBeGreaterThanOrEqual(4);
    // A survivor ends the program with an error, whose output names it.
    const find = async (bugs: readonly string[]): Promise<string> => {
      const ended = promisify(execFile)(process.execPath, ['tools/mutants.ts', '--no-baseline', ...bugs], { cwd: ROOT });
      const { stdout } = await ended.catch((error: { readonly stdout: string }) => error);
      return stdout;
    };
    const found = await Promise.all(HALVES.map(find));
    expect(found.flatMap((stdout) => stdout.split('\n').filter((line) => line.startsWith('survived')))).toEqual([]);
    for (const [at, stdout] of found.entries())
      expect(stdout).toContain(`${HALVES[at]?.length} of ${HALVES[at]?.length} bugs caught`);
  },
  scaled(ids.length * 15_000),
);
