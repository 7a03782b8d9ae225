/** Addresses of the internet, and ranges of them. */
import ipaddr from 'ipaddr.js';

/** An address as hexadecimal digits, eight of IPv4 and 32 of IPv6, so that texts of one length compare as addresses do. */
export type Digits = string;

/** The address in a text as sockets and proxies write it, a port behind it or not; IPv4 inside IPv6 as IPv4. Null for no address. */
export function digitsOf(text: string): Digits | null {
  const ip = ipOf(text);
  return ip && hexOf(ip.toByteArray());
}

/** True for an address that anybody on the internet can have: not of this machine, a private network or a special use. */
export function isPublic(text: string): boolean {
  return ipOf(text)?.range() === 'unicast';
}

/** A set of ranges. */
export interface Ranges {
  has(address: Digits): boolean;
  readonly size: number;
}

/** Reads ranges in CIDR notation, or addresses alone. Throws TypeError for one that is none. */
export function createRanges(texts: readonly string[]): Ranges {
  const spans = texts.map(spanOf).sort((a, b) => (a.from < b.from ? -1 : 1));
  const byLength = [8, 32].map((digits) => reaching(spans.filter(({ from }) => from.length === digits)));
  return {
    has: (address) => {
      const among = byLength[address.length === 8 ? 0 : 1] ?? [];
      let [low, high] = [0, among.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((among[middle]?.from ?? '') <= address) low = middle + 1;
        else high = middle;
      }
      return low > 0 && address <= (among[low - 1]?.reach ?? '');
    },
    size: spans.length,
  };
}

interface Span {
  readonly from: Digits;
  /** The last address of this range; in a row, of this one and all before it, since one may lie in another. */
  readonly reach: Digits;
}

function reaching(spans: readonly Span[]): readonly Span[] {
  let reach = '';
  return spans.map((span) => {
    if (span.reach > reach) reach = span.reach;
    return { from: span.from, reach };
  });
}

function spanOf(text: string): Span {
  const [address = '', given] = text.trim().split('/');
  const ip = ipOf(address);
  const length = given === undefined ? undefined : /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN;
  const width = ip?.kind() === 'ipv4' ? 32 : 128;
  if (ip === null || (length !== undefined && !(length <= width))) throw new TypeError(`${text} is no range of addresses`);
  const bytes = ip.toByteArray();
  const end = bytes.map((byte, at) => byte | (255 >> Math.min(8, Math.max(0, (length ?? width) - 8 * at))));
  const from = bytes.map((byte, at) => byte & ~(255 >> Math.min(8, Math.max(0, (length ?? width) - 8 * at))));
  return { from: hexOf(from), reach: hexOf(end) };
}

function ipOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
  const plain = bare.split('%', 1)[0] ?? '';
  const isIp = plain.includes(':') ? ipaddr.IPv6.isValid(plain) : ipaddr.IPv4.isValidFourPartDecimal(plain);
  return isIp ? ipaddr.process(plain) : null;
}

function hexOf(bytes: readonly number[]): Digits {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
