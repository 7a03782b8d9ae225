/** Where things stand: what a stranger looks for is found by its name, and no folder is too full to be looked through. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listPaths, readSources } from '../../tools/check/sources.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PRODUCT =
  /^(domain|db|chain|adapters|services|workflows|activities|api|graphql|process|bin|tools|sandbox|packages\/publisher\/src)\//;
/** Files that are numbered or generated, or stand as another's rules want them. */
const AS_IT_COMES = /^db\/migrations\//;
const MOST_FILES = 20;

/** What a stranger asks who has read README and ARCHITECTURE, in a sentence, and the file that decides it. */
const RULES: readonly (readonly [question: string, file: string])[] = [
  ['the state machine of a payment: which event may follow which', 'domain/payment/machine.ts'],
  ['the one judgement of a payment by what the chain shows', 'domain/payment/judge.ts'],
  ['the guard that keeps a buyer from paying twice for a page', 'domain/payment/guard.ts'],
  ['when a settled payment becomes final', 'domain/payment/finality.ts'],
  ['how waiting payments are picked for the next batch, so that sites take turns', 'domain/payment/pickBatch.ts'],
  ['the share of a transaction’s gas that each payment is charged', 'domain/payment/gasShare.ts'],
  ['limits on how many payments a payer may have in flight', 'domain/payment/payerLimits.ts'],
  ['how money is divided among authors in legs, remainder included', 'domain/money/legs.ts'],
  ['what a page costs: the price, its floor, the citation multiplier', 'domain/pricing/pricing.ts'],
  ['whether a buyer may still pay the former price after a change', 'domain/pricing/formerPrice.ts'],
  ['the signed token that makes a quote binding', 'services/quotes/token.ts'],
  ['proof that the caller holds the licence they present', 'domain/licence/proof.ts'],
  ['what a licence costs for a longer period', 'domain/licence/period.ts'],
  ['which paths match the scope of a licence with stars', 'domain/pages/scope.ts'],
  ['the challenge by which an owner shows that a host is theirs', 'domain/hosts/challenge.ts'],
  ['how long to wait before a failed webhook delivery is retried', 'domain/webhook/retrySchedule.ts'],
  ['how a receiver verifies the signature of a webhook', 'domain/webhook/signature.ts'],
  ['the threshold at which an anomaly rule fires', 'domain/anomaly/rule.ts'],
  ['how far back the window of a report may read', 'domain/reports/window.ts'],
  ['the enforcement status of a host, judged by what its gate reports', 'domain/gate/enforcementStatus.ts'],
  ['when a signed authorization of x402 is valid', 'domain/x402/authorization.ts'],
  ['the closed list of error codes, and the kind of each', 'domain/errors.ts'],
  ['which of several price rules applies first: their order', 'domain/rules/order.ts'],
  ['how a budget decides on spending: refuse, ask the owner, or allow', 'domain/budget/decide.ts'],
];

/** Words that say nothing of what is looked for. */
const STOP = new Set(
  (
    'a an and are as at be by can does do for from has have how if in into is it its may not of on one or so still that the their them ' +
    'there they this to too was what when which who whose will with where whether'
  ).split(' '),
);
/** Endings that a stranger and a file may have different. */
const ENDINGS = ['ation', 'ment', 'ing', 'ed', 'er', 'ly'];

function stem(word: string): string {
  const singular = word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  const ending = ENDINGS.find((one) => singular.endsWith(one) && singular.length - one.length >= 4) ?? '';
  return singular
    .slice(0, singular.length - ending.length)
    .replace(/e$/, '')
    .replace(/y$/, 'i');
}

/** The words of a name or of a question, each by its stem. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return new Set(words.filter((word) => word.length > 1 && !STOP.has(word)).map(stem));
}

const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;

/** The names that a search goes through: of folders and files, and of what files export. No comment and no line of code. */
const named = readSources(PRODUCT)
  .filter(({ path }) => /\.(ts|mjs)$/.test(path))
  .map(({ path, text }) => ({
    path,
    inPath: wordsOf(path.replace(/\.(ts|mjs)$/, '').replace('/src/', '/')),
    inExports: wordsOf([...text.matchAll(EXPORTED)].map(([, name]) => name).join(' ')),
  }));

const heldBy = new Map<string, number>();
for (const { inPath, inExports } of named) {
  for (const word of new Set([...inPath, ...inExports])) heldBy.set(word, (heldBy.get(word) ?? 0) + 1);
}

/** As search engines do: a rare word counts for more, one of a path twice, and a path with few other words comes before one with many. */
function search(question: string): string[] {
  const wanted = [...wordsOf(question)];
  const scored = named.map(({ path, inPath, inExports }) => {
    const weights = wanted.map((word) => {
      const times = inPath.has(word) ? 2 : inExports.has(word) ? 1 : 0;
      return times * Math.log(1 + named.length / (heldBy.get(word) ?? 1));
    });
    return { path, score: weights.reduce((sum, one) => sum + one, 0) / Math.sqrt(4 + inPath.size) };
  });
  return scored.sort((a, b) => b.score - a.score || a.path.length - b.path.length).map(({ path }) => path);
}

test.each(RULES)('who asks for “%s” finds %s first', (question, file) => {
  expect(search(question)[0]).toBe(file);
});

test('a question is no name of a file: two of its words at least are not in the path', () => {
  expect(RULES.length).toBeGreaterThanOrEqual(20);
  const own = (file: string) => wordsOf(file.replace(/\.ts$/, ''));
  const copied = RULES.filter(([question, file]) => [...wordsOf(question)].filter((word) => !own(file).has(word)).length < 2);
  expect(copied).toEqual([]);
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
