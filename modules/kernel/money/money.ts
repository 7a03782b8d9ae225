/**
 * Money is an integer number of micro-USDC, `bigint` in memory (1_000_000 = 1 USD). This file is the only
 * place that turns decimals into micro and micro into JSON numbers.
 */

/** The largest micro amount that may leave as a JSON integer (2^53 - 1). */
export const MAX_JSON_MICRO = BigInt(Number.MAX_SAFE_INTEGER);

/** A million USD: the most one page costs, and a report may say it costs. Thousands of such sums stay what JSON can carry. */
export const MAX_PRICE_MICRO = 1_000_000_000_000n;

/**
 * Parses a plain decimal of USD ("0.001", "12", "3.5") into `{digits, scale}`; null when it is not one. No exponent, no
 * sign, at most 12 digits before and 12 after the point.
 */
export function parseDecimal(text: string): { readonly digits: bigint; readonly scale: number } | null {
  const match = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text);
  if (!match) return null;
  const fraction = match[2] ?? '';
  return { digits: BigInt(`${match[1]}${fraction}`), scale: fraction.length };
}

/**
 * `price × multiplier` in micro-USDC, rounded half up once, by decimal arithmetic. Both arguments are plain decimals.
 * Throws RangeError when one is not.
 */
export function priceToMicro(priceUsdc: string, multiplier = '1'): bigint {
  const price = parseDecimal(priceUsdc);
  const factor = parseDecimal(multiplier);
  if (!price || !factor) throw new RangeError('a price is a plain decimal');
  const numerator = price.digits * factor.digits * 1_000_000n;
  const denominator = 10n ** BigInt(price.scale + factor.scale);
  return (2n * numerator + denominator) / (2n * denominator);
}

/**
 * Micro as the JSON integer the specification asks for. Throws RangeError beyond 2^53 - 1: a wrong number is worse than
 * none.
 */
export function microToJson(micro: bigint): number {
  if (micro > MAX_JSON_MICRO || micro < -MAX_JSON_MICRO) throw new RangeError('amount exceeds what JSON can carry');
  return Number(micro);
}

/** Formatted USD with six decimals ("0.001000"), for people beside an amount; never parsed back. */
export function formatUsdc(micro: bigint): string {
  const sign = micro < 0n ? '-' : '';
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** Micro-USDC as people write dollars: without zeros at the end. */
export function usdText(micro: bigint): string {
  return formatUsdc(micro).replace(/\.?0+$/, '');
}
