import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';

/**
 * What `npm test` leaves to `npm run test:all`, and why. Nothing in here is less true than the rest: it takes a minute or more, it plays again over
 * processes what the simulator and the tests of the rules decide, or it is about what a change seldom touches.
 */
const SLOW: Readonly<Record<string, readonly string[]>> = {
  'builds or installs, or starts many processes': [
    'test/e2e/image.test.ts',
    'test/e2e/sandbox.test.ts',
    'test/fault/cluster.test.ts',
    'test/fault/drill.test.ts',
    'test/fault/processes.test.ts',
    'test/integration/api-process.test.ts',
    'test/integration/backup.test.ts',
    'test/integration/ports.test.ts',
    'test/repo/agent-package.test.ts',
  ],
  'walks through the pages of docs/': [
    'test/e2e/agent-docs.test.ts',
    'test/e2e/buyer-docs.test.ts',
    'test/e2e/going-live.test.ts',
  ],
  'kills a process at every point, or breaks a part for minutes': [
    'test/fault/crash.test.ts',
    'test/fault/facilitator-crash.test.ts',
    'test/fault/licence-crash.test.ts',
    'test/workflow/webhook-delivery.test.ts',
  ],
  'tries thousands of cases, or bugs one by one': [
    'test/e2e/openapi-schemathesis.test.ts',
    'test/integration/simulation-sql.test.ts',
    'test/repo/bugs.test.ts',
    'test/simulation/thorough.test.ts',
  ],
  'drives a browser or a tool through every screen': [
    'test/e2e/agent-hostile.test.ts',
    'test/e2e/agent-stdio.test.ts',
    'test/e2e/agent.test.ts',
    'test/e2e/console-figures.test.ts',
    'test/e2e/console-forms.test.ts',
    'test/e2e/console-setup.test.ts',
    'test/e2e/console-site.test.ts',
    'test/e2e/console.test.ts',
    'test/e2e/networks.test.ts',
    'test/e2e/stock-buyers.test.ts',
  ],
  'makes more rows than a page shows': [
    'test/integration/export-copy.test.ts',
    'test/integration/history.test.ts',
    'test/integration/report-pdf.test.ts',
  ],
};

/** Files of `npm run test:all` alone. */
export const SLOW_FILES: readonly string[] = Object.values(SLOW).flat();

/** Where a change asks for the faults of money, however long they take. */
const MONEY_CODE =
  /^(modules\/(kernel\/(payment|money|licence|x402)|settlement|licences|budgets|rollups|reconciliation|storefront|operations\/store\/months)|db|activities|workflows|platform\/chain|contracts)\//;
/** Those of the slow files that such a change runs. */
const MONEY_FAULTS = ['test/fault/crash.test.ts', 'test/fault/facilitator-crash.test.ts', 'test/fault/licence-crash.test.ts'];

/** What `--quick` runs of files on real parts: how money moves, who may see what, and what is written of it. */
const MONEY_CORE = [
  'access-matrix',
  'api-verify',
  'budget',
  'claims',
  'former-prices',
  'intake',
  'licence-guard',
  'primary-keys',
  'reconcile',
  'report-rollups',
  'settlement',
  'webhook-events',
].map((name) => `test/integration/${name}.test.ts`);
const QUICK = /^test\/(unit|property|contract|simulation)\//;
/** Of these, what compiles the contracts or tries texts for ten seconds and more. */
const LONG = /\/(artifacts|one-price|page-text|statement-drawing)\.test\.ts$/;

/** Every test file of `npm test` and `npm run test:all`. */
export const listTests = (): string[] =>
  globSync('test/{unit,property,repo,simulation,contract,integration,workflow,e2e,fault}/**/*.test.ts').sort();

/** Our flags, which vitest does not know. */
export const FLAGS = ['--quick', '--slow', '--durations'] as const;
export type Flag = (typeof FLAGS)[number];

/** What is run where no file is named. */
export interface Choice {
  readonly flags: ReadonlySet<Flag>;
  /** Files that differ from what main has, from the root of the repository. */
  readonly changed: readonly string[];
}

/**
 * The files of a tier: `--quick` the pure rules, the contracts and the core of money; `--slow` what the default leaves out; `--durations` all; none
 * of them the default, with the faults of money where the code of money was changed.
 */
export function filesOf({ flags, changed }: Choice): string[] {
  const all = listTests();
  if (flags.has('--durations')) return all;
  if (flags.has('--slow')) return all.filter((file) => SLOW_FILES.includes(file));
  const rest = all.filter((file) => !SLOW_FILES.includes(file));
  if (flags.has('--quick')) return rest.filter((file) => (QUICK.test(file) && !LONG.test(file)) || MONEY_CORE.includes(file));
  return changed.some((file) => MONEY_CODE.test(file)) ? [...rest, ...MONEY_FAULTS] : rest;
}

/** What differs from main, committed or not; nothing where git cannot say. */
export function changedFiles(): string[] {
  const [base] = [...git('merge-base', 'HEAD', 'origin/main'), ...git('merge-base', 'HEAD', 'main')];
  return [...new Set([...git('diff', '--name-only', base ?? 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')])];
}

/** The same; on main itself what was changed within a day. */
export function touchedFiles(): string[] {
  const changed = changedFiles();
  if (changed.length > 0) return changed;
  const [before] = git('rev-list', '-1', '--before=1.day', 'HEAD');
  return before === undefined ? [] : git('diff', '--name-only', before);
}

/** The lines of an answer of git; none where it fails. */
function git(...args: string[]): string[] {
  try {
    const answer = execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return answer.split('\n').filter((line) => line !== '');
  } catch {
    return [];
  }
}

/** How much of related tests a quick run takes, seconds of their files. */
const RELATED_SECONDS = 20;
/** A file that no run has measured. */
const UNKNOWN_SECONDS = 10;

/** The shortest of the files, without the slow ones, that together take a third of a minute of work; `seconds` by path. */
export function withinBudget(files: readonly string[], seconds: Readonly<Record<string, number>>): string[] {
  let left = RELATED_SECONDS;
  const took = (file: string): number => seconds[file] ?? UNKNOWN_SECONDS;
  return files
    .filter((file) => !SLOW_FILES.includes(file))
    .toSorted((a, b) => took(a) - took(b))
    .filter((file) => {
      left -= took(file);
      return left >= 0;
    });
}
