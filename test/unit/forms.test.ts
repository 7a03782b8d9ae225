/** Which addresses are forms of an article, by the rule alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseResource } from '../../modules/kernel/hosts/host.ts';
import { articlesOf, DEFAULT_FORMS, isForm, isFormOf, resourceOfArticle } from '../../modules/kernel/pages/forms.ts';
import { mayBeForm, prefersMarkdown, tokensIn } from '../../packages/publisher/src/core/forms.ts';
import { ACCEPTS, FORMS } from '../support/forms.ts';

test.each(FORMS)('%s may be a form of %j, and its path of theirs', (slug, articles) => {
  expect(articlesOf(slug, DEFAULT_FORMS).map((one) => one.slug)).toEqual(articles);
  const path = `/articles/${slug}`;
  for (const article of articles) expect(isFormOf(path, `/articles/${article}`, DEFAULT_FORMS)).toBe(true);
  expect(isFormOf(path, path, DEFAULT_FORMS)).toBe(false);
  // The gate asks the service about every address that the service might take for a form.
  if (articles.length > 0) expect(mayBeForm(DEFAULT_FORMS, path)).toBe(true);
});

test('a site without forms has none, and one with its own has no others', () => {
  expect(articlesOf('trio.md', [])).toEqual([]);
  expect(articlesOf('trio/embed', ['/embed']).map(({ slug }) => slug)).toEqual(['trio']);
  expect(articlesOf('trio.md', ['/embed'])).toEqual([]);
});

test('whatever is asked for, there are at most four articles, each with a name, and never the address itself', () => {
  const part = fc.constantFrom('trio', 'a', '/', '.', ...DEFAULT_FORMS);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const slug = parts.join('');
      const slugs = articlesOf(slug, DEFAULT_FORMS).map((one) => one.slug);
      expect(slugs.length).toBeLessThanOrEqual(4);
      for (const one of slugs) expect(one === '' || one.endsWith('/')).toBe(false);
      expect(slugs).not.toContain(slug);
    }),
  );
});

test('a form that a site may set is an ending or one part of a path', () => {
  const [good, bad] = [
    ['.md', '.markdown', '/amp', '/amp.html', '/print-view'],
    ['md', '', '.', '/', '/a/b', '.m d', '/..', '.md?x', '/%2e', `/${'a'.repeat(40)}`],
  ];
  expect([good.every(isForm), bad.some(isForm)]).toEqual([true, false]);
});

test('the address of an article is that of its form without what makes it one, and without a query', () => {
  const form = parseResource('https://a.example/articles/%D1%81%20b.md?utm=1');
  if (!form) throw new Error('no resource');
  expect(resourceOfArticle(form, 'с b.md', 'с b')).toEqual(parseResource('https://a.example/articles/%D1%81%20b'));
});

test.each(ACCEPTS)('Accept: %s asks for Markdown: %s', (accept, isMarkdown) => {
  expect(prefersMarkdown(accept)).toBe(isMarkdown);
});

test('a token is four octets, and what is begun counts', () => {
  expect([0, 1, 4, 5, 4_000].map(tokensIn)).toEqual([0, 1, 1, 2, 1_000]);
});
