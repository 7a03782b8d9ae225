/**
 * What was read of keys and licences, remembered for as long as the access epoch of their site stands (modules/identity/store/accessEpoch.ts). Every call reads
 * the epoch from Postgres, after it came: so a revocation holds in the very next call, and memory answers the rest.
 *
 * What bounds the cost: calls at one time share one statement of one row a site. Who moves the epoch of his site all the time makes his own
 * calls cost what they cost without memory; the epochs of others stay. Memory is bounded by what was used last.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../db/database.ts';
import { isTransientError } from '../../../../db/outage.ts';
import { gathered } from '../../../../platform/pacing/gather.ts';
import { listAccessEpochs } from '../../store/accessEpoch.ts';

/** An epoch, and when it was read (ms of `performance.now()`). */
export interface EpochRead {
  readonly epoch: string;
  readonly atMs: number;
}

const epochNow: (database: Database, tenantId: string) => Promise<string> = gathered(listAccessEpochs, {
  limit: 500,
  concurrency: 2,
  isOutage: isTransientError,
  same: (tenantId) => tenantId,
});

/** The epoch of a site, read from Postgres after this call. Throws database_unavailable. */
export function readEpoch(database: Database, tenantId: string): Promise<string> {
  return epochNow(database, tenantId);
}

/** A caller may send the rest of its call slowly; what it was let in by is not for later. */
const READ_LIFE_MS = 1_000;

/** The epoch that was read, if it is fresh, else the one of now. */
export function epochOf(database: Database, tenantId: string, read: EpochRead | undefined): string | Promise<string> {
  const isFresh = read !== undefined && performance.now() - read.atMs <= READ_LIFE_MS;
  return isFresh ? read.epoch : readEpoch(database, tenantId);
}

/** Memory of one kind for each database. */
export function openMemory<Value extends object>(max: number): (database: Database) => LRUCache<string, Value> {
  const memories = new WeakMap<Database, LRUCache<string, Value>>();
  return (database) => {
    const memory = memories.get(database) ?? new LRUCache<string, Value>({ max });
    memories.set(database, memory);
    return memory;
  };
}
