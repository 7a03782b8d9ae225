import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesPattern } from '../../modules/kernel/pages/pattern.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { parseTokenText, tokenBase, tokenText } from '../../modules/pricing/rules/quote.ts';
import { readQuoteToken, signQuoteToken } from '../../modules/quotes/use/token.ts';
import { pricingOf } from '../support/rules/arbitrary.ts';

const hex40 = fc.bigInt({ min: 1n, max: (1n << 160n) - 1n }).map((n) => `0x${n.toString(16).padStart(40, '0')}` as const);
const author = fc.record({
  authorId: fc.string({ minLength: 1, maxLength: 20 }),
  wallet: hex40,
  weight: fc.bigInt({ min: 1n, max: (1n << 96n) - 1n }),
  role: fc.constantFrom('author' as const, 'coauthor' as const),
});
const others = fc.array(
  fc.record({ network: fc.constantFrom('eip155:137', 'eip155:42161'), asset: hex40, router: hex40, payTo: hex40 }),
  {
    maxLength: 3,
  },
);
const asker = fc.record({
  operator: fc.option(fc.domain()),
  category: fc.option(fc.constantFrom('train' as const, 'agent' as const)),
  terms: fc.subarray(['search', 'ai-train'] as const),
});
const facts = fc.record({
  tenantId: fc.uuid(),
  host: fc.domain(),
  slug: fc.string({ minLength: 1 }),
  resource: fc.webUrl(),
  kind: fc.constantFrom('read' as const, 'citation' as const),
  priceMicro: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  authors: fc.array(author, { minLength: 1, maxLength: 5 }),
  network: fc.constant('eip155:84532'),
  asset: hex40,
  router: hex40,
  payTo: hex40,
  others,
});
const anyFacts = fc.oneof(
  facts,
  fc.tuple(facts, asker).map(([one, by]) => ({ ...one, asker: by })),
);

test('a token gives back exactly the facts it was signed for', () => {
  fc.assert(
    fc.property(anyFacts, fc.uuid(), fc.nat(), (given, quoteId, expiresAtMs) => {
      const token = signQuoteToken(['s'.repeat(32)], tokenBase(given), quoteId, expiresAtMs);
      expect(readQuoteToken(['n'.repeat(32), 's'.repeat(32)], token)).toEqual({ ...given, quoteId, expiresAtMs });
      expect(readQuoteToken(['n'.repeat(32)], token)).toBeNull();
      expect(parseTokenText(tokenText(tokenBase(given), quoteId, expiresAtMs))?.quoteId).toBe(quoteId);
    }),
  );
});

test('a token with any character changed is not ours', () => {
  const token = signQuoteToken(['s'.repeat(32)], '[1]', 'q', 1);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  fc.assert(
    fc.property(fc.nat(token.length - 2), fc.nat(63), (place, choice) => {
      const character = alphabet[choice] as string;
      fc.pre(token[place] !== character && token[place] !== '.');
      expect(readQuoteToken(['s'.repeat(32)], `${token.slice(0, place)}${character}${token.slice(place + 1)}`)).toBeNull();
    }),
  );
});

test('no price is below the floor, a citation costs its multiplier, and nothing is rounded twice', () => {
  const cents = fc.integer({ min: 1, max: 10 ** 9 });
  fc.assert(
    fc.property(cents, fc.integer({ min: 1, max: 10 ** 6 }), fc.bigInt({ min: 1n, max: 10_000n }), (price, factor, floor) => {
      const pricing = pricingOf({
        priceUsdc: (price / 10 ** 6).toFixed(6),
        citationMultiplier: (factor / 10 ** 4).toFixed(4),
      });
      const compiled = compilePricing(pricing, floor);
      const exact = (BigInt(price) * BigInt(factor) * 2n + 10_000n) / 20_000n;
      expect(compiled.readMicro).toBe(BigInt(price) < floor ? floor : BigInt(price));
      expect(compiled.citationMicro).toBe(exact < floor ? floor : exact);
    }),
  );
});

test('with a default payee no page of the scope is free for want of authors, whatever is named; without one such a page is never priced', () => {
  const slug = fc.constantFrom('a', 'b', 'c', 'd');
  const wallet = `0x${'1'.repeat(40)}` as const;
  const page = { contributors: [{ authorId: 'ann', wallet: `0x${'2'.repeat(40)}` }] };
  const pricings = fc.record({
    priceUsdc: fc.constantFrom('0', '0.001', '2'),
    citationMultiplier: fc.constant(null),
    articlePrefixes: fc.constant(null),
    creditsInline: fc.option(fc.dictionary(slug, fc.constant(page))),
    creditsFreeSlugs: fc.option(fc.array(slug)),
    creditsApiUrl: fc.option(fc.constant('https://credits.example')),
    defaultPayee: fc.option(fc.constant({ authorId: 'house', wallet })),
  });
  fc.assert(
    fc.property(pricings, slug, fc.constantFrom('read' as const, 'citation' as const), (pricing, asked, kind) => {
      const price = compilePricing(pricingOf(pricing), 1_000n).resolve({
        ...NOBODY,
        path: `/${asked}`,
        slug: asked,
        kind,
        atMs: 0,
      });
      const house = pricing.defaultPayee && { authors: [{ authorId: 'house', wallet }] };
      const isNamed = Object.hasOwn(pricing.creditsInline ?? {}, asked);
      const nobody = house ? { kind: 'priced', credits: house } : { kind: 'free', because: 'no_credits' };
      const asking = { kind: 'looked_up', otherwise: house };
      const named = { kind: 'priced', credits: { authors: [{ authorId: 'ann' }] } };
      const sold = isNamed ? named : pricing.creditsApiUrl === null ? nobody : asking;
      const priced = pricing.priceUsdc === '0' ? { kind: 'free', because: 'no_price' } : sold;
      const isGiven = pricing.creditsFreeSlugs?.includes(asked) ?? false;
      expect(price).toMatchObject(isGiven ? { kind: 'free', because: 'free_slug' } : priced);
    }),
  );
});

test('path patterns match as the same pattern written as a regular expression does', () => {
  const piece = fc.constantFrom('/', 'a', 'b', '*', 'ab', '$', '.');
  const pattern = fc.array(piece, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);
  const path = fc.array(fc.constantFrom('/', 'a', 'b', '.', '$'), { maxLength: 10 }).map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(pattern, path, (given, target) => {
      const isAnchored = given.endsWith('$');
      const source = (isAnchored ? given.slice(0, -1) : given)
        .split('*')
        .map((text) => text.replace(/[.$]/g, '\\$&'))
        .join('.*');
      expect(matchesPattern(given, target)).toBe(new RegExp(`^${source}${isAnchored ? '$' : ''}`).test(target));
    }),
    { numRuns: 2_000 },
  );
});
