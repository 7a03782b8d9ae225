import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLogFields } from '../../../../platform/telemetry/logFields.ts';
import { workflowIdOf } from '../../rules/batchOutcome.ts';
import type { Look } from '../../rules/lookPause.ts';
import type { SettlementDeps, StartBatch } from '../deps.ts';
import { railFor } from '../rails/rails.ts';
import { openLandings } from './landing.ts';

/** Runs a flight inside the trace of the call that woke it. */
type Within = <T>(work: () => Promise<T>) => Promise<T>;

/** Batches that this process sends because it was told of a payment, and what became of them. */
export interface Flights {
  /** There may be something to send on a network. One flight of it takes off at a time; wakes that come meanwhile share the next. */
  wake(networkId: string, within?: Within): void;
  /** What the last look at a batch of this process came to, which may still be under way; null for another's. Never rejects. */
  find(batchId: string): Promise<Look> | null;
  /** Nothing takes off any more; resolves when what is under way has landed. */
  close(): Promise<void>;
}

/** After a batch has gone out, payments gather until it has landed, and for this long at most: a block may take longer. */
const GATHER_MS = 500;
/** How soon a network is tried again where something waits that could not go, or that could not be asked; twice as long after each time. */
const AGAIN_MS = { first: 250, longest: 5_000 } as const;

interface Runway {
  inUse: boolean;
  /** Where the next flight belongs; null when nobody asked for one. */
  next: Within | null;
  /** The last one left something that can go once a batch has landed. */
  hasMore: boolean;
  /** Flights in a row that left something, or failed. */
  failures: number;
  /** The next try that nobody has to ask for: one at most, however many flights failed. */
  retry: NodeJS.Timeout | null;
}

/**
 * Group commit in the process that sends, and the one way in which a batch begins: woken, it chooses and claims, starts the workflow that holds the
 * batch with the claim's commit, and sends and confirms at once. A batch that is not claimed has no workflow. Rows are the truth (safety 6, 7): other
 * processes and the sweeper may try the same, and whatever this one leaves, by its death or an outage, is theirs. A caller's wakes cost at most one
 * flight at a time a network, and what goes out is chosen among all sites (`pickBatch`), not for the caller that woke it.
 */
export function openFlights(deps: SettlementDeps, start: StartBatch): Flights {
  const runways = new Map<string, Runway>();
  const open = new Set<Promise<unknown>>();
  let closed = false;
  const landings = openLandings(deps, start, (networkId) => {
    if (runways.get(networkId)?.hasMore) wake(networkId);
  });

  const wake = (networkId: string, within: Within = (work) => work()): void => {
    const runway = runways.get(networkId) ?? { inUse: false, next: null, hasMore: false, failures: 0, retry: null };
    runways.set(networkId, runway);
    runway.next ??= within;
    if (runway.inUse || closed) return;
    const work = use(networkId, runway);
    open.add(work);
    void work.finally(() => open.delete(work));
  };
  const use = async (networkId: string, runway: Runway): Promise<void> => {
    runway.inUse = true;
    try {
      while (runway.next && !closed) {
        const within = runway.next;
        runway.next = null;
        if (await within(() => takeOff(networkId, runway))) runway.next ??= within;
      }
    } catch (error) {
      runway.next = null;
      deps.log.warn({ networkId, error: String(error) }, 'nothing could be sent; it is tried again');
      again(networkId, runway);
    } finally {
      runway.inUse = false;
    }
  };
  /** Room and nodes come back without telling. */
  const again = (networkId: string, runway: Runway): void => {
    if (runway.retry !== null || closed) return;
    const pauseMs = Math.min(AGAIN_MS.first * 2 ** runway.failures, AGAIN_MS.longest);
    runway.failures += 1;
    runway.retry = setTimeout(() => {
      runway.retry = null;
      wake(networkId);
    }, pauseMs).unref();
  };
  const calm = (runway: Runway): void => {
    if (runway.retry !== null) clearTimeout(runway.retry);
    runway.retry = null;
    runway.failures = 0;
  };
  /** True when more can go at once. */
  const takeOff = async (networkId: string, runway: Runway): Promise<boolean> => {
    const batch = { network: networkId, batchId: randomUUID() };
    const workflowId = workflowIdOf(batch);
    const rail = railFor(deps.networks.get(networkId));
    return withLogFields({ activity: 'sendAtOnce', workflowId }, async () => {
      const { sent, landed } = await landings.claim(rail, { ...batch, workflowId });
      if (sent.kind !== 'busy') calm(runway);
      runway.hasMore = sent.others === 'later';
      if (runway.hasMore) again(networkId, runway);
      if (sent.others === 'now') return true;
      if (sent.kind === 'sent') await Promise.race([landed, sleep(GATHER_MS)]);
      return false;
    });
  };

  return {
    wake,
    find: landings.find,
    close: async () => {
      closed = true;
      for (const runway of runways.values()) calm(runway);
      while (open.size > 0) await Promise.allSettled(open); // one that is being claimed adds its landing
      await landings.close();
    },
  };
}
