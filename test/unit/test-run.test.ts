import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesToRunAgain } from '../../tools/test/again.ts';
import { SLOW } from '../../tools/test/slow.ts';
import type { Flag } from '../../tools/test/tiers.ts';
import { filesOf, listTests, SLOW_FILES, withinBudget } from '../../tools/test/tiers.ts';
import { DURATIONS, inTurns } from '../support/sequencer.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const tier = (flag: Flag | null, changed: readonly string[] = []): string[] =>
  filesOf({ flags: new Set(flag === null ? [] : [flag]), changed });

test('after any change the default and the slow tier together are every test there is, each once', () => {
  expect(SLOW_FILES.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  for (const changed of [[], ['modules/settlement/use/accept/settle.ts'], ['console/app.ts', 'README.md']])
    expect([...tier(null, changed), ...tier('--slow', changed)].sort()).toEqual(listTests());
  expect(tier('--durations')).toEqual(listTests());
});

test('a slow file is in the default tier where the code that it protects was changed, and where it was changed itself', () => {
  const kept = globSync('**/*', { cwd: ROOT, exclude: (path) => /^(node_modules|\.git|\.test)$/.test(path) });
  expect(SLOW.filter(({ protects }) => !kept.some((path) => protects.test(path)))).toEqual([]);
  const crash = 'test/fault/crash.test.ts';
  const screens = 'test/e2e/console-waiting.test.ts';
  const back = (changed: string): boolean[] => [crash, screens].map((file) => tier(null, [changed]).includes(file));
  expect(back('modules/settlement/use/accept/settle.ts')).toEqual([true, false]);
  expect(back('db/migrations/0001_tenants.sql')).toEqual([true, false]);
  expect(back('console/app.ts')).toEqual([false, true]);
  expect(back(screens)).toEqual([false, true]);
  expect(back('docs/words.md')).toEqual([false, false]);
});

test('--quick runs rules, contracts and the core of money, all of which the default runs, too', () => {
  const quick = tier('--quick');
  expect(quick).toContain('test/integration/settlement.test.ts');
  expect(quick.filter((file) => file.startsWith('test/integration/'))).toHaveLength(12);
  expect(quick.filter((file) => !tier(null).includes(file))).toEqual([]);
});

test('of the tests that a change concerns a quick run takes the shortest, twenty seconds of work in all, and no slow one', () => {
  const seconds = { 'test/a': 11, 'test/b': 8, 'test/c': 10, 'test/fault/crash.test.ts': 1 };
  expect(withinBudget(Object.keys(seconds), seconds)).toEqual(['test/b', 'test/c']);
});

test('files that wait begin evenly between those that work, the long ones first, each once, and those of the other project after them', () => {
  const seconds = {
    'unit/a': 1,
    'unit/b': 2,
    'integration/a': 4,
    'integration/b': 3,
    'integration/c': 2,
    'integration/d': 1,
    'fault/a': 1,
    'e2e/long': 60,
    'fault/cluster.test.ts': 200,
    'repo/a': 1,
    'new/a': 1,
  };
  const files = Object.entries(seconds).map(([path, took]) => ({ path: `test/${path}`, seconds: took }));
  expect(inTurns(files).map(({ path }) => path.slice('test/'.length))).toEqual([
    'integration/a',
    'e2e/long',
    'integration/b',
    'integration/c',
    'fault/a',
    'integration/d',
    'new/a',
    'fault/cluster.test.ts',
    'repo/a',
    'unit/b',
    'unit/a',
  ]);
});

test('the durations that are kept are those of files that are there', () => {
  const kept = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>;
  const root = new URL('../../', import.meta.url);
  expect(Object.keys(kept).filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

/** Runs the test command on files of a folder of its own, with every test as often as it is written there. */
function runCommand(files: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly lines: readonly string[];
} {
  mkdirSync(join(ROOT, '.test'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.test', 'again-'));
  try {
    for (const [path, body] of Object.entries(files)) {
      mkdirSync(join(folder, 'test', path.split('/')[0] ?? ''), { recursive: true });
      const head = `import { existsSync, writeFileSync } from 'node:fs'; import { expect, test } from 'vitest';
        const isFirst = () => { const mark = import.meta.filename + '.ran'; const was = existsSync(mark); writeFileSync(mark, ''); return !was; };\n`;
      writeFileSync(join(folder, 'test', `${path}.test.ts`), `${head}${body}`);
    }
    const config = `export default { root: ${JSON.stringify(folder)}, test: { include: ['test/**/*.test.ts'], testTimeout: 200, passWithNoTests: false } };`;
    writeFileSync(join(folder, 'vitest.config.ts'), config);
    const command = ['tools/test.ts', '--config', join(folder, 'vitest.config.ts')];
    const env = { ...process.env, TEST_SLOWNESS: '1', VITEST: undefined, VITEST_POOL_ID: undefined, VITEST_WORKER_ID: undefined };
    const { status, stdout } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8', env });
    return { status, lines: stdout.trimEnd().split('\n') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const OFTEN_FINE = "test('sells', () => expect(isFirst()).toBe(false)); test('stands', () => {});";
const LATE_ONCE = "test('sells', async () => { if (isFirst()) await new Promise(() => {}); });";

test('a file that fails in the whole run and passes alone is told as slow or flaky, and the run passes', () => {
  const { status, lines } = runCommand({ 'repo/flaky': OFTEN_FINE, 'repo/fine': "test('stands', () => {});" });
  expect(lines.at(-1)).toBe('3 passed, 0 failed');
  expect(lines.filter((line) => line.startsWith('SLOW OR FLAKY: '))).toEqual([
    'SLOW OR FLAKY: test/repo/flaky.test.ts, sells, expected true to be false // Object.is equality',
  ]);
  expect(status).toBe(0);
});

test('a file that fails twice is red, and so is one whose tests cannot be loaded', () => {
  const { status, lines } = runCommand({
    'repo/broken': "test('sells', () => expect(1).toBe(2));",
    'repo/unread': 'throw new Error("no");',
  });
  expect(lines.at(-1)).toBe('0 passed, 2 failed');
  expect(lines).toContain('failed: test/repo/broken.test.ts > sells: expected 1 to be 2 // Object.is equality');
  expect(status).toBe(1);
});

test('a file about money is run once more for time alone, never for an assertion', () => {
  const asserted = runCommand({ 'fault/settles': OFTEN_FINE });
  expect([asserted.status, asserted.lines.at(-1)]).toEqual([1, '1 passed, 1 failed']);
  const late = runCommand({ 'integration/budget': LATE_ONCE });
  expect([late.status, late.lines.at(-1)]).toEqual([0, '1 passed, 0 failed']);
  expect(late.lines.join('\n')).toContain('SLOW OR FLAKY: test/integration/budget.test.ts, sells, Test timed out in 200ms.');
});

test('a word of time that a test compares is no time-out, and what is not known to be about something else is about money', () => {
  const failed = (path: string, message: string) => ({
    path,
    ms: 1,
    passed: 0,
    failed: 1,
    skipped: 0,
    failures: [{ path, name: 'sells', message }],
  });
  const fault = 'test/fault/outage.test.ts';
  expect(filesToRunAgain([failed(fault, "expected 'timed out' to be 'settled'")])).toEqual([]);
  expect(filesToRunAgain([failed(fault, "expected 'settled' to be 'ETIMEDOUT'")])).toEqual([]);
  expect(filesToRunAgain([failed(fault, 'expected 1 to be 2 (Matcher did not succeed in time.)')])).toEqual([fault]);
  expect(filesToRunAgain([failed('test/e2e/concurrency.test.ts', 'expected 1 to be 2')])).toEqual([]);
});

test('a run in which more than twelve files fail is broken, and runs none of them again', () => {
  const broken = Array.from({ length: 13 }, (_, at) => {
    const failures = [{ path: `test/repo/${at}.test.ts`, name: 'sells', message: 'no' }];
    return { path: `test/repo/${at}.test.ts`, ms: 1, passed: 0, failed: 1, skipped: 0, failures };
  });
  expect(filesToRunAgain(broken)).toEqual([]);
  expect(filesToRunAgain(broken.slice(1))).toHaveLength(12);
});
