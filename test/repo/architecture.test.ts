import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MODULES } from '../../.dependency-cruiser.mjs';
import { listPaths } from '../../tools/check/sources.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (page: string): string => readFileSync(`${ROOT}${page}`, 'utf8');

/** The rows of the table under a heading of a page, as cells. */
function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  const [, section = ''] = `\n${textOf(page)}`.split(`\n${heading}\n`);
  const lines = (section.split(/\n#/)[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
}

/** Names of test files in a cell, however it writes them: `test/fault/x.test.ts`, `fault/x`, `test/simulation`. */
function testsIn(cell: string): readonly string[] {
  const names = [...cell.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g)].map(([, name = '']) => name);
  return names.map((name) => (name.startsWith('test/') ? name : `test/${name}`));
}

const isThere = (name: string): boolean => existsSync(`${ROOT}${name}`) || existsSync(`${ROOT}${name}.test.ts`);

test('every invariant names its test, and the test is there', () => {
  const rows = rowsUnder('docs/invariants.md', '## Invariants');
  expect(rows.length).toBeGreaterThanOrEqual(10);
  for (const row of rows) {
    const tests = testsIn(row[4] ?? '');
    expect({ invariant: row[1], tests: tests.length > 0, missing: tests.filter((name) => !isThere(name)) }).toEqual({
      invariant: row[1],
      tests: true,
      missing: [],
    });
  }
});

test('every rule that keeps money safe names tests that are there', () => {
  const rows = rowsUnder('docs/invariants.md', '## Rules that keep money safe').filter((row) => row[1] !== '');
  expect(rows.map((row) => row[1])).toEqual(Array.from({ length: 26 }, (_, at) => `<a id="safety-${at + 1}"></a>${at + 1}`));
  for (const row of rows) expect([row[1], testsIn(row[3] ?? '').filter((name) => !isThere(name))]).toEqual([row[1], []]);
});

test('every bound of what a caller can make us spend or do names tests that are there', () => {
  const spent = rowsUnder('docs/bounds.md', '## What a caller can make us spend').map((row) => [row[1], row[3] ?? '']);
  const done = rowsUnder('docs/bounds.md', '## What a caller can make us do').map((row) => [row[2], row[4] ?? '']);
  expect(Math.min(spent.length, done.length)).toBeGreaterThanOrEqual(6);
  for (const [what, cell = ''] of [...spent, ...done]) {
    const tests = testsIn(cell);
    expect({ what, tests: tests.length > 0, missing: tests.filter((name) => !isThere(name)) }).toEqual({
      what,
      tests: true,
      missing: [],
    });
  }
});

test('the table of modules names every module', () => {
  const named = rowsUnder('ARCHITECTURE.md', '## Modules').flatMap((row) => /^`(.+)`$/.exec(row[1] ?? '')?.[1] ?? []);
  const there = new Set(listPaths().flatMap((path) => /^modules\/([^/]+)\//.exec(path)?.[1] ?? []));
  expect(named).toEqual(MODULES);
  expect(named.toSorted()).toEqual([...there].toSorted());
});

// Parts of a module are named without it: `rules/`, `store/`, `use/`.
test('every file and folder that the page names is there', () => {
  const named = [...textOf('ARCHITECTURE.md').matchAll(/`(?!rules|store|use)([a-zA-Z]+\/[^`]*|[a-z-]+\.yml)`/g)].map(
    ([, path = '']) => path.split(/[<…]|NN/)[0] ?? '',
  );
  expect(named.length).toBeGreaterThan(20);
  const paths = listPaths();
  expect(named.filter((place) => !paths.some((path) => path.startsWith(place)))).toEqual([]);
});
