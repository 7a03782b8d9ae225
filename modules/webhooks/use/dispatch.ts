import { bucketsOfShard } from '../rules/endpoint.ts';
import type { LeasedDelivery } from '../store/leases.ts';
import { leaseFirstAttempts } from '../store/leases.ts';
import { listOverdueEndpoints } from '../store/receiver.ts';
import { freezeChatBodies } from './chatBodies.ts';
import { deliverFirst } from './deliverFirst.ts';
import type { WebhookDeps } from './deps.ts';
import type { Recorder } from './recorder.ts';

/** Makes the first attempts of a shard. */
export interface Dispatcher {
  /**
   * One pass: leases due deliveries and sends them until the pass is over, the worker stops or `cancelled` aborts; then what is
   * still in flight is awaited only in the last two cases, else it goes on under the next pass. A shard beyond the configured
   * number is `retired`.
   */
  run(shard: number, cancelled: AbortSignal): Promise<'again' | 'retired'>;
}

const LEASE_BATCH = 200;
/** Under load a look costs the same for one free slot or for many: let some gather (measured: bench/webhooks.ts). An idle shard does not wait. */
const GATHER_MS = 20;

/** The dispatcher of this process; requests in flight outlive a pass. */
export function createDispatcher(deps: WebhookDeps, recorder: Recorder): Dispatcher {
  const inFlightByShard = new Map<number, Set<Promise<void>>>();
  return {
    run: async (shard, cancelled) => {
      if (shard >= deps.shards) return 'retired';
      const inFlight = inFlightByShard.get(shard) ?? new Set();
      inFlightByShard.set(shard, inFlight);
      const stop = AbortSignal.any([deps.stopping, cancelled]);
      const endsAt = performance.now() + deps.limits.passMs;
      let adoptAt = 0;
      while (!stop.aborted && performance.now() < endsAt) {
        if (performance.now() >= adoptAt) {
          await adopt(deps, shard);
          adoptAt = performance.now() + deps.limits.overdueMs;
        }
        const seen = deps.wake.version;
        const leased = await lease(deps, shard, deps.limits.maxInFlight - inFlight.size);
        for (const delivery of leased) track(inFlight, deliverFirst(deps, recorder, delivery));
        if (leased.length === 0) await deps.wake.wait(seen, deps.limits.pollMs, stop);
        if (inFlight.size > 0) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      }
      if (stop.aborted) await Promise.allSettled([...inFlight]);
      return 'again';
    },
  };
}

function track(inFlight: Set<Promise<void>>, work: Promise<void>): void {
  inFlight.add(work);
  void work.finally(() => inFlight.delete(work));
}

/** Leases up to `room` deliveries; chat messages get their bytes in the same database transaction, before anything is sent. */
async function lease(deps: WebhookDeps, shard: number, room: number): Promise<LeasedDelivery[]> {
  if (room <= 0) return [];
  return await deps.database.transaction(async (sql) => {
    const range = bucketsOfShard(shard, deps.shards);
    return await freezeChatBodies(sql, await leaseFirstAttempts(sql, range, Math.min(room, LEASE_BATCH), deps.limits.leaseMs));
  });
}

/** Signals endpoints whose next attempt is overdue: their workflow is missing, e.g. after a crash between record and signal. */
async function adopt(deps: WebhookDeps, shard: number): Promise<void> {
  const overdue = await listOverdueEndpoints(deps.database, bucketsOfShard(shard, deps.shards), deps.limits.overdueMs);
  for (const endpoint of overdue) await deps.retries.due(endpoint, 0);
}
