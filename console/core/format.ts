/** Figures as people read them; `exact…` says each without loss, for `title=` and for screen readers. Nothing here adds money up in floats. */

/** Money as the API writes it: a whole number of micro-USDC. */
export type MicroText = string | number | bigint;

/** A moment as the API writes it: ms since 1970, or ISO 8601. */
export type Moment = number | string;

const MICRO = 1_000_000n;
const NONE = '–';

/** How many places amounts of one column have, so that their points line up: as many as the one below a dollar that needs most. */
export function placesOf(amounts: readonly (MicroText | null | undefined)[]): number {
  const needed = amounts.map((micro) => {
    const size = BigInt(micro ?? 0);
    const isSmall = size > -MICRO && size < MICRO;
    return isSmall
      ? String(size % MICRO)
          .replace('-', '')
          .padStart(6, '0')
          .replace(/0+$/, '').length
      : 2;
  });
  return Math.max(2, ...needed);
}

/** `$1,234.50`; below a dollar three of six places, and more where there are, `$0.050`. Rounded to cents above, unless `places` says more. */
export function usd(micro: MicroText | null | undefined, places = 0): string {
  if (micro === null || micro === undefined) return NONE;
  const value = BigInt(micro);
  if (places >= 2) {
    const unit = 10n ** BigInt(6 - places);
    const units = ((value < 0n ? -value : value) + unit / 2n) / unit;
    const whole = 10n ** BigInt(places);
    return `${value < 0n ? '−' : ''}$${grouped(units / whole)}.${String(units % whole).padStart(places, '0')}`;
  }
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? '−' : '';
  if (size >= MICRO || size === 0n) {
    const cents = (size + 5_000n) / 10_000n;
    return `${sign}$${grouped(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
  }
  return `${sign}$0.${shortened(size)}`;
}

/** `1,234.500000 USDC`, every digit. */
export function exactUsd(micro: MicroText | null | undefined): string {
  if (micro === null || micro === undefined) return 'none';
  const value = BigInt(micro);
  const size = value < 0n ? -value : value;
  return `${value < 0n ? '−' : ''}${grouped(size / MICRO)}.${String(size % MICRO).padStart(6, '0')} USDC`;
}

/** `12,345`; from 100,000 on `123k`, from a million on `1.23m`. */
export function count(n: number | null | undefined): string {
  if (n === null || n === undefined) return NONE;
  const size = Math.abs(n);
  if (size < 100_000) return n.toLocaleString('en-US');
  const [part, unit] =
    size < 1_000_000 ? [n / 1_000, 'k'] : size < 1_000_000_000 ? [n / 1_000_000, 'm'] : [n / 1_000_000_000, 'bn'];
  return `${part.toLocaleString('en-US', { maximumSignificantDigits: 3 })}${unit}`;
}

/** `1,234,567`. */
export function exactCount(n: number | null | undefined): string {
  return n === null || n === undefined ? 'none' : n.toLocaleString('en-US');
}

/** A part of one as `12 %`, `1.2 %` or `<0.1 %`; null where there is nothing to be a part of. */
export function percent(part: number | null | undefined): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return NONE;
  const shown = part * 100;
  if (shown !== 0 && Math.abs(shown) < 0.1) return '<0.1 %';
  return `${shown.toLocaleString('en-US', { maximumFractionDigits: Math.abs(shown) < 10 ? 1 : 0 })} %`;
}

/** A part of one with four places. */
export function exactPercent(part: number | null | undefined): string {
  return part === null || part === undefined || !Number.isFinite(part) ? 'none' : `${(part * 100).toFixed(4)} %`;
}

/** How `now` differs from `before`: `+12 %`, `−3.4 %`; null where there was nothing to compare with. Of money or counts. */
export function difference(
  now: MicroText,
  before: MicroText | null | undefined,
): { readonly text: string; readonly direction: 'up' | 'down' | 'same' } | null {
  if (before === null || before === undefined) return null;
  const [a, b] = [BigInt(now), BigInt(before)];
  if (b === 0n) return null;
  if (a === b) return { text: 'no change', direction: 'same' };
  const part = Number(((a - b) * 10_000n) / (b < 0n ? -b : b)) / 10_000;
  if (Math.abs(part) >= 10) return { text: `${a > b ? '+' : '−'}over 1,000 %`, direction: a > b ? 'up' : 'down' };
  const text = percent(Math.abs(part));
  return { text: `${a > b ? '+' : '−'}${text}`, direction: a > b ? 'up' : 'down' };
}

/** `22 Nov, 18:05`, with the year where it is another one than now. By the viewer's clock. */
export function moment(at: Moment | null | undefined, now: number = Date.now()): string {
  if (at === null || at === undefined) return NONE;
  const date = new Date(at);
  return `${day(at, now)}, ${date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
}

/** `2026-11-22T18:05:09.123Z`. */
export function exactMoment(at: Moment | null | undefined): string {
  return at === null || at === undefined ? 'none' : new Date(at).toISOString();
}

/** `22 Nov`, with the year where it is another one than now. */
export function day(at: Moment | null | undefined, now: number = Date.now()): string {
  if (at === null || at === undefined) return NONE;
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...(isThisYear ? {} : { year: 'numeric' }) });
}

/** `22 November 2026`. */
export function exactDay(at: Moment | null | undefined): string {
  return at === null || at === undefined ? 'none' : new Date(at).toLocaleDateString('en-GB', { dateStyle: 'long' });
}

/** `3 min ago`, `in 2 d`. */
export function ago(at: Moment | null | undefined, now: number = Date.now()): string {
  if (at === null || at === undefined) return NONE;
  const ms = now - new Date(at).getTime();
  if (Math.abs(ms) < 45_000) return 'just now';
  return ms >= 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A length of time in its largest unit: `850 ms`, `2.3 s`, `14 min`, `5 h`, `12 d`. */
export function span(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return NONE;
  for (const [unit, name] of UNITS) {
    if (ms >= unit) return `${(ms / unit).toLocaleString('en-US', { maximumFractionDigits: ms / unit < 10 ? 1 : 0 })} ${name}`;
  }
  return `${Math.round(ms)} ms`;
}

/** `12,345 ms`. */
export function exactSpan(ms: number | null | undefined): string {
  return ms === null || ms === undefined || !Number.isFinite(ms) ? 'none' : `${Math.round(ms).toLocaleString('en-US')} ms`;
}

/** An address, hash or id with its middle left out: `0x1234…cdef`. */
export function short(text: string | null | undefined): string {
  if (!text) return NONE;
  return text.length <= 14 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`;
}

/** What a licence is for, as people say it. */
const USES: Readonly<Record<string, string>> = {
  search: 'Search',
  'ai-index': 'AI index',
  'ai-input': 'AI answers',
  'ai-train': 'Training',
  all: 'Everything',
};

/** The words of use of a licence. */
export function uses(terms: readonly string[]): string {
  return terms.map((term) => USES[term] ?? term).join(', ');
}

/** An enum value as words: `PAYMENT_FAILED` is `Payment failed`. */
export function words(value: string | null | undefined): string {
  if (!value) return NONE;
  const text = value.replaceAll(/[_-]/g, ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A decimal without zeros that say nothing: `0.010000` is `0.01`. */
export function plain(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

function grouped(whole: bigint): string {
  return whole.toLocaleString('en-US');
}

/** Six places with trailing zeros gone, three places kept, so that small prices line up. */
function shortened(micro: bigint): string {
  return String(micro)
    .padStart(6, '0')
    .replace(/0{1,3}$/, '');
}
