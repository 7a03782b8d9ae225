import { expect, test } from 'vitest';
import { parseResource, resourceKeyOf } from '../../modules/kernel/hosts/host.ts';
import { locatePage, normalisePrefix, plainSlug, slugOf } from '../../modules/kernel/pages/resource.ts';
import { canonicalPath, compilePattern, matches } from '../../modules/kernel/pages/scope.ts';

test('spellings of one page have one host, path and key', () => {
  const spellings = [
    'https://alpha.example/articles/solo',
    'http://ALPHA.example:80/articles/solo/',
    'https://alpha.example./articles/%73olo?utm=1#top',
    'https://alpha.example/other/../articles/solo',
    'https://alpha.example/articles//solo',
    'https://alpha.example//articles/solo',
    'https://alpha.example///articles/%2F/solo//',
  ];
  for (const spelling of spellings) {
    const parsed = parseResource(spelling);
    expect(parsed && resourceKeyOf(parsed)).toBe('alpha.example/articles/solo');
  }
});

test.each([
  '',
  '/a',
  'ftp://a.example/',
  'https://',
  'https://u:p@a.example/',
  'javascript:alert(1)',
  'https://a.example/\n',
  `https://a.example/${'x'.repeat(2048)}`,
])('%j is no resource', (text) => {
  expect(parseResource(text)).toBeNull();
});

test.each(['/%ff', '/a%00b', '/%'])(
  'a path whose escapes are no plain text (%j) is a page of its own, compared as sent',
  (path) => {
    expect(parseResource(`https://a.example${path}`)).toMatchObject({ url: `https://a.example${path}`, path });
  },
);

test.each([
  ['/', '/'],
  ['//', '/'],
  ['/a//', '/a'],
  ['//a///b/', '/a/b'],
  ['/a%2f%2Fb', '/a/b'],
  ['/%ff//b/', '/%ff/b'],
  ['/a/x%2f..%2fb', '/a/b'],
  ['/a/.%2Fb', '/a/b'],
  ['/a%2f..%2f..%2f..%2fb', '/b'],
  ['/a/..%2f', '/'],
  ['/a/.b/..c', '/a/.b/..c'],
])('%s is the page %s: slashes are merged and dots resolved after decoding', (given, path) => {
  expect(parseResource(`https://a.example${given}`)?.path).toBe(path);
});

test('slugs, prefixes and patterns merge their slashes by the same rule', () => {
  expect([plainSlug('/solo'), plainSlug('a//b'), plainSlug('a/b')]).toEqual(['solo', 'a/b', 'a/b']);
  expect(['//a//b', 'a/b', '/', ''].map(normalisePrefix)).toEqual(['/a/b/', '/a/b/', '/', '/']);
  for (const pattern of ['/a//b$', '//a/b', '/a//*', '/*//b$']) {
    expect(matches(compilePattern(pattern), canonicalPath('//a///b')), pattern).toBe(true);
  }
  expect(matches(compilePattern('/a//b/c'), canonicalPath('/a/b'))).toBe(false);
});

test('a publisher behind a TLS proxy names its pages as its readers do', () => {
  expect(parseResource('http://a.example/x')?.url).toBe('https://a.example/x');
  expect(parseResource('http://a.example:8080/x')?.url).toBe('http://a.example:8080/x');
  expect(parseResource('http://127.0.0.1/x')?.url).toBe('http://127.0.0.1/x');
});

test('the longest article prefix that fits gives the slug, and a prefix alone is no article', () => {
  expect(slugOf(['/a/', '/a/b'], '/a/b/c')).toBe('c');
  expect(slugOf(['/a'], '/a/b/c')).toBe('b/c');
  expect(slugOf(['/a/'], '/ab/c')).toBeNull();
  expect(slugOf(['/a/'], '/a')).toBeNull();
  expect(slugOf(null, '/x/y')).toBe('x/y');
  expect(slugOf(null, '/')).toBeNull();
  expect(slugOf([], '/x')).toBeNull();
});

test('a slug alone is on the first host under the first prefix, encoded', () => {
  const site = { hosts: ['a.example', 'b.example'], articlePrefixes: ['/articles/', '/notes/'] };
  expect(locatePage(site, { slug: 'ein täg/x y' })).toMatchObject({
    resource: { url: 'https://a.example/articles/ein%20t%C3%A4g/x%20y'.replace('ein%20', 'ein%20'), host: 'a.example' },
    slug: 'ein täg/x y',
  });
  for (const slug of ['../x', 'x/', '.', 'a\u0000', 'half \ud800', 'x'.repeat(600)]) {
    expect(() => locatePage(site, { slug })).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  }
});
