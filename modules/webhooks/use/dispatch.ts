import { bucketsOfShard } from '../rules/endpoint.ts';
import type { LeasedDelivery } from '../store/leases.ts';
import { leaseFirstAttempts } from '../store/leases.ts';
import { listOverdueEndpoints } from '../store/receiver.ts';
import { freezeChatBodies } from './chatBodies.ts';
import { deliverFirst } from './deliverFirst.ts';
import type { WebhookDeps } from './deps.ts';
import type { Notice } from './notices.ts';
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
/** An endpoint is signalled once in so long, however often its rows are changed. */
const SIGNALS_MS = 1_000;
/** Signals on their way at once: one that hangs holds up few others, and no lease. */
const SIGNALS_AT_ONCE = 8;
/** After a stop, for what the last attempts left to be signalled; the next look of another worker finds the rest. */
const LAST_SIGNALS_MS = 2_000;

/** The dispatcher of this process; requests in flight outlive a pass. */
export function createDispatcher(deps: WebhookDeps, recorder: Recorder): Dispatcher {
  const inFlightByShard = new Map<number, Set<Promise<void>>>();
  const signalling = new Map<number, Promise<void>>();
  /** Signals beside the leases, one round of a shard at a time: no endpoint's workflow can keep the shard from its first attempts. */
  const signal = (shard: number, look: Look): void => {
    signalling.set(
      shard,
      signalEndpoints(deps, shard, look).finally(() => signalling.delete(shard)),
    );
  };
  return {
    run: async (shard, cancelled) => {
      if (shard >= deps.shards) return 'retired';
      const inFlight = inFlightByShard.get(shard) ?? new Set();
      inFlightByShard.set(shard, inFlight);
      const stop = AbortSignal.any([deps.stopping, cancelled]);
      const endsAt = performance.now() + deps.limits.passMs;
      let lookAt = 0;
      let signalAt = 0;
      while (!stop.aborted && performance.now() < endsAt) {
        const now = performance.now();
        if (now >= signalAt && !signalling.has(shard)) {
          signal(shard, { isForOverdue: now >= lookAt, stop });
          signalAt = now + SIGNALS_MS;
          if (now >= lookAt) lookAt = now + deps.limits.overdueMs;
        }
        const seen = deps.wake.version;
        const leased = await lease(deps, shard, deps.limits.maxInFlight - inFlight.size);
        for (const delivery of leased) track(inFlight, deliverFirst(deps, recorder, delivery));
        if (leased.length === 0) await deps.wake.wait(seen, deps.limits.pollMs, stop);
        if (inFlight.size > 0) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      }
      if (stop.aborted) {
        await Promise.allSettled([...inFlight, signalling.get(shard)]);
        await signalEndpoints(deps, shard, { isForOverdue: false, stop: AbortSignal.timeout(LAST_SIGNALS_MS) });
      }
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

/** A round of signals: whether overdue endpoints are looked for, and what ends it. */
interface Look {
  readonly isForOverdue: boolean;
  readonly stop: AbortSignal;
}

/**
 * Signals the workflows of endpoints whose rows were changed or whose receivers failed and, where it looks for them, of those whose next attempt is overdue: their workflow is
 * missing, e.g. after a crash between record and signal. Never rejects: a workflow that takes no signal, such as one at Temporal's limit of
 * them, or a Temporal that is away, concerns its endpoint alone, which the next look finds again.
 */
async function signalEndpoints(deps: WebhookDeps, shard: number, { isForOverdue, stop }: Look): Promise<void> {
  const noticed = deps.notices.take(shard);
  const overdue = isForOverdue ? await overdueOf(deps, shard) : [];
  const notices = new Map([...noticed, ...overdue].map((notice) => [notice.endpointId, notice])).values();
  const lane = async (): Promise<void> => {
    for (const { tenantId, endpointId, dueAtMs } of notices) {
      if (stop.aborted) return;
      await deps.retries.due({ tenantId, endpointId }, Math.max(0, dueAtMs - Date.now())).catch((error: unknown) => {
        deps.warn('the workflow of an endpoint was not signalled; it is found within a minute of being due', {
          tenantId,
          endpointId,
          error,
        });
      });
    }
  };
  await Promise.all(Array.from({ length: SIGNALS_AT_ONCE }, lane));
}

async function overdueOf(deps: WebhookDeps, shard: number): Promise<readonly Notice[]> {
  try {
    const overdue = await listOverdueEndpoints(deps.database, bucketsOfShard(shard, deps.shards), deps.limits.overdueMs);
    return overdue.map((endpoint) => ({ ...endpoint, dueAtMs: 0 }));
  } catch (error) {
    deps.warn('overdue endpoints were not looked for; they are at the next look', { shard, error });
    return [];
  }
}
