/** Random price rules and questions, for properties about prices. */
import fc from 'fast-check';
import type { LicenceTerm } from '../../../modules/kernel/licence/period.ts';
import { slugOf } from '../../../modules/kernel/pages/resource.ts';
import type { Asked } from '../../../modules/pricing/rules/compiled.ts';
import type { Pricing } from '../../../modules/pricing/rules/pricing.ts';
import { validatePricing } from '../../../modules/pricing/rules/pricing.ts';
import type { PriceRule } from '../../../modules/pricing/rules/rule.ts';
import { AGENT_CATEGORIES } from '../../../modules/pricing/rules/rule.ts';

/** A rule with what a test does not name. */
export function ruleOf(rule: Partial<PriceRule> & Pick<PriceRule, 'id' | 'effect'>): PriceRule {
  const nobody = { operators: [], categories: [], terms: [] };
  return { path: null, kind: null, ...nobody, fromMs: null, untilMs: null, ...rule };
}

/** A pricing with a default payee, so that every article costs something unless it is said to be free. */
export function pricingOf(pricing: Partial<Pricing>): Pricing {
  const none = {
    citationMultiplier: null,
    articlePrefixes: null,
    creditsInline: null,
    creditsFreeSlugs: null,
    creditsApiUrl: null,
    rules: null,
    readAgainHours: null,
  };
  return { priceUsdc: '0.01', ...none, defaultPayee: { authorId: 'house', wallet: `0x${'1'.repeat(40)}` }, ...pricing };
}

const segment = fc.constantFrom('a', 'b', 'ab', 'pdf');
/** Canonical paths of pages, two deep or three. */
export const anyPath = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
const pattern = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '*', '/', 'ab', '*pdf'), { maxLength: 4 }), fc.boolean())
  .map(([parts, isExact]) => `/${parts.join('')}${isExact ? '$' : ''}`.replace(/\/{2,}/g, '/').replace(/(?<=.)\/\$$/, '$'));
const someOf = <T>(...all: readonly T[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<T[]>([]) }, fc.subarray([...all], { minLength: 1 }));
const words = ['search', 'ai-input', 'ai-train', 'all'] as const satisfies readonly LicenceTerm[];
const moment = fc.option(fc.integer({ min: 0, max: 10 }));

const rule = fc.record({
  path: fc.option(pattern, { freq: 6 }),
  kind: fc.option(fc.constantFrom('read' as const, 'citation' as const), { freq: 1 }),
  operators: someOf('openai.com', 'anthropic.com'),
  categories: someOf(...AGENT_CATEGORIES),
  terms: someOf(...words),
  fromMs: moment,
  untilMs: moment,
  effect: fc.constantFrom<PriceRule['effect']>('free', 'refuse', { price: '0.002' }, { price: '0.05' }, { price: '1' }),
});

/** Pricings with rules that may be set, the article prefixes and free slugs of all kinds of sites. */
export const anyPricing = fc
  .record({
    rules: fc.array(rule, { maxLength: 8 }).map((rules) => rules.map((one, index) => ({ ...one, id: `r${index}` }))),
    articlePrefixes: fc.constantFrom(null, ['/a/'], ['/a/', '/a/b/', '/b/']),
    creditsFreeSlugs: fc.option(fc.subarray(['a', 'b', 'a/b'])),
    priceUsdc: fc.constantFrom('0', '0.01'),
  })
  .map((given) => pricingOf({ ...given, rules: settable(given.articlePrefixes, given.rules) }));

/** As many of the rules as may be set together, in their order. */
function settable(articlePrefixes: Pricing['articlePrefixes'], rules: readonly PriceRule[]): readonly PriceRule[] {
  const kept: PriceRule[] = [];
  for (const one of rules) {
    try {
      validatePricing(pricingOf({ articlePrefixes, rules: [...kept, one] }), null);
      kept.push(one);
    } catch {
      // not to be set beside the others
    }
  }
  return kept;
}

/** Questions about the pages of a pricing. */
export function anyAsked({ articlePrefixes }: Pick<Pricing, 'articlePrefixes'>): fc.Arbitrary<Asked> {
  return fc
    .record({
      path: anyPath,
      kind: fc.constantFrom('read' as const, 'citation' as const),
      operator: fc.constantFrom(null, 'openai.com', 'anthropic.com', 'other.example'),
      category: fc.constantFrom(null, ...AGENT_CATEGORIES),
      terms: someOf(...words),
      atMs: fc.integer({ min: 0, max: 11 }),
    })
    .map((asked) => ({ ...asked, slug: slugOf(articlePrefixes, asked.path) }));
}
