import ipaddr from 'ipaddr.js';

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Special-use IPv4 (IANA special-purpose registry). */
const BLOCKED_V4 = ranges([
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
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/** Special-use blocks inside the global unicast 2000::/3; everything outside it is refused anyway. */
const BLOCKED_V6 = ranges(['2001::/23', '2001:db8::/32', '3fff::/20']);
const GLOBAL_UNICAST = ranges(['2000::/3']);
/** IPv6 that carries an IPv4 address, and at which byte: mapped, NAT64, 6to4. */
const CARRIERS: readonly { readonly range: Range; readonly offset: number }[] = [
  { range: range('::ffff:0:0/96'), offset: 12 },
  { range: range('64:ff9b::/96'), offset: 12 },
  { range: range('2002::/16'), offset: 2 },
];

/** What an address is to us. */
export type AddressKind = 'public' | 'loopback' | 'blocked';

/**
 * Judges one address text: `public` may be connected to, `loopback` only where the sandbox allows it, `blocked` never. IPv4
 * inside IPv6 is unwrapped first. Only canonical dotted IPv4 counts; a zone index or anything that does not parse is `blocked`.
 */
export function judgeAddress(text: string): AddressKind {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return judgeV4(ipaddr.IPv4.parse(text));
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return 'blocked';
  // ipaddr.js reads the long-gone `::8.8.8.8` as if it were `::ffff:8.8.8.8`.
  if (text.includes('.') && !/^::ffff:[\d.]+$/i.test(text)) return 'blocked';
  const address = ipaddr.IPv6.parse(text);
  if (address.toNormalizedString() === '0:0:0:0:0:0:0:1') return 'loopback';
  for (const { range: carrier, offset } of CARRIERS) {
    if (within(address, carrier)) return judgeV4(new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4)));
  }
  const isPublic = GLOBAL_UNICAST.some((one) => within(address, one)) && !BLOCKED_V6.some((one) => within(address, one));
  return isPublic ? 'public' : 'blocked';
}

/** True for text that a URL parser would take for an address, without the brackets of IPv6. */
export function isAddress(text: string): boolean {
  return ipaddr.isValid(text);
}

function judgeV4(address: ipaddr.IPv4): AddressKind {
  if (within(address, LOOPBACK_V4)) return 'loopback';
  return BLOCKED_V4.some((one) => within(address, one)) ? 'blocked' : 'public';
}

const LOOPBACK_V4: Range = range('127.0.0.0/8');

function range(cidr: string): Range {
  return ipaddr.parseCIDR(cidr);
}

function ranges(cidrs: readonly string[]): readonly Range[] {
  return cidrs.map(range);
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
