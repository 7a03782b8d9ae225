/**
 * `npm test [-- --quick, --slow, --durations, files or vitest options]`: runs the tests, tells which files took longest and which tests failed, and
 * ends with the line `N passed, N failed`, from the run's own result. A file that failed is run once more, alone, at the end, where a slow machine may
 * be the reason (`filesToRunAgain`): one that passes then counts as passed and is told as `SLOW OR FLAKY`. Status 0 only if at least one test ran, none
 * failed and no error was left unhandled.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';
// biome-ignore lint/suspicious/noDeprecatedImports: only its former overload with a mode is deprecated
import { createVitest, parseCLI } from 'vitest/node';
import { stopOnSignals } from '../sandbox/parts/signals.ts';
import { DURATIONS } from '../test/support/sequencer.ts';
import type { FileResult } from './test/again.ts';
import { filesToRunAgain, settleResults } from './test/again.ts';
import type { FailedTest } from './test/failed.ts';
import { failedLines } from './test/failed.ts';
import { slowestLines } from './test/slowest.ts';
import { measureSlowness } from './test/slowness.ts';
import type { Flag } from './test/tiers.ts';
import { changedFiles, FLAGS, filesOf, withinBudget } from './test/tiers.ts';

/** What a run of some files came to. */
interface Run {
  readonly results: readonly FileResult[];
  readonly unhandled: number;
}

/** An error as vitest hands it over. */
interface Thrown {
  readonly message: string;
  readonly cause?: unknown;
}

/** A file that does not load and a suite whose hooks throw count as one failure each: their tests never ran. */
function resultOf(module: TestModule): FileResult {
  const path = module.relativeModuleId;
  const failures: FailedTest[] = [];
  const count = { passed: 0, skipped: 0 };
  const fail = (name: string, errors: readonly Thrown[]): void =>
    void failures.push({ path, name, message: messageOf(errors[0]) });
  if (module.errors().length > 0) fail('the file', module.errors());
  for (const suite of module.children.allSuites()) {
    const errors = (suite as TestSuite).errors();
    if (errors.length > 0) fail(suite.fullName, errors);
  }
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    if (state === 'failed') fail(test.fullName, errors);
    else count[state === 'passed' ? 'passed' : 'skipped'] += 1;
  }
  return { path, ms: lasted(module), ...count, failed: failures.length, failures };
}

/** The message of an error, with that of its cause: `expect.poll` says there that time was up. */
function messageOf(error: Thrown | undefined): string {
  const { message = '', cause } = error ?? {};
  const { message: why } = (cause ?? {}) as { message?: unknown };
  return typeof why === 'string' ? `${message.split('\n')[0]} (${why})` : message;
}

/** From the start of its process to its last hook, ms. */
function lasted(module: TestModule): number {
  const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return prepareDuration + environmentSetupDuration + setupDuration + collectDuration + duration;
}

const words = process.argv.slice(2);
const flags = new Set(FLAGS.filter((flag) => words.includes(flag)));
const { filter, options } = parseCLI(['vitest', 'run', ...words.filter((word) => !FLAGS.includes(word as Flag))]);
const changed = changedFiles();
/** Named files, those of a tier, or, for another configuration, all that it has. */
const files = filter.length > 0 || options.config !== undefined ? filter : filesOf({ flags, changed });
process.env['TEST_SLOWNESS'] ??= String(await measureSlowness());
process.stdout.write(`what a test waits for may take ${process.env['TEST_SLOWNESS']} times as long as on a quiet machine\n`);

/** Runs files; a signal ends them. A run that cannot begin, for parts that did not start or for a name that no file has, is one failure. */
async function runFiles(files: readonly string[], own: typeof options = {}): Promise<Run> {
  const results: FileResult[] = [];
  let unhandled = 0;
  const collector: Reporter = {
    onTestRunEnd(modules, errors) {
      unhandled = errors.length;
      results.push(...modules.map(resultOf));
    },
  };
  const vitest = await createVitest({ ...options, ...own, watch: false, reporters: ['default', collector] });
  // vitest would end the process a millisecond after a signal, with Postgres and Temporal still running.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  // A test in the middle of something is not waited for: the watchdog ends its parts, the next run removes its folder.
  stopOnSignals(() => Promise.race([vitest.close(), sleep(5_000)]), 130);
  try {
    await vitest.start([...files]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n`);
    const failure = { path: files.join(' '), name: 'the run', message };
    results.push({ path: failure.path, ms: 0, passed: 0, failed: 1, skipped: 0, failures: [failure] });
  }
  await vitest.close();
  return { results, unhandled };
}

const related = flags.has('--quick') ? await listRelated() : [];
const first = await runFiles([...new Set([...files, ...related])]);
const again = filesToRunAgain(first.results);
if (again.length > 0) process.stdout.write(`once more, alone: ${again.join(', ')}\n`);
const second =
  again.length > 0 ? await runFiles(again, { maxWorkers: 1, fileParallelism: false }) : { results: [], unhandled: 0 };
const { results, lines } = settleResults(first.results, second.results);
const unhandled = first.unhandled + second.unhandled;
if (flags.has('--durations') && filter.length === 0) keepDurations();
for (const line of [...slowestLines(first.results), ...lines, ...failedLines(results.flatMap(({ failures }) => failures))])
  process.stdout.write(`${line}\n`);
const sum = (which: 'passed' | 'failed' | 'skipped'): number => results.reduce((total, result) => total + result[which], 0);
process.stdout.write(`${unhandled > 0 ? `${unhandled} unhandled errors\n` : ''}${sentence()}\n`);
process.exit(sum('passed') > 0 && sum('failed') === 0 && unhandled === 0 ? 0 : 1);

/** Tests that import what was changed, the shortest first, as many as take a third of a minute of work; what is left to `npm test` is said. */
async function listRelated(): Promise<string[]> {
  const code = changed.filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('test/'));
  if (code.length === 0) return changed.filter((file) => file.endsWith('.test.ts'));
  const vitest = await createVitest({ watch: false, run: true, related: code.map((file) => resolve(file)), reporters: [] });
  const found = await vitest.getRelevantTestSpecifications([]);
  await vitest.close();
  const kept = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Readonly<Record<string, number>>;
  const importing = [...new Set(found.map(({ moduleId }) => relative(process.cwd(), moduleId)))];
  const chosen = withinBudget(importing, kept);
  if (chosen.length < importing.length)
    process.stdout.write(
      `left to npm test: ${importing.length - chosen.length} of ${importing.length} files that import what was changed\n`,
    );
  return chosen;
}

/** What the next runs are ordered by. */
function keepDurations(): void {
  const sorted = first.results
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, ms }) => [path, Math.round(ms / 1_000)]);
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function sentence(): string {
  const skipped = sum('skipped');
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
