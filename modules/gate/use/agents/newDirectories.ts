import { LRUCache } from 'lru-cache';
import type { Rate } from '../../../kernel/rate.ts';
import { spend, steadyClock } from '../../../kernel/rate.ts';

/**
 * How often directories are asked that nobody asked before. The visitor of a site chooses which: so a site brings so many new ones, and so
 * many are asked under one registered domain, where names cost nothing. Of one process.
 */
export interface NewDirectories {
  /** Milliseconds to wait when it is too much, in which case nothing is counted; 0: ask. */
  count(tenantId: string, domain: string): number;
}

/** Points are directories. */
export interface NewDirectoryLimits {
  readonly perSite: Rate;
  readonly perDomain: Rate;
}

const LIMITS: NewDirectoryLimits = {
  perSite: { perSecond: 0.1, burst: 30 },
  perDomain: { perSecond: 1 / 60, burst: 10 },
};
/** Buckets that are remembered; to push one out takes as many new directories of others. */
const MOST_BUCKETS = 20_000;

/** Opens it, every bucket full. `clock` in epoch milliseconds. */
export function openNewDirectories(clock: () => number, limits: NewDirectoryLimits = LIMITS): NewDirectories {
  const now = steadyClock(clock);
  const sites = new LRUCache<string, number>({ max: MOST_BUCKETS });
  const domains = new LRUCache<string, number>({ max: MOST_BUCKETS });
  return {
    count: (tenantId, domain) => {
      const nowMs = now();
      const site = spend(sites.get(tenantId) ?? 0, 1, limits.perSite, nowMs);
      const target = spend(domains.get(domain) ?? 0, 1, limits.perDomain, nowMs);
      const waitMs = Math.max(site.waitMs, target.waitMs);
      if (waitMs === 0) {
        sites.set(tenantId, site.fullAtMs);
        domains.set(domain, target.fullAtMs);
      }
      return waitMs;
    },
  };
}
