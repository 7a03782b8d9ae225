import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

/** Words are split here, so that this file does not hold what it forbids. */
const words = (...parts: readonly string[][]): string => parts.map((pair) => pair.join('')).join('|');
const MARKERS = new RegExp(`\\b(${words(['TO', 'DO'], ['FIX', 'ME'], ['X', 'XX'])})\\b`);
const PHRASES = new RegExp(
  `\\b(${words(['st', 'ub'], ['place', 'holder'], ['for', ' now'], ['not', ' implemented'])})s?\\b`,
  'i',
);
const MACHINE_PATH = /(^|["'`\s(=:])\/(work|root|home|Users)\/[\w.-]/m;

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

test('no file names a path of somebody’s machine', () => {
  const found = readSources(/\.(ts|mjs|js|sol|sql|md|json|ya?ml|example)$|^\.ci\/|^Dockerfile/)
    .filter(({ path }) => path !== 'package-lock.json' && !path.startsWith('test/repo/'))
    .filter(({ text }) => MACHINE_PATH.test(text))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('no test is skipped, focused or retried', () => {
  const found = readSources(/^test\/.*\.ts$|^vitest\.config\.ts$/)
    .filter(({ path }) => !path.startsWith('test/repo/'))
    .filter(({ text }) => /\b(test|it|describe)\.(skip|only|todo|fails)\b|\bretry:\s*[1-9]/.test(text))
    .map(({ path }) => path);
  expect(found).toEqual([]);
});

test('every decision record has a number of its own, a title and a status', () => {
  const records = readSources(/^docs\/adr\/(?!README\.md$).*\.md$/);
  expect(records.length).toBeGreaterThan(0);
  for (const { path, text } of records) {
    expect(path).toMatch(/^docs\/adr\/\d{4}-[a-z0-9-]+\.md$/);
    expect(text, path).toMatch(/^# \d{4} /);
    expect(text, path).toMatch(/^Status: (proposed|accepted|superseded by \d{4})/m);
  }
  const numbers = records.map(({ path }) => path.slice('docs/adr/'.length, 'docs/adr/0000'.length));
  expect(new Set(numbers).size).toBe(numbers.length);
});
