import { LRUCache } from 'lru-cache';
import type { Rate } from '../../../kernel/rate.ts';
import { spend } from '../../../kernel/rate.ts';

/** Who has a page looked up: a site's own key, or somebody who asks the service itself, by the address of the call (its /64 in IPv6). */
export type LookedUpFor = 'site' | { readonly address: string };

/** How many pages of one site are looked up. */
export interface LookupRates {
  /** For its own keys; null: their own rate bounds it. */
  readonly site: Rate | null;
  /** For all who ask the service itself. They take none of the site's. */
  readonly strangers: Rate;
  /** For one address of those, so that it does not take the others' share. */
  readonly address: Rate;
}

/** Counts a lookup: the milliseconds that it must wait, in which case nothing is counted; 0: it may go on. */
export type CountLookup = (tenantId: string, by: LookedUpFor) => number;

const MOST_BUCKETS = 50_000;

/** Opens the counts of this process, every bucket full. The buckets of addresses push out none of the sites'. */
export function openLookups({ site, strangers, address }: LookupRates, clock: () => number): CountLookup {
  const sites = new LRUCache<string, number>({ max: MOST_BUCKETS });
  const addresses = new LRUCache<string, number>({ max: MOST_BUCKETS });
  return (tenantId, by) => {
    const isSite = by === 'site';
    const rate = isSite ? site : strangers;
    if (rate === null) return 0;
    const ofAll = `${isSite} ${tenantId}`;
    const spent = spend(sites.get(ofAll) ?? 0, 1, rate, clock());
    if (spent.waitMs > 0) return spent.waitMs;
    if (!isSite) {
      const ofAddress = `${by.address} ${tenantId}`;
      const own = spend(addresses.get(ofAddress) ?? 0, 1, address, clock());
      if (own.waitMs > 0) return own.waitMs;
      addresses.set(ofAddress, own.fullAtMs);
    }
    sites.set(ofAll, spent.fullAtMs);
    return 0;
  };
}
