import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** What callers without a credential are told apart by: the address a request came from, of IPv6 its /64. */
export type AddressReader = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/** Bits of an IPv6 address that name a network: a caller with one address has its whole /64. */
const NETWORK_BITS = 64;
/** More proxies than anybody has, one behind the other. */
const MOST_HOPS = 8;

/**
 * Reads where requests come from. Only proxies of these ranges (CIDR) are believed: from right to left, `X-Forwarded-For` names who each
 * of them was called by, up to the first that is none of ours; what stands further left a caller may have written himself. From any
 * other peer the header means nothing. No other header is read: a proxy that sets one passes the others on as they came. Throws for a
 * range that is none.
 */
export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  const ranges = trustedProxies.map((range) => ipaddr.parseCIDR(range));
  const isOurs = (ip: Ip): boolean => ranges.some((range) => range[0].kind() === ip.kind() && ip.match(range));
  return ({ socket: { remoteAddress = '' }, headers }) => {
    const peer = parseIp(remoteAddress);
    if (!peer) return remoteAddress;
    const forwarded = ranges.length > 0 && isOurs(peer) ? headers['x-forwarded-for'] : undefined;
    return networkOf(forwarded === undefined ? peer : originOf(peer, String(forwarded), isOurs));
  };
}

/** The last caller of a chain that is none of our proxies; where the chain cannot be read, the last proxy before. */
function originOf(peer: Ip, forwarded: string, isOurs: (ip: Ip) => boolean): Ip {
  let origin = peer;
  for (const hop of forwarded.split(',').slice(-MOST_HOPS).reverse()) {
    const caller = parseIp(hop.trim());
    if (!caller) return origin;
    origin = caller;
    if (!isOurs(caller)) return origin;
  }
  return origin;
}

/** An address as sockets and proxies write it, a port behind it or not; IPv4 inside IPv6 as IPv4. */
function parseIp(text: string): Ip | null {
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text)?.[1] ?? text;
  const plain = bare.split('%', 1)[0] ?? '';
  const isIp = plain.includes(':') ? ipaddr.IPv6.isValid(plain) : ipaddr.IPv4.isValidFourPartDecimal(plain);
  return isIp ? ipaddr.process(plain) : null;
}

function networkOf(ip: Ip): string {
  if (ip.kind() === 'ipv4') return ip.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${ip.toString()}/${NETWORK_BITS}`).toString();
}
