import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LicenceTerm } from '../../modules/kernel/licence/period.ts';
import { compilePattern, matches } from '../../modules/kernel/pages/scope.ts';
import type { Asked, Outcome } from '../../modules/pricing/rules/compiled.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import type { Price, Pricing } from '../../modules/pricing/rules/pricing.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import type { PriceRule } from '../../modules/pricing/rules/rule.ts';
import { anyAsked, anyPricing } from '../support/rules/arbitrary.ts';

const FLOOR = 1_000n;
const anyQuestion = anyPricing.chain((pricing) => fc.record({ pricing: fc.constant(pricing), asked: anyAsked(pricing) }));

test('the rule that decides is the one that reading the list from its order says, whatever stands in it', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked }) => {
      expect(outcomeOf(compilePricing(pricing, FLOOR).resolve(asked))).toEqual(readSlowly(pricing, asked));
    }),
    { numRuns: 3_000 },
  );
});

test('the classes of a site say what each of its pages costs an agent that nobody verified', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { kind, path, slug, atMs } }) => {
      const compiled = compilePricing(pricing, FLOOR);
      fc.pre(!(compiled.freeSlugs as readonly unknown[]).includes(slug));
      const classes = compiled.classes(atMs);
      const found = classes.find(({ pattern }) => matches(compilePattern(pattern), path));
      if (slug === null) return;
      expect(found?.[kind]).toEqual(outcomeOf(compiled.resolve({ ...NOBODY, kind, path, slug, atMs })));
    }),
    { numRuns: 3_000 },
  );
});

test('of the classes that match a page the longest holds, where no two are as long as each other', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { path, slug, atMs } }) => {
      const classes = compilePricing(pricing, FLOOR).classes(atMs);
      const matching = classes.filter(({ pattern }) => matches(compilePattern(pattern), path));
      const [first, second] = matching.toSorted((a, b) => b.pattern.length - a.pattern.length);
      fc.pre(slug !== null && first?.pattern.length !== second?.pattern.length);
      expect(matching[0]).toBe(first);
    }),
  );
});

test('between two boundaries no price changes', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked }) => {
      const compiled = compilePricing(pricing, FLOOR);
      const next = compiled.nextChangeMs(asked.atMs);
      const last = next === null ? asked.atMs + 100 : next - 1;
      expect(compiled.resolve({ ...asked, atMs: last })).toEqual(compiled.resolve(asked));
      expect(compiled.changesBetween(asked.atMs, last)).toEqual([]);
      if (next !== null) expect(compiled.changesBetween(asked.atMs, next)).toEqual([next]);
    }),
  );
});

/** The same rule of choice, written as it is told: every rule is looked at for every term. */
function readSlowly({ rules, creditsFreeSlugs, priceUsdc }: Pricing, asked: Asked): Outcome {
  const { slug, path, kind } = asked;
  if (slug === null) return 'free';
  const isNamedFree = creditsFreeSlugs?.includes(slug) ?? false;
  const base = isNamedFree || priceUsdc === '0' ? 'free' : { priceMicro: kind === 'read' ? 10_000n : 50_000n };
  const least = isNamedFree ? path.length + 1 : 0;
  const terms: readonly (LicenceTerm | null)[] = asked.terms.length === 0 ? [null] : asked.terms.flatMap(spelled);
  const outcomes = terms.map((term): Outcome => {
    const open = (rules ?? []).filter((rule) => holds(rule, asked, term) && (rule.path?.length ?? 0) >= least);
    const [first] = open.toSorted((a, b) => told(a) - told(b) || (rules ?? []).indexOf(a) - (rules ?? []).indexOf(b));
    return first ? effectOf(first, kind) : base;
  });
  return outcomes.reduce((a, b) => (weight(b) > weight(a) ? b : a));
}

function holds(rule: PriceRule, asked: Asked, term: LicenceTerm | null): boolean {
  const { path, kind, operators, categories, terms, fromMs, untilMs } = rule;
  const isOfAgent =
    (operators.length === 0 || operators.includes(asked.operator ?? '')) &&
    (categories.length === 0 || categories.some((category) => category === asked.category));
  const isOfUse = terms.length === 0 || (term !== null && terms.flatMap(spelled).includes(term));
  const isNow = asked.atMs >= (fromMs ?? 0) && asked.atMs < (untilMs ?? 1_000);
  return (
    (path === null || matches(compilePattern(path), asked.path)) &&
    (kind ?? asked.kind) === asked.kind &&
    isOfAgent &&
    isOfUse &&
    isNow
  );
}

/** Smaller is chosen first: octets, operator, category, terms, kind, validity. */
function told({ path, operators, categories, terms, kind, fromMs, untilMs }: PriceRule): number {
  const flags = [
    operators.length > 0,
    categories.length > 0,
    terms.length > 0,
    kind !== null,
    fromMs !== null || untilMs !== null,
  ];
  return -flags.reduce((sum, flag) => 2 * sum + (flag ? 1 : 0), path?.length ?? 0);
}

function effectOf({ effect, kind }: PriceRule, asked: Asked['kind']): Outcome {
  if (effect === 'free') return 'free';
  if (effect === 'refuse') return 'refused';
  const micro = BigInt(Math.round(Number(effect.price) * 1e6));
  return { priceMicro: kind === null && asked === 'citation' ? micro * 5n : micro };
}

function spelled(term: LicenceTerm): readonly LicenceTerm[] {
  return term === 'all' ? ['search', 'ai-index', 'ai-input', 'ai-train'] : [term];
}

function weight(outcome: Outcome): number {
  return outcome === 'free' ? 0 : outcome === 'refused' ? Infinity : Number(outcome.priceMicro);
}

function outcomeOf(price: Price): Outcome {
  if (price.kind === 'free') return 'free';
  return price.kind === 'refused' ? 'refused' : { priceMicro: price.micro };
}
