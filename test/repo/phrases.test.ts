/** What people read is said as a native writer of the field says it: the phrases of docs/words.md do not come back. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

/** Every page; words.md names the phrases. */
const PAGE = /^(?!docs\/words\.md).*(\.md|\/readme\.txt)$/;
const API = /^(schema\.graphql|openapi\.json)$/;
/** Where strings are read by people: errors, logs, help of commands, the console. */
const PRODUCT =
  /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools|sandbox|packages|console|examples)\/.*\.(ts|mjs|js|php)$/;

const section = readFileSync('docs/words.md', 'utf8').split('## Phrases we avoid')[1] ?? '';
const PHRASES = [...section.matchAll(/^\| (?!Phrase )([a-z ]+) \|/gm)].map(([, phrase = '']) => phrase);

/** A page without code: a name in it is a name. */
const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/**
 * A source without its comments and the paths of its imports. A `//` inside of a string ends nothing: no address of ours is followed by a
 * phrase.
 */
const withoutComments = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/ .*$/gm, '')
    .replace(/\bfrom '[^']+'/g, '');

/** The strings of a source, a line each. */
const stringsOf = (text: string): string =>
  [...withoutComments(text).matchAll(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g)]
    .map(([one]) => one)
    .join('\n');

const read = [
  ...readSources(PAGE).map(({ path, text }) => ({ path, text: withoutCode(text) })),
  ...readSources(API),
  ...readSources(PRODUCT).map(({ path, text }) => ({ path, text: stringsOf(text) })),
].map(({ path, text }) => ({ path, text: text.replace(/\s+/g, ' ') }));

test('pages, decisions, descriptions, errors and the console are among the texts', () => {
  expect(PHRASES.length).toBeGreaterThan(15);
  for (const path of [
    'README.md',
    'CHANGELOG.md',
    'docs/owners.md',
    'docs/adr/0018-a-ledger-behind-the-chain.md',
    'schema.graphql',
    'openapi.json',
    'console/shell/shell.ts',
    'services/budget/refuse.ts',
  ]) {
    expect(read.find((one) => one.path === path)?.text ?? '').not.toBe('');
  }
});

test.each(PHRASES)('nothing that people read says “%s”', (phrase) => {
  const says = new RegExp(`\\b${phrase}\\b`, 'i');
  expect(read.filter(({ text }) => says.test(text)).map(({ path }) => path)).toEqual([]);
});
