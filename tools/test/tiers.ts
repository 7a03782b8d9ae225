import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { SLOW } from './slow.ts';

/** Files that `npm test` runs only where what they protect was changed. */
export const SLOW_FILES: readonly string[] = SLOW.flatMap(({ files }) => files);

/** The slow files that a change brings back: those that protect what was changed, and those that were changed themselves. */
function askedBack(changed: readonly string[]): Set<string> {
  const protecting = SLOW.filter(({ protects }) => changed.some((path) => protects.test(path))).flatMap(({ files }) => files);
  return new Set([...protecting, ...SLOW_FILES.filter((file) => changed.includes(file))]);
}

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
 * The files of a tier: `--quick` the pure rules, the contracts and the core of money; `--durations` all; no flag the default, with the slow files that
 * protect what was changed; `--slow` what the default leaves out after this change, so that the two together are every file once.
 */
export function filesOf({ flags, changed }: Choice): string[] {
  const all = listTests();
  if (flags.has('--durations')) return all;
  const rest = all.filter((file) => !SLOW_FILES.includes(file));
  if (flags.has('--quick')) return rest.filter((file) => (QUICK.test(file) && !LONG.test(file)) || MONEY_CORE.includes(file));
  const back = askedBack(changed);
  const isDefault = (file: string): boolean => !SLOW_FILES.includes(file) || back.has(file);
  return all.filter((file) => isDefault(file) !== flags.has('--slow'));
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
