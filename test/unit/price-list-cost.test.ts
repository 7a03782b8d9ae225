import { expect, test } from 'vitest';
import { normalisePrefix } from '../../modules/kernel/pages/resource.ts';
import { listPage, namedPages, priceSteps } from '../../modules/pricing/rules/priceList.ts';
import { compilePricing, validatePricing } from '../../modules/pricing/rules/pricing.ts';
import { rslPaths } from '../../modules/pricing/rules/rsl/paths.ts';
import { pricingOf, ruleOf } from '../support/rules/arbitrary.ts';
import { slowness } from '../support/turns.ts';

test('pricing each page of a catalogue below a thousand long prefixes ends long before a query’s time does', () => {
  const prefixes = Array.from({ length: 1_000 }, (_, at) => `/${at}`.padEnd(500, 'x'));
  const pricing = pricingOf({ articlePrefixes: prefixes });
  const [before, after] = [compilePricing(pricing, 1n), compilePricing({ ...pricing, priceUsdc: '0.02' }, 1n)];
  // An eighth of the most pages that are looked at, so that the bug takes seconds here and not a minute.
  const imported = [...prefixes, ...prefixes, ...prefixes].map((prefix, at) => ({
    slug: `${at}`,
    path: `${prefix}/${at}`,
    title: null,
    isCredited: false,
  }));
  const pages = namedPages(imported, [before, after]);
  const start = process.threadCpuUsage();
  expect(pages.map((page) => listPage(before, page, 0).slug)).toEqual(pages.map(({ importedSlug }) => importedSlug));
  expect(priceSteps(pages, { before, after, atMs: 0 }).map((step) => step.pages)).toEqual([3_000]);
  const { user, system } = process.threadCpuUsage(start);
  expect((user + system) / 1_000).toBeLessThan(1_200 * slowness());
});

test('two hundred rules beside a thousand prefixes are judged and laid out as patterns in the time of a page, and free slugs name a thousand pages', () => {
  const articlePrefixes = Array.from({ length: 1_000 }, (_, at) => `/p${at}/`);
  const operators = Array.from({ length: 50 }, (_, at) => `${'a'.repeat(60)}.${'b'.repeat(60)}.${at}.example`);
  const rules = Array.from({ length: 200 }, (_, at) =>
    ruleOf({ id: `r${at}`, path: `/p${at}/*a*b*c*d*e*${at}x`, operators, effect: 'free' }),
  );
  const creditsFreeSlugs = Array.from({ length: 1_000 }, (_, at) => `free-${at}`);
  const pricing = pricingOf({ rules, articlePrefixes, creditsFreeSlugs });
  const start = process.threadCpuUsage();
  validatePricing(pricing, null);
  expect(rslPaths(compilePricing(pricing, 1n), 0).filter(({ pattern }) => pattern.endsWith('$'))).toHaveLength(1_000);
  const { user, system } = process.threadCpuUsage(start);
  expect((user + system) / 1_000).toBeLessThan(1_500 * slowness());
});

test('an article prefix is compared in one form, however it is written', () => {
  for (const written of ['/a', 'a', 'a/', '/a/', '//a//', '/a//']) expect(normalisePrefix(written)).toBe('/a/');
  expect(['', '/', '//'].map(normalisePrefix)).toEqual(['/', '/', '/']);
});

test('the patterns of a price are compared once between two moments at which a rule begins or ends, however often anybody asks for them', () => {
  const rules = [ruleOf({ id: 'sale', path: '/blog/', effect: { price: '0.03' }, fromMs: 1_000, untilMs: 2_000 })];
  const { classes } = compilePricing(pricingOf({ rules }), 1n);
  const isInForce = (atMs: number): boolean => classes(atMs).some(({ pattern }) => pattern === '/blog/');
  for (const [fromMs, untilMs] of [
    [0, 999],
    [1_000, 1_999],
    [2_000, 9_000],
  ] as const) {
    expect(classes(untilMs)).toBe(classes(fromMs));
  }
  expect([0, 1_000, 999, 1_999, 2_000, 1_000, 9_000].map(isInForce)).toEqual([false, true, false, true, false, true, false]);
});
