import { LRUCache } from 'lru-cache';
import type { Rate } from '../../../kernel/rate.ts';
import { giveBack, spend, steadyClock } from '../../../kernel/rate.ts';

/** Who has a page looked up: a site's own key, or somebody who asks the service itself, by the address of the call (its /64 in IPv6). */
export type LookedUpFor = 'site' | { readonly address: string };

/** How many pages of one site are looked up. */
export interface LookupRates {
  /** For its own keys; null: their own rate bounds it. */
  readonly site: Rate | null;
  /**
   * For all who ask the service itself, twice: once for addresses that invented no page within ten minutes, once for the others. A lookup that
   * finds something gives its turn back. They take none of the site's. Null: the rate of each address bounds them.
   */
  readonly strangers: Rate | null;
  /** For one address of those, so that it does not take the others' share. */
  readonly address: Rate;
}

/** A lookup that may go on when it need not wait. */
export interface Turn {
  /** Milliseconds to wait, in which case nothing was counted; 0: it may go on. */
  readonly waitMs: number;
  /** Says once whether the lookup found something; not called where nobody could say. */
  ended(hasFound: boolean): void;
}

/** Counts a lookup of a site's page. */
export type TakeTurn = (tenantId: string, by: LookedUpFor) => Turn;

const MOST_BUCKETS = 50_000;
const INVENTOR_MS = 600_000;

/** Opens the counts of this process, every bucket full. The buckets of addresses push out none of the sites'. */
export function openLookups({ site, strangers, address }: LookupRates, clock: () => number): TakeTurn {
  const read = steadyClock(clock);
  const common = new LRUCache<string, number>({ max: MOST_BUCKETS });
  const addresses = new LRUCache<string, number>({ max: MOST_BUCKETS });
  const inventedAt = new LRUCache<string, number>({ max: MOST_BUCKETS });
  return (tenantId, by) => {
    const now = read();
    const ofAddress = by === 'site' ? null : `${by.address} ${tenantId}`;
    const isInventor = ofAddress !== null && now - (inventedAt.get(ofAddress) ?? Number.NEGATIVE_INFINITY) < INVENTOR_MS;
    const rate = ofAddress === null ? site : strangers;
    const name = `${ofAddress === null ? 'site' : isInventor ? 'inventors' : 'strangers'} ${tenantId}`;
    const ofAll = rate && spend(common.get(name) ?? 0, 1, rate, now);
    const own = ofAddress === null ? null : spend(addresses.get(ofAddress) ?? 0, 1, address, now);
    const waitMs = Math.max(ofAll?.waitMs ?? 0, own?.waitMs ?? 0);
    if (waitMs > 0) return { waitMs, ended: () => undefined };
    if (ofAll) common.set(name, ofAll.fullAtMs);
    if (own && ofAddress !== null) addresses.set(ofAddress, own.fullAtMs);
    return {
      waitMs: 0,
      ended: (hasFound) => {
        if (ofAddress === null) return;
        if (!hasFound) inventedAt.set(ofAddress, read());
        else if (rate) common.set(name, giveBack(common.get(name) ?? 0, 1, rate));
      },
    };
  };
}
