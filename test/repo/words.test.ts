/** One word, one meaning: words that were taken out of the code do not come back (docs/words.md). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listPaths, readSources } from '../../tools/check/sources.ts';

const PRODUCT = /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools)\/.*\.ts$/;

/** The cells of the table below a heading of docs/words.md, without its head. */
function tableOf(heading: string): readonly (readonly string[])[] {
  const text = readFileSync('docs/words.md', 'utf8');
  const section = text.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) => row.split('|').map((cell) => cell.trim()));
}

/** The words of names and sentences, lower case, each without the ending of its plural. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return new Set(words.map((word) => word.replace(/([^s])s$/, '$1')));
}

const product = readSources(PRODUCT).map(({ path, text }) => ({ path, words: wordsOf(text) }));
const GONE = tableOf('Words that are gone').map(([, word = '', , files = '']) => [word, files] as const);

test.each(GONE)('“%s” stands only where a column, a wire name or a standard spells it so', (word, files) => {
  const allowed = [...files.matchAll(/`([^`]+)`/g)].map(([, path]) => path);
  expect(product.filter(({ words }) => words.has(word)).map(({ path }) => path)).toEqual(allowed.sort());
});

test('no file is named by a word that says nothing of what it holds', () => {
  const names = new Set(tableOf('Names that no file has').map(([, name]) => name));
  expect([GONE.length > 0, names.size > 0]).toEqual([true, true]);
  const named = listPaths().filter((path) => PRODUCT.test(path) && names.has(/([^/]+)\.ts$/.exec(path)?.[1] ?? ''));
  expect(named).toEqual([]);
});

test('from the signature to the ledger no name says site: a row belongs to a tenant', () => {
  const money = /^(domain\/(payment|money)|db\/settlement|services\/settlement|workflows)\//;
  const named = readSources(PRODUCT).filter(({ path }) => money.test(path));
  expect(named.length).toBeGreaterThan(80);
  const says = /[a-z]Sites?\b|\b(const|let) sites?\b|\bsite(Id|_id)\b/;
  expect(named.filter(({ text }) => says.test(text)).map(({ path }) => path)).toEqual([]);
});
