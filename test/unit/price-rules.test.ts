import { expect, test } from 'vitest';
import type { Asked } from '../../modules/pricing/rules/compiled.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import type { Pricing } from '../../modules/pricing/rules/pricing.ts';
import { compilePricing, requireRuleFloor, validatePricing } from '../../modules/pricing/rules/pricing.ts';
import type { PriceRule } from '../../modules/pricing/rules/rule.ts';
import { pricingOf, ruleOf } from '../support/rules/arbitrary.ts';

const FLOOR = 1_000n;
const READ = { ...NOBODY, path: '/blog/a', slug: 'blog/a', kind: 'read', atMs: 5 } as const satisfies Asked;

function resolve(pricing: Partial<Pricing>, asked: Partial<Asked> = {}) {
  const found = compilePricing(pricingOf(pricing), FLOOR).resolve({ ...READ, ...asked });
  if (found.kind === 'free') return found.because;
  return found.kind === 'refused' ? `refused by ${found.ruleId}` : `${found.micro} by ${found.ruleId}`;
}

function refusal(rules: readonly PriceRule[], pricing: Partial<Pricing> = {}): string {
  try {
    validatePricing(pricingOf({ ...pricing, rules }), null);
    requireRuleFloor(pricingOf({ ...pricing, rules }), FLOOR);
    return 'set';
  } catch (error) {
    return (error as Error).message;
  }
}

test('the longest pattern decides, and of as long ones the operator before the category before neither', () => {
  const rules = [
    ruleOf({ id: 'all', effect: { price: '0.02' } }),
    ruleOf({ id: 'blog', path: '/blog/', effect: { price: '0.03' } }),
    ruleOf({ id: 'train', path: '/blog/', categories: ['train'], effect: 'refuse' }),
    ruleOf({ id: 'openai', path: '/blog/', operators: ['openai.com'], effect: 'free' }),
  ];
  expect(resolve({ rules })).toBe('30000 by blog');
  expect(resolve({ rules }, { category: 'train' })).toBe('refused by train');
  expect(resolve({ rules }, { category: 'train', operator: 'openai.com' })).toBe('free_rule');
  expect(resolve({ rules }, { path: '/news', slug: 'news', operator: 'openai.com' })).toBe('20000 by all');
});

test.each(['articles/', '/a?b', '/a#b', '/a\u0000/', '/half \ud800/'])('%j is no article prefix', (prefix) => {
  expect(refusal([], { articlePrefixes: [prefix] })).toMatch(/^article_prefixes: each prefix is a path/);
});

test('an operator is a host and no part of one, and nobody is one without being verified', () => {
  const rules = [ruleOf({ id: 'openai', operators: ['openai.com'], effect: 'free' })];
  const asked = [null, 'openai.com.evil.example', 'crawl.openai.com', 'evilopenai.com', 'openai.com'];
  expect(asked.map((operator) => resolve({ rules }, { operator }))).toEqual([...Array(4).fill('10000 by null'), 'free_rule']);
});

test('who asks for several uses pays for the dearest, and is refused where one is', () => {
  const rules = [
    ruleOf({ id: 'search', terms: ['search'], effect: 'free' }),
    ruleOf({ id: 'train', terms: ['ai-train'], effect: 'refuse' }),
    ruleOf({ id: 'input', terms: ['ai-input'], effect: { price: '0.1' } }),
  ];
  expect(resolve({ rules }, { terms: ['search'] })).toBe('free_rule');
  expect(resolve({ rules }, { terms: ['search', 'ai-input'] })).toBe('100000 by input');
  expect(resolve({ rules }, { terms: ['search', 'ai-index'] })).toBe('10000 by null');
  expect(resolve({ rules }, { terms: ['search', 'ai-train'] })).toBe('refused by train');
  expect(resolve({ rules }, { terms: ['all'] })).toBe('refused by train');
  expect(resolve({ rules })).toBe('10000 by null');
});

test('a citation costs its own price, or that of a read times the multiplier', () => {
  const both = ruleOf({ id: 'both', effect: { price: '0.02' } });
  const citation = ruleOf({ id: 'cited', kind: 'citation', effect: { price: '0.03' } });
  expect(resolve({ rules: [both], citationMultiplier: '3' }, { kind: 'citation' })).toBe('60000 by both');
  expect(resolve({ rules: [both, citation] }, { kind: 'citation' })).toBe('30000 by cited');
  expect(resolve({ rules: [both, citation] })).toBe('20000 by both');
});

test('a rule holds from its first millisecond to the one before its last', () => {
  const rules = [ruleOf({ id: 'sale', fromMs: 5, untilMs: 7, effect: 'free' })];
  expect([4, 5, 6, 7].map((atMs) => resolve({ rules }, { atMs }))).toEqual([
    '10000 by null',
    'free_rule',
    'free_rule',
    '10000 by null',
  ]);
});

test('a free slug counts as a rule for its page alone that stands last', () => {
  const site = { creditsFreeSlugs: ['blog/a'] };
  expect(resolve({ ...site, rules: [ruleOf({ id: 'blog', path: '/blog/', effect: 'refuse' })] })).toBe('free_slug');
  expect(resolve({ ...site, rules: [ruleOf({ id: 'page', path: '/blog/a$', effect: 'refuse' })] })).toBe('refused by page');
});

test('rules are about articles, and about pages whose price is 0 otherwise', () => {
  const rules = [ruleOf({ id: 'all', effect: { price: '0.02' } })];
  expect(resolve({ rules }, { slug: null })).toBe('out_of_scope');
  expect(resolve({ rules, priceUsdc: '0' })).toBe('20000 by all');
  expect(resolve({ rules, defaultPayee: null })).toBe('no_credits');
});

