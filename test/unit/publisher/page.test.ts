import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseResource } from '../../../modules/kernel/hosts/host.ts';
import { slugOf as domainSlugOf, normalisePrefix } from '../../../modules/kernel/pages/resource.ts';
import type { Scope } from '../../../packages/publisher/src/core/page.ts';
import { isInScope, pathnameOf, plainPath, resourceOf, slugOf, spellingsOf } from '../../../packages/publisher/src/core/page.ts';

const ORIGIN = 'https://alpha.example';
const OPEN = /^\/(robots\.txt|sitemap\.xml|security\.txt|crawlers\.json|\.well-known(\/.*)?)$/;
const part = fc.constantFrom('articles', 'Articles', 'ARTICLES', 'blog', 'solo', 'SOLO', 'a', '..', '.', '', 'x.pdf', 'api');
const odd = fc.constantFrom(
  '%2f',
  '%2F',
  '%2e',
  '%2e%2e',
  '%25',
  '%ff',
  '%00',
  '%',
  '%E2%84%AA',
  'é',
  ';a=1',
  '\\',
  '+',
  '%20',
  'İ',
  '~',
);
const separator = fc.constantFrom('/', '//', '/./', '/../');
/** Request targets as an attacker spells them; a raw space ends a target of HTTP. */
const targets = fc
  .array(fc.oneof({ weight: 4, arbitrary: part }, { weight: 2, arbitrary: separator }, odd, fc.string({ maxLength: 4 })), {
    maxLength: 12,
  })
  .map((parts) => `/${parts.join('').replaceAll(' ', '')}`);
const prefixLists = fc.uniqueArray(
  fc.constantFrom('/articles/', '/', '/Blog/', '/a/', '/articles/solo/', '/ü/').map(normalisePrefix),
  { maxLength: 3 },
);

/** The path that the service reads from the page's address; undefined for what is no address at all. */
const serviceSays = (target: string) => parseResource(`${ORIGIN}${target}`)?.path;

describe('the package and the service', () => {
  test('read the same path from every spelling of an address, and from the address that the package makes of it', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const expected = serviceSays(target);
        const pathname = pathnameOf(target);
        fc.pre(expected !== undefined && pathname !== null);
        const path = plainPath(pathname);
        expect(path).toBe(expected);
        expect(serviceSays(resourceOf('', path))).toBe(path);
      }),
      { numRuns: 2_000 },
    );
  });

  test('give a path the same slug, and a path that the service prices is one that the package asks about', () => {
    fc.assert(
      fc.property(targets, prefixLists, (target, articlePrefixes) => {
        const pathname = pathnameOf(target);
        fc.pre(pathname !== null);
        const path = plainPath(pathname);
        const slug = domainSlugOf(articlePrefixes, path);
        expect(slugOf(articlePrefixes, path)).toBe(slug);
        fc.pre(slug !== null && !OPEN.test(path));
        const scopes: Scope[] = [
          { articlePrefixes, gateScope: { mode: 'prefixes' } },
          { articlePrefixes, gateScope: { mode: 'site', excludePrefixes: ['/elsewhere/'] } },
          { articlePrefixes, gateScope: { mode: 'site', excludePrefixes: [], includeExtensions: ['.html'] } },
        ];
        for (const scope of scopes) expect(isInScope(scope, path)).toBe(true);
        expect(spellingsOf(articlePrefixes, path)[0]).toBe(path);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a path that differs from a priced one by the size of its letters is asked about as that one, too', () => {
    fc.assert(
      fc.property(fc.mixedCase(fc.constantFrom('/articles/solo', '/articles/a/b', '/blog/solo')), (path) => {
        const prefixes = ['/articles/', '/Blog/'];
        expect(isInScope({ articlePrefixes: prefixes, gateScope: { mode: 'prefixes' } }, path)).toBe(true);
        const wanted = path.toLowerCase().replace('/blog/', '/Blog/');
        expect(spellingsOf(prefixes, path)).toContain(wanted);
        expect(spellingsOf(prefixes, path).length).toBeLessThanOrEqual(3);
      }),
    );
  });
});

const site = (excludePrefixes: string[], includeExtensions?: string[]): Scope => ({
  articlePrefixes: ['/articles/'],
  gateScope: { mode: 'site', excludePrefixes, ...(includeExtensions ? { includeExtensions } : {}) },
});

test.each([
  ['/api', ['/api/'], undefined, false],
  ['/api/x', ['/api'], undefined, false],
  ['/apiary', ['/api'], undefined, true],
  ['/articles/solo', ['/articles/'], undefined, false],
  ['/logo.png', [], ['.pdf'], false],
  ['/paper.PDF', [], ['.pdf'], true],
  ['/paper', [], ['.pdf'], true],
  ['/articles/v1.png', [], ['.pdf'], true],
  ['/robots.txt', [], undefined, false],
  ['/.well-known/x', [], undefined, false],
])('site mode: %s with %j left out and endings %j is asked about: %s', (path, excluded, endings, isAsked) => {
  expect(isInScope(site(excluded, endings), path)).toBe(isAsked);
});

test.each(['*', '', 'http://', '/a/../articles/solo', '/articles/%2e%2e/solo'])('%j is no path of a page', (target) => {
  expect(pathnameOf(target)).toBeNull();
});

test.each([
  ['//evil.example/articles/solo', '//evil.example/articles/solo'],
  ['http://evil.example/articles/solo?x', '/articles/solo'],
  ['ftp://a/articles/solo#x', '/articles/solo'],
])('the target %s is the path %s, whatever host it names', (target, pathname) => {
  expect(pathnameOf(target)).toBe(pathname);
});
