import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsdc, MAX_JSON_MICRO, microToJson, parseDecimal, priceToMicro } from '../../modules/kernel/money/money.ts';

test('a decimal of USD becomes micro exactly', () => {
  expect(priceToMicro('0.001')).toBe(1_000n);
  expect(priceToMicro('1')).toBe(1_000_000n);
  expect(priceToMicro('0.000001')).toBe(1n);
  expect(priceToMicro('999999999999.999999')).toBe(999_999_999_999_999_999n);
  expect(priceToMicro('0')).toBe(0n);
});

test('a multiplier is applied before the one rounding, half up', () => {
  expect(priceToMicro('0.001', '5')).toBe(5_000n);
  expect(priceToMicro('0.0000003', '5')).toBe(2n);
  expect(priceToMicro('0.0000005')).toBe(1n);
  expect(priceToMicro('0.00000049')).toBe(0n);
  expect(priceToMicro('0.1', '0.3')).toBe(30_000n);
});

test('what is not a plain decimal is refused', () => {
  for (const text of [
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1e3',
    '.5',
    '5.',
    '0x10',
    '1,5',
    'NaN',
    '1'.repeat(13),
    `0.${'1'.repeat(13)}`,
  ]) {
    expect(parseDecimal(text), text).toBeNull();
    expect(() => priceToMicro(text)).toThrow(RangeError);
    expect(() => priceToMicro('1', text)).toThrow(RangeError);
  }
});

test('micro leaves as JSON up to 2^53 - 1 and not beyond, either sign', () => {
  expect(microToJson(MAX_JSON_MICRO)).toBe(Number.MAX_SAFE_INTEGER);
  expect(microToJson(-MAX_JSON_MICRO)).toBe(-Number.MAX_SAFE_INTEGER);
  expect(microToJson(0n)).toBe(0);
  expect(() => microToJson(MAX_JSON_MICRO + 1n)).toThrow(RangeError);
  expect(() => microToJson(-MAX_JSON_MICRO - 1n)).toThrow(RangeError);
});

test('formatted USD has six decimals and one sign', () => {
  expect(formatUsdc(0n)).toBe('0.000000');
  expect(formatUsdc(1_000n)).toBe('0.001000');
  expect(formatUsdc(-1n)).toBe('-0.000001');
  expect(formatUsdc(12_345_678n)).toBe('12.345678');
});

test('formatting and parsing are each other’s inverse', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 18n - 1n), (micro) => {
      expect(priceToMicro(formatUsdc(micro))).toBe(micro);
    }),
  );
});

test('rounding is never off by more than half a micro', () => {
  const decimal = fc.tuple(fc.bigInt(0n, 10n ** 9n), fc.integer({ min: 0, max: 12 }));
  fc.assert(
    fc.property(decimal, decimal, ([a, scaleA], [b, scaleB]) => {
      const text = (digits: bigint, scale: number) => {
        const padded = digits.toString().padStart(scale + 1, '0');
        return scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
      };
      const unit = 10n ** BigInt(scaleA + scaleB);
      const exact = a * b * 1_000_000n;
      const twiceError = 2n * (priceToMicro(text(a, scaleA), text(b, scaleB)) * unit - exact);
      expect(twiceError > -unit && twiceError <= unit).toBe(true);
    }),
  );
});
