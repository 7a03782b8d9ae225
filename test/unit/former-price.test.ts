import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Sold } from '../../modules/pricing/rules/formerPrice.ts';
import { findTermsPaid } from '../../modules/pricing/rules/formerPrice.ts';

const NOW_MS = 1_000_000_000;
const MINUTE_MS = 60_000;
const TO = `0x${'a'.repeat(40)}` as const;
const OTHER = `0x${'b'.repeat(40)}` as const;
const terms = (changes: Partial<Sold> = {}): Sold => ({
  resourceKey: 'site.example/articles/trio',
  kind: 'read',
  priceMicro: 1_000n,
  payTo: TO,
  ...changes,
});
const quoted = terms({ priceMicro: 2_000n });
const former = { terms: terms(), validUntilMs: NOW_MS - MINUTE_MS };
const paidFor = (versions: Parameters<typeof findTermsPaid>[1], signed = { to: TO as string, value: 1_000n }) =>
  findTermsPaid(quoted, versions, signed, NOW_MS);

test('a payment that meets its quote is made for it, and no former price is looked at', () => {
  const never = (): never => {
    throw new Error('asked for versions');
  };
  expect(paidFor(never, { to: TO, value: 2_000n })).toBe(quoted);
});

test('one for a price that ended within ten minutes is made for that price, to the last millisecond', () => {
  const ended = (validUntilMs: number) => paidFor(() => [{ ...former, validUntilMs }]);
  expect(ended(NOW_MS - 10 * MINUTE_MS)).toBe(former.terms);
  expect(ended(NOW_MS - 10 * MINUTE_MS - 1)).toBeNull();
});

test.each([
  ['another page', terms({ resourceKey: 'site.example/articles/solo' })],
  ['a citation of the page', terms({ kind: 'citation' })],
  ['other authors', terms({ payTo: OTHER })],
  ['one micro more', terms({ priceMicro: 1_001n })],
  ['one micro less', terms({ priceMicro: 999n })],
])('a former price of %s sells nothing to it', (_, sold) => {
  expect(paidFor(() => [{ terms: sold, validUntilMs: NOW_MS }])).toBeNull();
});

test('whatever versions there were, a payment is taken for exactly what it says, of this page and kind, and honoured now', () => {
  const sold = fc.record({
    resourceKey: fc.constantFrom('page', 'other'),
    kind: fc.constantFrom('read' as const, 'citation' as const),
    priceMicro: fc.constantFrom(1n, 2n, 3n),
    payTo: fc.constantFrom(TO, OTHER),
  });
  const version = fc.record({ terms: sold, validUntilMs: fc.option(fc.integer({ min: -MINUTE_MS, max: 11 * MINUTE_MS })) });
  fc.assert(
    fc.property(
      sold,
      fc.array(version, { maxLength: 6 }),
      fc.constantFrom(TO, OTHER),
      fc.constantFrom(1n, 2n, 3n),
      (...given) => {
        const [quote, ages, to, value] = given;
        const versions = ages.map(({ terms: of, validUntilMs }) => ({
          terms: of,
          validUntilMs: validUntilMs === null ? null : NOW_MS - validUntilMs,
        }));
        const paid = findTermsPaid(quote, () => versions, { to, value }, NOW_MS);
        const good = versions.filter(({ validUntilMs }) => validUntilMs === null || validUntilMs >= NOW_MS - 600_000);
        const candidates = [quote, ...good.map(({ terms: of }) => of)];
        const same = { ...quote, payTo: to, priceMicro: value };
        expect(paid).toEqual(candidates.some((one) => JSON.stringify(text(one)) === JSON.stringify(text(same))) ? same : null);
      },
    ),
  );
});

function text({ resourceKey, kind, priceMicro, payTo }: Sold): readonly string[] {
  return [resourceKey, kind, String(priceMicro), payTo];
}
