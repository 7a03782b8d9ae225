/** Addresses of the internet, and ranges of them. Without `node:net`, which runtimes of Workers have in part or not at all. */

/** An address as hexadecimal digits, eight of IPv4 and 32 of IPv6, so that texts of one length compare as addresses do. */
export type Digits = string;

/** The address in a text as sockets and proxies write it, a port behind it or not; IPv4 inside IPv6 as IPv4. Null for no address. */
export function digitsOf(text: string): Digits | null {
  const bytes = bytesOf(text);
  return bytes && hexOf(bytes);
}

/** True for an address that anybody on the internet can have: not of this machine, a private network or a special use. */
export function isPublic(text: string): boolean {
  const digits = digitsOf(text);
  return digits !== null && (digits.length === 8 || GLOBAL.has(digits)) && !SPECIAL.has(digits);
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
  const bytes = bytesOf(address);
  const width = bytes?.length === 4 ? 32 : 128;
  const length = given === undefined ? width : /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN;
  if (bytes === null || !(length <= width)) throw new TypeError(`${text} is no range of addresses`);
  const free = bytes.map((_, at) => 255 >> Math.min(8, Math.max(0, length - 8 * at)));
  const from = bytes.map((byte, at) => byte & ~(free[at] ?? 0));
  const end = bytes.map((byte, at) => byte | (free[at] ?? 0));
  return { from: hexOf(from), reach: hexOf(end) };
}

function bytesOf(text: string): readonly number[] | null {
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
  const plain = bare.split('%', 1)[0] ?? '';
  if (!plain.includes(':')) return v4Of(plain);
  const bytes = v6Of(plain);
  const isMapped = bytes?.every((byte, at) => at >= 12 || byte === (at < 10 ? 0 : 255));
  return isMapped ? (bytes?.slice(12) ?? null) : bytes;
}

function v4Of(text: string): readonly number[] | null {
  return /^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/.test(text) && text.split('.').every((part) => Number(part) < 256)
    ? text.split('.').map(Number)
    : null;
}

/** Every runtime has a parser of IPv6 in its URLs, which writes the address in one form: lower case, without IPv4, `::` for the longest run. */
function v6Of(text: string): readonly number[] | null {
  const url = `http://[${text}]/`;
  if (!/^[0-9a-f:.]{2,45}$/i.test(text) || !URL.canParse(url)) return null;
  const [before = [], after = []] = new URL(url).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...before, ...new Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
}

function hexOf(bytes: readonly number[]): Digits {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Of IPv6, what is given to networks at all. */
const GLOBAL = createRanges(['2000::/3']);
/** What IANA keeps for special use (RFC 6890), and what leads to IPv4 through somebody else's gateway. */
const SPECIAL = createRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);
