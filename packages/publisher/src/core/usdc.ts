/** Micro-USDC as the text of the crawler price headers, exact: 3,000 is `USD 0.003`, 10,000 `USD 0.01`, a million `USD 1.00`. */
export function dollars(micro: number | string): string {
  const digits = String(micro).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '');
  return `USD ${digits.slice(0, -6)}.${fraction}`;
}
