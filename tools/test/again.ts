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

/**
 * Files that are not about money: pages and screens, tools, documents and what is told of the service. Everything else may be: what fails there for
 * another reason than time is looked at, not run again.
 */
const NOT_MONEY =
  /^test\/repo\/|^test\/(e2e|integration)\/(agent-docs|backup|browser|console|discovery|drain|find|going-live|graphql|haproxy|history|host|image|intake-page|names|openapi|own-sites|ports|publisher-cli|report-pdf|sandbox|telemetry|analyst|bad-input)|^test\/unit\/(console|copy|docs|get-temporal|host|html|log|page|pdf|progress|publisher-cli|sandbox|statement-drawing|test-run)|^test\/workflow\/(anomaly|host)/;
/** How vitest and a request of ours say that they waited in vain; what a test compares is no such word. */
const TIME = /^(?!expected )[\s\S]*(timed out|due to timeout|\bETIMEDOUT\b)|\(Matcher did not succeed in time\.?\)$/i;
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
    .filter(({ path, failures }) => NOT_MONEY.test(path) || failures.every(({ message }) => TIME.test(message)))
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
