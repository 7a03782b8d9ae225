import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address, WeightedPayee } from '../../modules/kernel/money/legs.ts';
import { canonicalPayees, legWord, MAX_LEGS, sameLegs, splitAmounts } from '../../modules/kernel/money/legs.ts';
import { implementationOf, payToOf, routerAddress, splitAddress } from '../../platform/chain/router/split.ts';

const sumLegs = (legs: readonly { readonly amountMicro: bigint }[]): bigint =>
  legs.reduce((sum, leg) => sum + leg.amountMicro, 0n);

const wallet = fc.bigInt(1n, (1n << 160n) - 1n).map((value): Address => `0x${value.toString(16).padStart(40, '0')}`);
const weight = fc.oneof(fc.bigInt(1n, 10n), fc.bigInt(1n, (1n << 90n) - 1n));
const payee: fc.Arbitrary<WeightedPayee> = fc.record({ wallet, weight });
const payees = fc.array(payee, { minLength: 1, maxLength: MAX_LEGS });
const value = fc.oneof(fc.bigInt(0n, 100n), fc.bigInt(0n, (1n << 100n) - 1n));

test('amounts always sum to the value, and none is negative', () => {
  fc.assert(
    fc.property(payees, value, (list, amount) => {
      const amounts = splitAmounts(amount, canonicalPayees(list));
      expect(amounts.reduce((sum, each) => sum + each, 0n)).toBe(amount);
      expect(amounts.every((each) => each >= 0n)).toBe(true);
    }),
  );
});

test('leg i ≥ 1 gets its exact floor and leg 0 less than one micro per leg more', () => {
  fc.assert(
    fc.property(payees, value, (list, amount) => {
      const canonical = canonicalPayees(list);
      const total = canonical.reduce((sum, each) => sum + each.weight, 0n);
      const amounts = splitAmounts(amount, canonical);
      canonical.forEach((each, i) => {
        const floor = (amount * each.weight) / total;
        const extra = (amounts[i] ?? -1n) - floor;
        expect(i === 0 ? extra >= 0n && extra < BigInt(canonical.length) : extra === 0n).toBe(true);
      });
    }),
  );
});

test('the canonical form ignores order, case of wallets and a common factor, and is its own canonical form', () => {
  fc.assert(
    fc.property(payees, fc.bigInt(1n, 1_000n), fc.infiniteStream(fc.nat()), (list, factor, stream) => {
      const canonical = canonicalPayees(list);
      const keys = list.map(() => stream.next().value ?? 0);
      const shuffled = list.map((each, i) => ({ each, key: keys[i] ?? 0 })).toSorted((a, b) => a.key - b.key);
      const changed = shuffled.map(({ each }) => ({
        wallet: `0x${each.wallet.slice(2).toUpperCase()}` as Address,
        weight: each.weight * factor,
      }));
      expect(canonicalPayees(changed)).toEqual(canonical);
      expect(canonicalPayees(canonical)).toEqual(canonical);
    }),
  );
});

test('a wallet named twice is one payee with the sum of its weights', () => {
  fc.assert(
    fc.property(payee, weight, payees, (one, more, others) => {
      const rest = others.filter((each) => each.wallet !== one.wallet).slice(0, MAX_LEGS - 2);
      const twice = canonicalPayees([one, ...rest, { ...one, weight: more }]);
      expect(twice).toEqual(canonicalPayees([{ ...one, weight: one.weight + more }, ...rest]));
    }),
  );
});

test('canonical words are strictly ordered by weight descending, then wallet ascending', () => {
  fc.assert(
    fc.property(payees, (list) => {
      const words = canonicalPayees(list).map((each) => BigInt(legWord(each)));
      for (let i = 1; i < words.length; i += 1) {
        const [a, b] = [words[i - 1] ?? 0n, words[i] ?? 0n];
        const ordered = a >> 160n > b >> 160n || (a >> 160n === b >> 160n && a < b);
        expect(ordered).toBe(true);
      }
    }),
  );
});

