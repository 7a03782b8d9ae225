/** One word, one meaning: words that were taken out of the code do not come back (docs/words.md). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Source } from '../../tools/check/sources.ts';
import { listPaths, readSources } from '../../tools/check/sources.ts';

const PRODUCT = /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools)\/.*\.ts$/;
/** Where files are named by the same rules, besides. */
const NAMED =
  /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools|sandbox|packages|console)\/.*\.(ts|mjs)$/;

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

test('no file and no folder is named by a word that says nothing of what it holds', () => {
  const names = new Set(tableOf('Names that no file has').flatMap(([, name = '']) => name.split(', ')));
  expect([GONE.length > 0, names.size > 0]).toEqual([true, true]);
  const partsOf = (path: string) => path.replace(/\.(ts|mjs)$/, '').split('/');
  expect(listPaths().filter((path) => NAMED.test(path) && partsOf(path).some((part) => names.has(part)))).toEqual([]);
});

/** Source without its comments and its strings in quotes; SQL and other templates stay, without what they quote. */
function codeOf({ path, text }: Source): string {
  if (path.endsWith('.sql')) return text.replace(/--.*|'(?:''|[^'])*'/g, "''");
  const isSkipped = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
  return text.replace(isSkipped, "''");
}

/** Site on its own as a name, not as a word of a sentence. */
const SITE_ALONE = /(?<![-\w])[Ss]ites?(?=\s*[:.=,;)\]}?[(|]|\s+uuid)|(?<=\b(?:const|let|from|as|join|with)\s)sites?\b/g;

/** The names in a piece of code that say site. */
function siteNames(code: string): readonly string[] {
  const longer = (code.match(/(?<![-\w])[A-Za-z_]\w*/g) ?? []).filter(
    (name) => wordsOf(name).has('site') && !/^[Ss]ites?$/.test(name),
  );
  return [...new Set([...longer, ...(code.match(SITE_ALONE) ?? [])])].sort();
}

/** Where a name is not ours to choose. */
const PUBLIC_SITES: Readonly<Record<string, readonly string[]>> = {
  'db/credentials/owners.ts': ['site'], // whose token it is, as owners' rows have it
  'db/operator/gauges.ts': ['site'], // a label of a metric
  'domain/access/accessToken.ts': ['site'], // a claim of a token
  'domain/errors.ts': ['cross_site', 'site_suspended'], // codes of errors
  'domain/licence/licence.ts': ['site'], // a claim of a licence
};

test('in the database, in the rules, and from the signature to the ledger no name says site: a row belongs to a tenant', () => {
  const named = readSources(/^((domain|db|services\/settlement|workflows)\/.*\.ts|db\/migrations\/.*\.sql)$/);
  expect(named.length).toBeGreaterThan(300);
  const says = named.map((source) => [source.path, siteNames(codeOf(source))] as const);
  expect(Object.fromEntries(says.filter(([, names]) => names.length > 0))).toEqual(PUBLIC_SITES);
});
