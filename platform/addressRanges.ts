import ipaddr from 'ipaddr.js';
import { judgeAddress } from './outbound/address.ts';

/** Most addresses and ranges that a published list may hold. */
export const MAX_RANGES = 5_000;
/** The widest range that a list may name: whoever publishes a wider one names half of the internet. */
const LEAST_BITS = { 32: 12, 128: 32 } as const;

/** The most that a list may name altogether, of an operator who has no network of a country: a /8 of IPv4, sixteen /32 of IPv6. */
const MOST_ADDRESSES = { 32: 1n << 24n, 128: 1n << 100n } as const;

/** Addresses one after the other, both ends included. */
interface Span {
  readonly width: 32 | 128;
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * The ranges of a list as its operator publishes it, in CIDR notation, sorted, each as wide as may be. Reads JSON, wherever in it addresses stand under a
 * name that says so (`prefixes[].ipv4Prefix`, `ip_prefix`, `ips`, or a bare array), and text with one address or range a line, `#` beginning a
 * comment. Null for anything else, and for a list that cannot be right: empty, longer than 5,000, with an address that is not public, with a
 * range wider than /12 (IPv4) or /32 (IPv6), or with more addresses altogether than a /8 or sixteen /32 have.
 */
export function readRanges(text: string): readonly string[] | null {
  const named = namedIn(text);
  if (named === null || named.length === 0 || named.length > MAX_RANGES) return null;
  const spans = named.map(spanOf);
  if (!spans.every((span) => span !== null)) return null;
  const joined = join(spans);
  const isTooMuch = ([32, 128] as const).some(
    (width) => sizeOf(joined.filter((span) => span.width === width)) > MOST_ADDRESSES[width],
  );
  return isTooMuch ? null : joined.flatMap((span) => [...rangesOf(span)]);
}

/** True when at least half of the ranges of a list are still in a newer one (both as `readRanges` gives them). */
export function keepsHalf(before: readonly string[], after: readonly string[]): boolean {
  const spans = join(after.map(spanOf).filter((span) => span !== null));
  const isKept = (one: Span | null): boolean =>
    one !== null && spans.some((span) => span.width === one.width && span.from <= one.from && one.to <= span.to);
  return before.filter((text) => isKept(spanOf(text))).length * 2 >= before.length;
}

const sizeOf = (spans: readonly Span[]): bigint => spans.reduce((sum, { from, to }) => sum + to - from + 1n, 0n);

/** The texts of a list that ought to be addresses; null where the list has a form that is not known. */
function namedIn(text: string): readonly string[] | null {
  if (/^\s*[[{]/.test(text)) {
    try {
      return leavesOf(JSON.parse(text), true);
    } catch {
      return null;
    }
  }
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, '').trim());
  return lines.filter((line) => line !== '');
}

/** Texts that stand in an array, or under a name that says address; others are dates, regions and the like. */
function leavesOf(value: unknown, isAddress: boolean, found: string[] = []): readonly string[] {
  if (typeof value === 'string' && isAddress) found.push(value.trim());
  if (Array.isArray(value)) for (const one of value) leavesOf(one, isAddress, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value)) leavesOf(one, /^ip|prefix|cidr|range|address|network/i.test(name), found);
  return found;
}

function spanOf(text: string): Span | null {
  const [address = '', bits, more] = text.split('/');
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (more !== undefined || !(isV4 || (/^[0-9a-f:]+$/i.test(address) && ipaddr.IPv6.isValid(address)))) return null;
  // Gates read IPv4 inside IPv6 as IPv4, which has no such lengths.
  if (!isV4 && ipaddr.IPv6.parse(address).isIPv4MappedAddress()) return null;
  const width = isV4 ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return null;
  const length = bits === undefined ? width : Number(bits);
  if (length > width || length < LEAST_BITS[width]) return null;
  const size = 1n << BigInt(width - length);
  const from = (numberOf(address) / size) * size;
  const to = from + size - 1n;
  const isPublic = [from, to].every((end) => judgeAddress(textOf(width, end)) === 'public');
  return isPublic ? { width, from, to } : null;
}

/** The same addresses in as few spans as can be, in their order. */
function join(spans: readonly Span[]): readonly Span[] {
  const sorted = [...spans].sort((a, b) => a.width - b.width || (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const joined: Span[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last?.width !== span.width || span.from > last.to + 1n) joined.push(span);
    else if (span.to > last.to) joined[joined.length - 1] = { ...last, to: span.to };
  }
  return joined;
}

function* rangesOf({ width, from, to }: Span): Generator<string> {
  for (let next = from; next <= to; ) {
    let size = 1n;
    while (size < 1n << BigInt(width) && next % (size * 2n) === 0n && next + size * 2n - 1n <= to) size *= 2n;
    yield `${textOf(width, next)}/${width - (size.toString(2).length - 1)}`;
    next += size;
  }
}

function numberOf(address: string): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

function textOf(width: 32 | 128, address: bigint): string {
  const bytes = Array.from({ length: width / 8 }, (_, at) => Number((address >> BigInt(width - 8 * (at + 1))) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}
