import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { chooseTests } from '../../tools/test/choice.ts';
import { failedLines } from '../../tools/test/failed.ts';
import { slowestLines } from '../../tools/test/slowest.ts';
import { DURATIONS, inTurns } from '../support/sequencer.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('--quick stands for files that exist, and leaves every other word to vitest', () => {
  const chosen = chooseTests(['-t', 'a name', '--quick']);
  expect(chosen.slice(-2)).toEqual(['-t', 'a name']);
  expect(chosen.slice(0, -2).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(chooseTests(['test/unit', '-t', 'a name'])).toEqual(['test/unit', '-t', 'a name']);
});

test('the files that took longest are told, the longest first', () => {
  const files = Array.from({ length: 12 }, (_, at) => ({ path: `test/${at}.test.ts`, ms: at * 1_000 }));
  const lines = slowestLines(files);
  expect(lines).toHaveLength(11);
  expect(lines.slice(0, 2)).toEqual(['the slowest 10 of 12 files:', '   11.0 s  test/11.test.ts']);
  expect(slowestLines(files.slice(0, 1))).toEqual([]);
});

test('a failed test is named at the end, with the first line of what was wrong', () => {
  const broken = { path: 'test/a.test.ts', name: 'sells > a page', message: 'expected 1 to be 2\n  - 1\n  + 2' };
  expect(failedLines([broken])).toEqual(['failed: test/a.test.ts > sells > a page: expected 1 to be 2']);
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
