import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WeightedAuthor } from '../../modules/kernel/money/credits.ts';
import { canonicalPayees, splitAmounts } from '../../modules/kernel/money/legs.ts';
import { coverSteps, MAX_WORK } from '../../modules/kernel/pages/cover.ts';
import type { CompiledPattern } from '../../modules/kernel/pages/scope.ts';
import {
  canonicalPath,
  compilePattern,
  exactPattern,
  isWithin,
  MAX_PATTERN_CHARS,
  MAX_PATTERNS,
  matches,
} from '../../modules/kernel/pages/scope.ts';
import type { CataloguePage } from '../../modules/pricing/rules/catalogue.ts';
import { MAX_PAGES, payeesOfLegs, priceScopeSteps } from '../../modules/pricing/rules/catalogue.ts';
import { legsOf } from '../../modules/pricing/rules/quote.ts';
import { payToOf } from '../../platform/chain/router/split.ts';

const sumLegs = (legs: readonly { readonly amountMicro: bigint }[]): bigint =>
  legs.reduce((sum, leg) => sum + leg.amountMicro, 0n);

const author = fc.record({
  authorId: fc.constantFrom('ann', 'bob', 'cyd'),
  wallet: fc.integer({ min: 1, max: 20 }).map((n) => `0x${n.toString(16).padStart(40, '0')}` as const),
  weight: fc.bigInt({ min: 1n, max: 1_000n }),
  role: fc.constantFrom('author' as const, 'coauthor' as const),
});
const page = fc.record({ path: fc.constant('/p'), slug: fc.string(), authors: fc.array(author, { minLength: 1, maxLength: 6 }) });
const pages = fc.array(page, { minLength: 1, maxLength: 30 });
const all = [compilePattern('/')];

/** Runs work to its end; counts the places where it lets others go on. */
function finish<T>(steps: Generator<void, T>): { readonly value: T; readonly stops: number } {
  for (let stops = 0; ; stops++) {
    const step = steps.next();
    if (step.done) return { value: step.value, stops };
  }
}

function priceScope(list: readonly CataloguePage[], patterns: readonly CompiledPattern[], micro: bigint) {
  const sorted = [...list].sort((a, b) => (a.path < b.path ? -1 : 1));
  return finish(
    priceScopeSteps({ pages: sorted, paths: sorted.map(({ path }) => path) }, patterns, () => ({ priceMicro: micro })),
  ).value;
}

test('Σ legs = Σ pages = price, and each wallet gets exactly what its pages would pay it one by one', () => {
  fc.assert(
    fc.property(pages, fc.bigInt({ min: 1_000n, max: 10_000_000n }), (list, micro) => {
      const { priceMicro, pages: priced, legs } = priceScope(list, all, micro);
      expect(priceMicro).toBe(micro * BigInt(list.length));
      expect(sumLegs(legs)).toBe(priceMicro);
      expect(priced.reduce((sum, one) => sum + one.micro, 0n)).toBe(priceMicro);
      const single = new Map<string, bigint>();
      for (const leg of list.flatMap(({ authors }) => legsOf(micro, authors as WeightedAuthor[]))) {
        single.set(leg.toAddress, (single.get(leg.toAddress) ?? 0n) + leg.amountMicro);
      }
      for (const leg of legs) expect(leg.amountMicro).toBe(single.get(leg.toAddress));
    }),
  );
});

test('the contract, splitting the price by the legs as weights, pays exactly these legs in this order', () => {
  fc.assert(
    fc.property(pages, fc.bigInt({ min: 1_000n, max: 10_000_000n }), (list, micro) => {
      const { priceMicro, legs } = priceScope(list, all, micro);
      const canonical = canonicalPayees(payeesOfLegs(legs));
      expect(canonical.map(({ wallet }) => wallet)).toEqual(legs.map(({ toAddress }) => toAddress));
      expect(splitAmounts(priceMicro, canonical)).toEqual(legs.map(({ amountMicro }) => amountMicro));
      expect(payToOf(payeesOfLegs(legs)).words).toHaveLength(legs.length);
    }),
  );
});

test('an exact pattern covers its page and no other', () => {
  const path = fc.array(
    fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !text.includes('/')),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(path, path, (a, b) => {
      const [one, two] = [canonicalPath(`/${a.join('/')}`), canonicalPath(`/${b.join('/')}`)];
      fc.pre(one.length < 190);
      expect(matches(compilePattern(exactPattern(one)), one)).toBe(true);
      expect(matches(compilePattern(exactPattern(one)), two)).toBe(one === two);
    }),
  );
});

