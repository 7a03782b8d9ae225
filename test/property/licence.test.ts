import fc from 'fast-check';
import { expect, test } from 'vitest';
import { payToOf } from '../../chain/split.ts';
import { MAX_PAGES, payeesOfLegs, priceScope } from '../../domain/catalogue.ts';
import type { WeightedAuthor } from '../../domain/credits.ts';
import { canonicalPayees, splitAmounts } from '../../domain/legs.ts';
import { legsOf } from '../../domain/quote.ts';
import { canonicalPath, compilePattern, exactPattern, matches } from '../../domain/scope.ts';

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
