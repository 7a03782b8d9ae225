/** Amounts: micro-USDC as bigint inside, decimals of USDC with at most six places outside. */

/** Micro-USDC of a plain decimal; null when it is not one, or has more than six places. */
export function microOfUsdc(text: string): bigint | null {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text);
  return match ? BigInt(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`) : null;
}

/** The decimal of an amount, without zeros at its end: 3000n is `0.003`. */
export function usdcOf(micro: bigint): string {
  const whole = micro / 1_000_000n;
  const rest = (micro % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return rest === '' ? `${whole}` : `${whole}.${rest}`;
}
