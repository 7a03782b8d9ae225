/** A comment may send its reader elsewhere only if something is there. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { listPaths, readSources } from '../../tools/check/sources.ts';
import { FAULTS } from '../fault/list.ts';

const CODE = readSources(/\.(ts|mjs|js|sql|sol|php|ya?ml|cfg)$/).filter(({ path }) => path !== 'test/repo/references.test.ts');
const PAGES = readSources(/\.md$/);
const ADRS = listPaths()
  .filter((path) => path.startsWith('docs/adr/'))
  .map((path) => path.slice(9, 13));
const textOf = (path: string): string => readFileSync(path, 'utf8');
const RULES = new Set([...textOf('docs/invariants.md').matchAll(/<a id="safety-(\d+)">/g)].map(([, id]) => id));
const DECISIONS = new Set([...textOf('docs/adr/README.md').matchAll(/^\| (\d+\.\d+) \|/gm)].map(([, id]) => id));

/** Where `named` is said with a number or name that `isThere` does not know. */
function dangling(named: RegExp, isThere: (name: string) => boolean): readonly string[] {
  return [...CODE, ...PAGES].flatMap(({ path, text }) =>
    [...text.matchAll(named)].flatMap(([said, list = '']) =>
      (list.match(/\d+(?:\.\d+)?/g) ?? []).filter((name) => !isThere(name)).map((name) => `${path}: ${said} (${name})`),
    ),
  );
}

test('a rule that keeps money safe, a decision, an ADR and a fault that is named by its number is there', () => {
  expect([RULES.size, DECISIONS.size > 0]).toEqual([26, true]);
  expect(dangling(/\bsafety (\d+(?:(?:, | and )\d+)*)/g, (name) => RULES.has(name))).toEqual([]);
  expect(dangling(/\bdecisions? (\d+\.\d+(?:(?:, | and )\d+\.\d+)*)/g, (name) => DECISIONS.has(name))).toEqual([]);
  expect(dangling(/\bADRs? (\d{4}(?:(?:, | and )\d{4})*)/g, (name) => ADRS.includes(name))).toEqual([]);
  expect(dangling(/\(faults? (\d+(?:(?:, |–| to )\d+)*)/g, (name) => FAULTS.some(({ id }) => id === Number(name)))).toEqual([]);
});

test('a page that a comment names is in the repository, and no comment names a paper that is not', () => {
  const pages = CODE.flatMap(({ path, text }) =>
    [...text.matchAll(/\bdocs\/[\w./-]+\.(?:md|json)\b/g)].map(([page]) => ({ path, page })),
  );
  expect(pages.filter(({ page }) => !existsSync(page))).toEqual([]);
  const absent =
    /\bDESIGN\b|\b(?:decisions?|reviews?|reference) §|\bx402 tests? \d|\breference\/\w+\.md|\bsafety\.md|\bnaming\.md/;
  expect([...CODE, ...PAGES].filter(({ text }) => absent.test(text)).map(({ path }) => path)).toEqual([]);
});

test('a link of a page leads to a file of the repository, and to a heading that is there', () => {
  const broken = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, to = '', anchor]) => {
      const file = to === '' ? path : normalize(join(dirname(path), to));
      if (!existsSync(file)) return [`${path}: ${link}`];
      return anchor === undefined || anchorsOf(textOf(file)).has(anchor) ? [] : [`${path}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});

/** The anchors of a page as its readers make them: of headings, and those written by hand. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}
