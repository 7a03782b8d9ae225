import { expect, test } from 'vitest';
import { listPaths, readSources } from '../../tools/check/sources.ts';

const MAX_LINES = 400;
const CODE = /\.(ts|mjs|js|sol|sql)$/;
const NOT_COUNTED = /^(test|bench)\/|\/migrations\/|generated|artifacts|(^|\/)test\//;

/** Words are split here, so that this file does not hold what it forbids. */
const words = (...parts: readonly string[][]): string => parts.map((pair) => pair.join('')).join('|');
const MARKERS = new RegExp(`\\b(${words(['TO', 'DO'], ['FIX', 'ME'], ['X', 'XX'])})\\b`);
const PHRASES = new RegExp(
  `\\b(${words(['st', 'ub'], ['place', 'holder'], ['for', ' now'], ['not', ' implemented'])})s?\\b`,
  'i',
);
const MACHINE_PATH = /(^|["'`\s(=:])\/(work|root|home|Users)\/[\w.-]/m;
const PARAGRAPH_REPEATS_SIGNATURE = /@param\s+(\w+)\s+-?\s*[Tt]he\s+\1\b/;

test(`no source file is longer than ${MAX_LINES} lines`, () => {
  const long = readSources(CODE)
    .filter(({ path }) => !NOT_COUNTED.test(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES);
  expect(long).toEqual([]);
});

const MAX_COLUMNS = 160;

/**
 * The lines of prose of a Markdown page, numbered. Out are what cannot be broken: rows of a table, code that is copied as it stands, and
 * addresses without a space.
 */
function proseOf(text: string): [line: string, number: number][] {
  let isCode = false;
  return text.split('\n').flatMap((line, index): [string, number][] => {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode || /^\s*\|/.test(line) || !/\S\s+\S/.test(line) ? [] : [[line, index + 1]];
  });
}

/** Lines that hold nothing but a comment. One that follows code, and a string, are the formatter's. */
const COMMENT = /^\s*(\/\*|\*|\/\/|--|#)/;

test(`no line of prose is longer than ${MAX_COLUMNS} columns: pages, ADRs and comments`, () => {
  const pages = readSources(/\.md$/).flatMap(({ path, text }) => proseOf(text).map((one) => [path, ...one] as const));
  const comments = readSources(/\.(ts|mjs|js|sol|sql|php|css|sh|ya?ml|example)$|(^|\/)Dockerfile$|^\.ci\//).flatMap(
    ({ path, text }) => text.split('\n').flatMap((line, index) => (COMMENT.test(line) ? [[path, line, index + 1] as const] : [])),
  );
  expect([pages.length > 1_000, comments.length > 1_000]).toEqual([true, true]);
  const long = [...pages, ...comments].filter(([, line]) => [...line].length > MAX_COLUMNS);
  expect(long.map(([path, , number]) => `${path}:${number}`)).toEqual([]);
});

test('README fits two screens', () => {
  const [readme] = readSources(/^README\.md$/);
  expect((readme?.text ?? '').split('\n').length - 1).toBeLessThanOrEqual(90);
});

/** The attribute of an input that shows what belongs there. */
const HINT = new RegExp(`\\b${words(['place', 'holder'])}(,$|\\?:|=)`);

test('nothing says that it is unfinished', () => {
  const found = readSources(/\.(ts|mjs|js|sol|sql|md|json|ya?ml)$|^\.ci\//)
    .filter(({ path }) => !/^(package-lock\.json|test\/repo\/)|artifacts\//.test(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const isFound = MARKERS.test(line) || (PHRASES.test(line) && !(path.startsWith('console/') && HINT.test(line)));
        return isFound ? [`${path}:${index + 1}: ${line.trim()}`] : [];
      }),
    );
  expect(found).toEqual([]);
});

test('no folder is a drawer for whatever fits nowhere', () => {
  expect(listPaths().filter((path) => /(^|\/)(utils?|helpers?|common|lib|misc|shared)\//.test(path))).toEqual([]);
});

test('no file names a path of somebody’s machine', () => {
  const found = readSources(/\.(ts|mjs|js|sol|sql|md|json|ya?ml|example)$|^\.ci\/|^Dockerfile/)
    .filter(({ path }) => path !== 'package-lock.json' && !path.startsWith('test/repo/'))
    .filter(({ text }) => MACHINE_PATH.test(text))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('no docstring repeats its signature', () => {
  expect(
    readSources(/\.(ts|mjs)$/)
      .filter(({ path }) => !path.startsWith('test/repo/'))
      .filter(({ text }) => PARAGRAPH_REPEATS_SIGNATURE.test(text))
      .map(({ path }) => path),
  ).toEqual([]);
});

test('no test is skipped, focused or retried', () => {
  const found = readSources(/^test\/.*\.ts$|^vitest\.config\.ts$/)
    .filter(({ path }) => !path.startsWith('test/repo/'))
    .filter(({ text }) => /\b(test|it|describe)\.(skip|only|todo|fails)\b|\bretry:\s*[1-9]/.test(text))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('every decision record has a number of its own, a title and a status', () => {
  const records = readSources(/^docs\/adr\/.*\.md$/);
  expect(records.length).toBeGreaterThan(0);
  for (const { path, text } of records) {
    expect(path).toMatch(/^docs\/adr\/\d{4}-[a-z0-9-]+\.md$/);
    expect(text, path).toMatch(/^# \d{4} /);
    expect(text, path).toMatch(/^Status: (proposed|accepted|superseded by \d{4})/m);
  }
  const numbers = records.map(({ path }) => path.slice('docs/adr/'.length, 'docs/adr/0000'.length));
  expect(new Set(numbers).size).toBe(numbers.length);
});
