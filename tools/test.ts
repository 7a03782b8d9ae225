/**
 * `npm test [-- --quick, --durations, files or vitest options]`: runs the tests, tells which files took longest and which tests failed, and
 * ends with the line `N passed, N failed`, from the run's own result. Status 0 only if at least one test ran, none failed and no
 * error was left unhandled.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';
// biome-ignore lint/suspicious/noDeprecatedImports: only its former overload with a mode is deprecated
import { createVitest, parseCLI } from 'vitest/node';
import { stopOnSignals } from '../sandbox/parts/signals.ts';
import { DURATIONS } from '../test/support/sequencer.ts';
import { chooseTests, DURATIONS_FLAG } from './test/choice.ts';
import type { FailedTest } from './test/failed.ts';
import { failedLines } from './test/failed.ts';
import type { TimedFile } from './test/slowest.ts';
import { slowestLines } from './test/slowest.ts';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
const timed: TimedFile[] = [];
const broken: FailedTest[] = [];
let unhandled = 0;

const counter: Reporter = {
  onTestRunEnd(modules, errors) {
    unhandled = errors.length;
    for (const module of modules) count(module);
    timed.push(...modules.map((module) => ({ path: module.relativeModuleId, ms: lasted(module) })));
  },
};

/** A file that does not load and a suite whose hooks throw count as one failure each: their tests never ran. */
function count(module: TestModule): void {
  if (module.errors().length > 0) tally.failed += 1;
  for (const suite of module.children.allSuites()) if ((suite as TestSuite).errors().length > 0) tally.failed += 1;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') tally.passed += 1;
    else if (state === 'failed') tally.failed += 1;
    else tally.skipped += 1;
    if (state === 'failed')
      broken.push({ path: module.relativeModuleId, name: test.fullName, message: test.result().errors?.[0]?.message ?? '' });
  }
}

/** From the start of its process to its last hook, ms. */
function lasted(module: TestModule): number {
  const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return prepareDuration + environmentSetupDuration + setupDuration + collectDuration + duration;
}

const words = process.argv.slice(2);
const { filter, options } = parseCLI(['vitest', 'run', ...chooseTests(words)]);
const vitest = await createVitest({ ...options, watch: false, reporters: ['default', counter] });
// vitest would end the process a millisecond after a signal, with Postgres and Temporal still running.
for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
// A test in the middle of something is not waited for: the watchdog ends its parts, the next run removes its folder.
stopOnSignals(() => Promise.race([vitest.close(), sleep(5_000)]), 130);
try {
  await vitest.start([...filter]);
} catch (error) {
  // No file of that name (vitest has said so), or the parts did not start: nothing ran, and that is a failure.
  tally.failed += 1;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
await vitest.close();
if (words.includes(DURATIONS_FLAG) && filter.length === 0) keepDurations();
for (const line of [...slowestLines(timed), ...failedLines(broken)]) process.stdout.write(`${line}\n`);
process.stdout.write(`${unhandled > 0 ? `${unhandled} unhandled errors\n` : ''}${sentence()}\n`);
process.exit(tally.passed > 0 && tally.failed === 0 && unhandled === 0 && process.exitCode !== 1 ? 0 : 1);

/** What the next runs are ordered by. */
function keepDurations(): void {
  const sorted = timed.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, ms }) => [path, Math.round(ms / 1_000)]);
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function sentence(): string {
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : '';
  return `${tally.passed} passed, ${tally.failed} failed${skipped}`;
}
