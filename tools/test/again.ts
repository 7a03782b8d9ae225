import type { FailedTest } from './failed.ts';

/** What one file of a run came to. */
export interface FileResult {
  /** From the root of the repository. */
  readonly path: string;
  readonly ms: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly FailedTest[];
}

/** Files whose subject is money: what fails there for another reason than time is looked at, not run again. */
const MONEY =
  /^test\/(contract|fault|property|simulation)\/|^test\/[^/]+\/[^/]*(settle|payment|budget|licen[cs]e|ledger|claim|intake|reconcil|spending|rollup|money|price|verify|receipt|months)/;
/** How vitest, its `expect.poll` and a request of ours say that they waited in vain. */
const TIME = /timed out|did not succeed in time|due to timeout|\bETIMEDOUT\b/i;
/** Of more than these something is broken; to run them alone would take as long as the run. */
const MOST_FILES = 12;

/**
 * The files of a run that failed and may have failed for a slow machine: they are run once more, alone. Not one about money that failed for
 * anything but time, and none at all where more than twelve failed.
 */
export function filesToRunAgain(results: readonly FileResult[]): string[] {
  const broken = results.filter(({ failed }) => failed > 0);
  if (broken.length > MOST_FILES) return [];
  return broken
    .filter(({ path, failures }) => !MONEY.test(path) || failures.every(({ message }) => TIME.test(message)))
    .map(({ path }) => path);
}

/**
 * The results of a run in which some files were run twice: the second result of a file stands. Beside them a line for each test that failed and then
 * passed: a finding, which is to be mended.
 */
export function settleResults(
  first: readonly FileResult[],
  second: readonly FileResult[],
): { readonly results: readonly FileResult[]; readonly lines: readonly string[] } {
  const again = new Map(second.map((result) => [result.path, result]));
  const healed = first.filter(({ path, failed }) => failed > 0 && again.get(path)?.failed === 0);
  return {
    results: first.map((result) => again.get(result.path) ?? result),
    lines: healed.flatMap(({ failures }) =>
      failures.map(({ path, name, message }) => `SLOW OR FLAKY: ${path}, ${name}, ${message.split('\n')[0] ?? ''}`),
    ),
  };
}