test('a scope never covers more than its limit, nor a page nobody can be paid for', () => {
  const authors = [{ authorId: 'a', wallet: '0x0000000000000000000000000000000000000001', weight: 1n, role: 'author' }] as const;
  const many = Array.from({ length: MAX_PAGES + 1 }, (_, n) => ({ path: `/p${n}`, slug: `p${n}`, authors }));
  expect(priceScope(many.slice(1), all, 1_000n).pages).toHaveLength(MAX_PAGES);
  expect(() => priceScope(many, all, 1_000n)).toThrow(/5001 pages/);
  expect(() => priceScope([{ path: '/x', slug: 'x', authors: null }], all, 1_000n)).toThrow(/no author of/);
  expect(() => priceScope([], all, 1_000n)).toThrow(/covers no page/);
});

/** Few letters, so that paths share beginnings and patterns match often. */
const text = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '-'), minLength: min, maxLength: max });
const somePattern = fc
  .tuple(fc.array(text(0, 4), { minLength: 1, maxLength: 5 }), fc.boolean())
  .map(([parts, isAnchored]) => `/${parts.join('*')}${isAnchored ? '$' : ''}`);
const somePaths = fc.uniqueArray(
  text(0, 12).map((rest) => canonicalPath(`/${rest}`)),
  { maxLength: 60 },
);

test('looking into sorted paths finds exactly what comparing every path with every pattern finds', () => {
  fc.assert(
    fc.property(somePaths, fc.array(somePattern, { minLength: 1, maxLength: 6 }), (list, patterns) => {
      const paths = [...list].sort((a, b) => (a < b ? -1 : 1));
      const compiled = patterns.map((pattern) => compilePattern(pattern));
      const { places, count, idle } = finish(coverSteps(paths, compiled, 5)).value;
      const expected = paths.flatMap((path, place) => (compiled.some((pattern) => matches(pattern, path)) ? [place] : []));
      expect([count, places]).toEqual([expected.length, expected.slice(0, 5)]);
      const first = compiled.findIndex((pattern) => !paths.some((path) => matches(pattern, path)));
      expect(idle).toBe(first < 0 ? null : first);
    }),
    { numRuns: 1_000 },
  );
});

test('whatever is asked of 20,000 pages, no piece of the work looks at more than 25,000 characters, and all pieces not at more than the budget', () => {
  const paths = Array.from({ length: 20_000 }, (_, n) => `/articles/${'ab'.repeat(n % 200)}${n}`).sort((a, b) =>
    a < b ? -1 : 1,
  );
  let lookedAt = 0;
  let largest = 0;
  let piece = 0;
  // A list that counts what is read of it: a comparison reads a path once.
  const counted = new Proxy(paths, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value === 'string') {
        lookedAt += value.length;
        piece += value.length;
        largest = Math.max(largest, piece);
      }
      return value;
    },
  });
  const dear = fc
    .array(fc.constantFrom('*a', '*b', '*ab', '*bab', '*1', '*', '*zz'), { minLength: 1, maxLength: 8 })
    .map((parts) => `/${parts.join('')}`.slice(0, MAX_PATTERN_CHARS));
  fc.assert(
    fc.property(fc.uniqueArray(dear, { minLength: 1, maxLength: MAX_PATTERNS }), (patterns) => {
      [lookedAt, largest, piece] = [0, 0, 0];
      const steps = coverSteps(
        counted,
        patterns.map((pattern) => compilePattern(pattern)),
        MAX_PAGES,
      );
      const run = (): void => {
        for (;;) {
          piece = 0;
          if (steps.next().done) return;
        }
      };
      try {
        run();
      } catch (error) {
        expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('too many patterns with *') });
      }
      // Binary search, of fifteen paths at each end, reads some besides.
      const searched = 2 * 15 * 420;
      expect(largest).toBeLessThan(25_000 + searched);
      expect(lookedAt).toBeLessThan(MAX_WORK + patterns.length * searched);
    }),
    { numRuns: 30 },
  );
});

test('a pattern is within another exactly when no path of it can be found that the other leaves out', () => {
  const piece = fc.stringMatching(/^[ab/]{0,3}$/);
  const pattern = fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([pieces, isAnchored]) => `/${pieces.join('*')}${isAnchored ? '$' : ''}`.replaceAll(/\/+/g, '/'));
  fc.assert(
    fc.property(pattern, pattern, (inside, outside) => {
      const [inner, outer] = [compilePattern(inside), compilePattern(outside)];
      // A letter of no pattern in place of each star is the path that only a star can take in; nothing in its place is another one.
      const open = inside.endsWith('$') ? inside.slice(0, -1) : `${inside}*`;
      const paths = ['z', '', 'azb'].map((text) => open.replaceAll('*', text)).filter((path) => matches(inner, path));
      expect(matches(inner, open.replaceAll('*', 'z'))).toBe(true);
      expect(isWithin(inner, outer)).toBe(matches(outer, open.replaceAll('*', 'z')));
      if (isWithin(inner, outer)) for (const path of paths) expect(matches(outer, path)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