test('a rule that would never decide is refused with the name of the one that hides it', () => {
  const openai = ruleOf({ id: 'openai', operators: ['openai.com'], effect: 'free' });
  const everything = ruleOf({ id: 'everything', path: '/', effect: 'refuse' });
  expect(refusal([openai, everything])).toBe('rules.0: openai would never apply: everything always takes precedence');
  expect(refusal([openai, { ...everything, path: null }])).toBe('set');
  expect(refusal([openai, { ...everything, fromMs: 5 }])).toBe('set');
  expect(refusal([ruleOf({ id: 'a', effect: 'free' }), ruleOf({ id: 'b', effect: 'refuse' })])).toMatch(/b would never apply: a/);
});

test('a price below the floor is refused, also that of a citation, and is charged as the floor where it was stored before', () => {
  const cheap = ruleOf({ id: 'cheap', effect: { price: '0.0009' } });
  expect(refusal([cheap])).toMatch(/rules\.0\.price: is too low: the lowest price is 0\.001000 USDC/);
  expect(refusal([{ ...cheap, effect: { price: '0.001' } }], { citationMultiplier: '0.5' })).toMatch(/too low/);
  expect(refusal([{ ...cheap, kind: 'read', effect: { price: '0.001' } }], { citationMultiplier: '0.5' })).toBe('set');
  expect(resolve({ rules: [cheap] })).toBe('1000 by cheap');
});

test.each<[Partial<PriceRule>, RegExp]>([
  [{ id: 'two words' }, /rules\.0: id/],
  [{ path: 'blog' }, /does not begin with a slash/],
  [{ path: `/${'*a'.repeat(9)}` }, /more than 8 \*/],
  [{ path: `/${'a'.repeat(200)}` }, /longer than 200/],
  [{ path: '/blog/$' }, /no trailing slash/],
  [{ operators: ['OpenAI.com'] }, /host name in lower case/],
  [{ operators: Array.from({ length: 51 }, (_, index) => `a${index}.example`) }, /more than 50/],
  [{ categories: ['train', 'train'] }, /distinct words/],
  [{ terms: ['training' as 'ai-train'] }, /distinct words from search/],
  [{ fromMs: 7, untilMs: 7 }, /must end after it begins/],
  [{ fromMs: 0.5 }, /epoch milliseconds/],
  [{ effect: { price: '0' } }, /make the rule free/],
  [{ effect: { price: '0.0000001' } }, /at most 6 places/],
  [{ effect: { price: '1000000' } }, /too large/],
  [{ effect: { price: '-1' } }, /a decimal amount in USD/],
])('a rule with %o is refused', (given, sentence) => {
  expect(refusal([ruleOf({ id: 'rule', effect: 'free', ...given })])).toMatch(sentence);
});

test('a list is refused that is too long, names a rule twice, or could not be printed as patterns', () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, index) => ruleOf({ id: `r${index}`, path: `/${index}$`, effect: 'free' }));
  expect(refusal(some(200))).toBe('set');
  expect(refusal(some(201))).toMatch(/at most 200/);
  expect(refusal([...some(1), ...some(1)])).toMatch(/r0 is used twice/);
  const reads = ruleOf({ id: 'reads', path: '/premium/', kind: 'read', effect: 'refuse' });
  const files = ruleOf({ id: 'files', path: '/*.pdf$', effect: { price: '0.1' } });
  expect(refusal([reads, files])).toMatch(/reads does not cover citations, and files prices only some of them/);
  expect(refusal([reads, { ...reads, id: 'cited', kind: 'citation' }, files])).toBe('set');
  expect(refusal([files], { articlePrefixes: ['/blog/'] })).toMatch(
    /files covers only some pages under \/blog\/: start its path with/,
  );
  expect(refusal([{ ...files, path: '/blog/*.pdf$' }, reads], { articlePrefixes: ['/blog/'] })).toBe('set');
});

test('classes name patterns, then prefixes, with routes, what others are asked, and until when', () => {
  const rules = [
    ruleOf({ id: 'premium', path: '/blog/premium/', effect: { price: '0.05' } }),
    ruleOf({ id: 'partner', operators: ['openai.com'], kind: 'read', effect: 'free' }),
    ruleOf({ id: 'winter', path: '/blog/a$', fromMs: 3, untilMs: 9, effect: 'refuse' }),
  ];
  const compiled = compilePricing(pricingOf({ rules, articlePrefixes: ['/blog/', '/blog/news'] }), FLOOR);
  const partner = {
    ruleId: 'partner',
    pattern: null,
    operators: ['openai.com'],
    categories: [],
    terms: [],
    kind: 'read',
    outcome: 'free',
  };
  const premium = {
    pattern: '/blog/premium/',
    prefix: null,
    routeTemplate: '/blog/premium/:slug',
    byAgent: [],
    read: { priceMicro: 50_000n },
    citation: { priceMicro: 250_000n },
  };
  const blog = {
    pattern: '/blog/',
    prefix: '/blog/',
    routeTemplate: '/blog/:slug',
    byAgent: [partner],
    read: { priceMicro: 10_000n },
    citation: { priceMicro: 50_000n },
  };
  expect(compiled.classes(2)).toEqual([premium, blog].map((one) => ({ ...one, validUntilMs: 3 })));
  const winter = {
    pattern: '/blog/a$',
    prefix: null,
    routeTemplate: '/blog/a',
    byAgent: [],
    read: 'refused',
    citation: 'refused',
  };
  expect(compiled.classes(3)).toEqual([premium, winter, blog].map((one) => ({ ...one, validUntilMs: 9 })));
  expect(compiled.classes(9)[0]?.validUntilMs).toBeNull();
});