test('payees that cannot be paid are refused: none, weight 0, negative, 2^96 or more, over fifty wallets', () => {
  const one: WeightedPayee = { wallet: `0x${'11'.repeat(20)}`, weight: 1n };
  const other: Address = `0x${'22'.repeat(20)}`;
  expect(() => canonicalPayees([])).toThrow(RangeError);
  for (const bad of [0n, -1n]) expect(() => canonicalPayees([{ ...one, weight: bad }])).toThrow(RangeError);
  expect(() => canonicalPayees([one, { wallet: other, weight: 1n << 96n }])).toThrow(RangeError);
  expect(canonicalPayees([one, { wallet: other, weight: (1n << 96n) - 1n }])).toHaveLength(2);
  const many = Array.from({ length: 51 }, (_, i) => ({
    wallet: `0x${(i + 1).toString(16).padStart(40, '0')}` as Address,
    weight: 1n,
  }));
  expect(() => canonicalPayees(many)).toThrow(RangeError);
  expect(canonicalPayees(many.slice(1))).toHaveLength(50);
  expect(() => splitAmounts(-1n, [one])).toThrow(RangeError);
});

test('exact amounts used as weights come back exactly when their sum is paid', () => {
  fc.assert(
    fc.property(fc.uniqueArray(payee, { selector: (each) => each.wallet, minLength: 1, maxLength: MAX_LEGS }), (list) => {
      const canonical = canonicalPayees(list);
      const paid = splitAmounts(
        list.reduce((sum, each) => sum + each.weight, 0n),
        canonical,
      );
      const wanted = list.map((each) => ({ toAddress: each.wallet, amountMicro: each.weight }));
      const got = canonical.map((each, i) => ({ toAddress: each.wallet, amountMicro: paid[i] ?? 0n }));
      expect(sameLegs(got, wanted)).toBe(true);
      expect(sumLegs(got)).toBe(sumLegs(wanted));
    }),
  );
});

test('a changed amount, a moved micro or another address is another set of legs', () => {
  const a = { toAddress: `0x${'aa'.repeat(20)}`, amountMicro: 5n };
  const b = { toAddress: `0x${'bb'.repeat(20)}`, amountMicro: 3n };
  expect(sameLegs([a, b], [b, { ...a, toAddress: a.toAddress.toUpperCase().replace('0X', '0x') }])).toBe(true);
  expect(sameLegs([a, { ...a, amountMicro: 1n }, b], [{ ...a, amountMicro: 6n }, b])).toBe(true);
  expect(sameLegs([a, b], [a])).toBe(false);
  expect(
    sameLegs(
      [a, b],
      [
        { ...a, amountMicro: 4n },
        { ...b, amountMicro: 4n },
      ],
    ),
  ).toBe(false);
  expect(sameLegs([a], [b])).toBe(false);
});

test('one payee is paid directly; several at an address only they, their weights and the router decide', () => {
  fc.assert(
    fc.property(payees, (list) => {
      const canonical = canonicalPayees(list);
      const { payTo, words } = payToOf(list);
      expect(words).toEqual(canonical.map(legWord));
      if (canonical.length === 1) expect(payTo).toBe(canonical[0]?.wallet);
      else expect(payTo).toBe(splitAddress(routerAddress, implementationOf(routerAddress), words));
      expect(payTo).toMatch(/^0x[0-9a-f]{40}$/);
      const [first] = canonical;
      if (!first) return;
      const heavier = canonical.map((each, i) => (i === 0 ? { ...each, weight: each.weight * 2n + 1n } : each));
      if (canonical.length > 1) expect(payToOf(heavier).payTo).not.toBe(payTo);
    }),
    { numRuns: 50 },
  );
});

test('the router and the zero address are refused as payees', () => {
  const other: WeightedPayee = { wallet: `0x${'33'.repeat(20)}`, weight: 1n };
  for (const refused of [routerAddress, `0x${'0'.repeat(40)}` as const]) {
    expect(() => payToOf([{ wallet: refused, weight: 1n }])).toThrow(RangeError);
    expect(() => payToOf([other, { wallet: refused, weight: 1n }])).toThrow(RangeError);
  }
});
