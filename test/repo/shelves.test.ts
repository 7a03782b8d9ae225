/** Where things stand: what a stranger looks for is found by its name, and no folder is too full to be looked through. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listPaths } from '../../tools/check/sources.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRODUCT =
  /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools|sandbox|packages\/publisher\/src)\//;
/** Files that are numbered or generated, or stand as another's rules want them. */
const AS_IT_COMES = /^db\/migrations\//;
const MOST_FILES = 20;

const product = listPaths().filter((path) => PRODUCT.test(path) && /\.(ts|mjs)$/.test(path));

/** Twenty things that are looked for, in the words of somebody who has read the README, and the file that decides them. */
const RULES: readonly (readonly [words: string, file: string])[] = [
  ['payment machine', 'domain/payment/machine.ts'],
  ['judge payment', 'domain/payment/judge.ts'],
  ['payment guard', 'domain/payment/guard.ts'],
  ['payment finality', 'domain/payment/finality.ts'],
  ['pick batch', 'domain/payment/pickBatch.ts'],
  ['gas share', 'domain/payment/gasShare.ts'],
  ['payer limits', 'domain/payment/payerLimits.ts'],
  ['money legs', 'domain/money/legs.ts'],
  ['pricing of a page', 'domain/pricing/pricing.ts'],
  ['former price', 'domain/pricing/formerPrice.ts'],
  ['quote token', 'services/quotes/token.ts'],
  ['licence proof', 'domain/licence/proof.ts'],
  ['licence period', 'domain/licence/period.ts'],
  ['scope of pages', 'domain/pages/scope.ts'],
  ['host challenge', 'domain/hosts/challenge.ts'],
  ['webhook retry', 'domain/webhook/retry.ts'],
  ['webhook signature', 'domain/webhook/signature.ts'],
  ['anomaly rule', 'domain/anomaly/rule.ts'],
  ['report window', 'domain/reports/window.ts'],
  ['enforcement status', 'domain/gate/enforcementStatus.ts'],
  ['x402 authorization', 'domain/x402/authorization.ts'],
  ['closed list of errors', 'domain/errors.ts'],
];

/** The words of a path or of a question, lower case, each without the ending of its plural. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2 && word !== 'the')
    .map((word) => (word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word));
}

/** Paths by how many of the words their names hold; among equals the ones with the fewest words besides. Rules before what applies them. */
function search(words: string): string[] {
  const wanted = wordsOf(words);
  const score = (path: string): number => {
    const own = new Set(wordsOf(path.replace(/\.(ts|mjs)$/, '')));
    const found = wanted.filter((word) => own.has(word)).length;
    return found * 100 - own.size + (path.startsWith('domain/') ? 50 : 0);
  };
  return [...product].sort((a, b) => score(b) - score(a) || a.length - b.length);
}

test.each(RULES)('who looks for “%s” finds %s first', (words, file) => {
  expect(search(words)[0]).toBe(file);
});

test(`no folder holds more than ${MOST_FILES} files, and none a single one`, () => {
  const folders = new Map<string, { files: number; folders: number }>();
  const of = (folder: string) => folders.get(folder) ?? { files: 0, folders: 0 };
  for (const path of listPaths().filter((one) => PRODUCT.test(one) && !AS_IT_COMES.test(one))) {
    const parts = path.split('/').slice(0, -1);
    const folder = parts.join('/');
    folders.set(folder, { ...of(folder), files: of(folder).files + 1 });
    const parent = parts.slice(0, -1).join('/');
    if (parent !== '') folders.set(parent, { ...of(parent), folders: of(parent).folders + 1 });
  }
  const full = [...folders].filter(([, { files }]) => files > MOST_FILES).map(([folder]) => folder);
  const alone = [...folders].filter(([, { files, folders: below }]) => files === 1 && below === 0).map(([folder]) => folder);
  expect({ full, alone }).toEqual({ full: [], alone: [] });
});

test('every place that ARCHITECTURE names under “To add something” is there', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = text.slice(text.indexOf('### To add something'), text.indexOf('## Life of a payment'));
  const named = [...section.matchAll(/`([a-zA-Z]+\/[^`]*|[a-z-]+\.yml)`/g)].map(
    ([, path = '']) => path.split(/[<…]|NN/)[0] ?? '',
  );
  expect(named.length).toBeGreaterThan(20);
  const paths = listPaths();
  expect(named.filter((place) => !paths.some((path) => path.startsWith(place)))).toEqual([]);
});
