import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseFees, inCoinsOf, replaceFees, requiredBalance } from '../../platform/chain/gas/fees.ts';

const settings = { maxFeePerGasWei: 5_000_000_000n, priorityFeePerGasWei: 1_000_000n };

test('fees double the base fee, add the tip, and stop at the cap', () => {
  expect(chooseFees(settings, 10_000_000n)).toEqual({ maxFeePerGasWei: 21_000_000n, maxPriorityFeePerGasWei: 1_000_000n });
  expect(chooseFees(settings, 4_000_000_000n).maxFeePerGasWei).toBe(5_000_000_000n);
  expect(chooseFees({ ...settings, maxFeePerGasWei: 10n }, 100n)).toEqual({ maxFeePerGasWei: 10n, maxPriorityFeePerGasWei: 10n });
});

test('a replacement raises both fees by a quarter, or to what today asks for', () => {
  const first = { maxFeePerGasWei: 100n, maxPriorityFeePerGasWei: 10n };
  const modest = { maxFeePerGasWei: 1_000n, priorityFeePerGasWei: 1n };
  expect(replaceFees(modest, first)).toEqual({ maxFeePerGasWei: 125n, maxPriorityFeePerGasWei: 13n });
  expect(replaceFees(modest, first, 300n)?.maxFeePerGasWei).toBe(601n);
});

test('a replacement is at least 10 % dearer in both fees and never above the cap, or there is none', () => {
  const wei = fc.bigInt({ min: 1n, max: 10_000_000_000n });
  fc.assert(
    fc.property(wei, wei, wei, (fee, tip, baseFeeWei) => {
      const [maxPriorityFeePerGasWei = 0n, maxFeePerGasWei = 0n] = [fee, tip].toSorted((a, b) => (a < b ? -1 : 1));
      const previous = { maxFeePerGasWei, maxPriorityFeePerGasWei };
      const next = replaceFees(settings, previous, baseFeeWei);
      if (next === null) return 10n * settings.maxFeePerGasWei < 14n * maxFeePerGasWei;
      return (
        next.maxFeePerGasWei * 10n >= maxFeePerGasWei * 11n &&
        next.maxPriorityFeePerGasWei * 10n >= maxPriorityFeePerGasWei * 11n &&
        next.maxFeePerGasWei <= settings.maxFeePerGasWei &&
        next.maxPriorityFeePerGasWei <= next.maxFeePerGasWei
      );
    }),
  );
});

test('gas of every network counts in the coin of the first, by what a coin of each is worth, and never as nothing', () => {
  const [ether, pol, silent] = [{ nativePriceMicro: 4_000_000_000n }, { nativePriceMicro: 1_000_000n }, {}];
  expect(inCoinsOf(ether, ether, 8_000n)).toBe(8_000n);
  expect(inCoinsOf(ether, pol, 8_000n)).toBe(2n);
  expect(inCoinsOf(ether, pol, 1n)).toBe(1n);
  expect(inCoinsOf(pol, ether, 3n)).toBe(12_000n);
  expect([inCoinsOf(silent, silent, 5n), inCoinsOf({ nativePriceMicro: 0n }, silent, 5n)]).toEqual([5n, 5n]);
});

test('the balance a transaction needs is its whole limit at the highest price', () => {
  expect(requiredBalance(21_000n, { maxFeePerGasWei: 7n, maxPriorityFeePerGasWei: 1n })).toBe(147_000n);
});
