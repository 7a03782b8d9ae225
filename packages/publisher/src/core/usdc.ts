/** Micro-USDC as the text of the crawler price headers, exact: 3,000 is `USD 0.003`, 10,000 `USD 0.01`, a million `USD 1.00`. */
export function dollars(micro: number | string): string {
  const digits = String(micro).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '');
  return `USD ${digits.slice(0, -6)}.${fraction}`;
}

/** What the text of a crawler price header says, in micro-USDC; null for other currencies, more than six decimals, and what is no amount. */
export function microOf(text: string): number | null {
  const [, whole, fraction = ''] = /^(?:USD\s+)?(\d{1,9})(?:\.(\d{1,6}))?$/i.exec(text.trim()) ?? [];
  return whole === undefined ? null : Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}
