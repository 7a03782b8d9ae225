/** Where a request comes from: the address of who asks, through proxies that the site has named, or as far as it can be told without. */
import type { Ranges } from './ranges.ts';
import { createRanges, digitsOf, isPublic } from './ranges.ts';

/** Addresses that may be those of who asks, the nearest first: one where it is certain, none where nothing is known. */
export type Whence = readonly string[];

/** What is read of a request. `peer`: the address at the other end of the connection, where the platform knows it. */
export interface Arrival {
  readonly peer?: (() => string | undefined) | undefined;
  readonly header: (name: string) => string | null | undefined;
}

/** More proxies than anybody has, one behind the other. */
const MOST_HOPS = 8;
/** Addresses that are looked at where no proxy was named. */
const MOST_GUESSES = 4;
/** Headers in which proxies name the one address that called them. */
const ONE_ADDRESS = ['cf-connecting-ip', 'true-client-ip', 'x-real-ip'];
/** What only a proxy sends. */
const OF_PROXIES = ['via', 'forwarded', 'x-forwarded-for', ...ONE_ADDRESS];

/**
 * Reads where requests come from. `trustedProxies` (CIDR): those alone are believed, from right to left in `X-Forwarded-For`, up to the first that
 * is none of them; an empty list: nobody is in front. Undefined: the site did not say who is in front of it. Then every address that the
 * connection or a proxy's header names may be the one: a false name is still told, unless who sends it writes an address of the true one into
 * such a header as well. Throws TypeError for a range that is none.
 */
export function createWhence(trustedProxies: readonly string[] | undefined): (arrival: Arrival) => Whence {
  if (trustedProxies === undefined) return guess;
  const trusted = createRanges(trustedProxies);
  return (arrival) => through(trusted, arrival);
}

/**
 * The last caller that is no proxy of the site's. A proxy that names nobody hides who asks, and so does one of a private network that the site
 * forgot to name: nobody on the internet has its address.
 */
function through(trusted: Ranges, { peer, header }: Arrival): Whence {
  const isOurs = (address: string): boolean => {
    const digits = digitsOf(address);
    return digits !== null && trusted.has(digits);
  };
  const isProxied = OF_PROXIES.some((name) => header(name));
  const caller = (address: string): Whence => (digitsOf(address) === null || (isProxied && !isPublic(address)) ? [] : [address]);
  const near = peer?.();
  // Platforms that know no connection have proxies in front of them.
  if (near === undefined && trusted.size === 0) return [];
  if (near !== undefined && !isOurs(near)) return caller(near);
  for (const hop of hopsOf(header).reverse()) {
    if (!isOurs(hop)) return caller(hop);
  }
  return [];
}

function guess({ peer, header }: Arrival): Whence {
  const near = peer?.();
  const named = [...hopsOf(header).reverse(), ...ONE_ADDRESS.map((name) => header(name) ?? '')].filter(isPublic);
  const isProxied = OF_PROXIES.some((name) => header(name));
  // A proxy that does not say who asks: it alone is known.
  if (isProxied && named.length === 0) return [];
  const all = near !== undefined && isPublic(near) ? [near, ...named] : named;
  return [...new Set(all)].slice(0, MOST_GUESSES);
}

function hopsOf(header: Arrival['header']): string[] {
  return (header('x-forwarded-for') ?? '')
    .split(',')
    .slice(-MOST_HOPS)
    .map((hop) => hop.trim());
}
