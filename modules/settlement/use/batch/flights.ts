import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLogFields } from '../../../../platform/telemetry/logFields.ts';
import type { SentTransaction } from '../../rules/batchOutcome.ts';
import { refOf } from '../../store/payment.ts';
import type { StartBatch } from '../batchQueue.ts';
import { workflowIdOf } from '../batchQueue.ts';
import type { SettlementDeps } from '../deps.ts';
import { isWoken } from '../rails/rails.ts';
import type { Carried, ConfirmResult } from './confirm.ts';
import { confirmBatch } from './confirm.ts';
import type { Sent } from './send.ts';
import { claimNew } from './send.ts';

/** Runs a flight inside the trace of the call that woke it. */
type Within = <T>(work: () => Promise<T>) => Promise<T>;

/** Batches that this process sends because it was told of a payment, and what became of them. */
export interface Flights {
  /** There may be something to send on a network. One flight of it takes off at a time; wakes that come meanwhile share the next. */
  wake(networkId: string, within?: Within): void;
  /** What a batch of this process came to, which may still be under way; null for another's. Rejects when it could not be confirmed. */
  find(batchId: string): Promise<ConfirmResult> | null;
  /** Nothing takes off any more; resolves when what is under way has landed. */
  close(): Promise<void>;
}

/** After a batch has gone out, payments gather until it has landed, and for this long at most: a block may take longer. */
const GATHER_MS = 500;
const LOOK_MS = 2_200;
/** Between two looks at a batch that has no workflow: where its receipt is there and its block is young, a look ends at once. */
const PAUSE_MS = 250;
/** How long the workflow of a batch waits for the first look at its receipt: it would share the cores with a decision that comes at once. */
const FOLLOW_MS = 60;
/** How long a flight stays with a batch that has no workflow. */
const LONGEST_MS = 4 * 60_000;
/** Landed flights that are remembered, for the workflow of a batch that comes after it. */
const KEPT = 200;

interface Runway {
  inUse: boolean;
  /** Where the next flight belongs; null when nobody asked for one. */
  next: Within | null;
  /** The last one found every queue full: the next landing makes room. */
  isFull: boolean;
}

/**
 * Group commit in the process that sends: woken, it chooses, claims, signs, sends and confirms at once, as the workflow of a batch does,
 * and starts that workflow once it has looked at the receipt, or soon after it was sent. Rows are the truth (safety 6, 7): other processes,
 * workflows and the sweeper may try the same, and whatever this one leaves, by its death or an outage, is theirs. A caller's wakes cost at
 * most one flight at a time a network, and what goes out is chosen among all sites (`pickBatch`), whoever woke it.
 */
export function openFlights(deps: SettlementDeps, start: StartBatch): Flights {
  const runways = new Map<string, Runway>();
  const flights = new Map<string, Promise<ConfirmResult>>();
  const open = new Set<Promise<unknown>>();
  let closed = false;

  const wake = (networkId: string, within: Within = (work) => work()): void => {
    if (!isWoken(deps.networks.get(networkId))) return; // another rail sends in its own way
    const runway = runways.get(networkId) ?? { inUse: false, next: null, isFull: false };
    runways.set(networkId, runway);
    runway.next ??= within;
    if (!runway.inUse && !closed) track(use(networkId, runway));
  };
  const track = (work: Promise<unknown>): void => {
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
      runway.next = null; // what waits is started as a workflow, which waits outages out
      deps.log.warn({ networkId, error: String(error) }, 'a batch could not be sent at once; its workflow does it');
    } finally {
      runway.inUse = false;
    }
  };
  /** True when more can go at once. */
  const takeOff = async (networkId: string, runway: Runway): Promise<boolean> => {
    const batch = { network: networkId, batchId: randomUUID() };
    const workflowId = workflowIdOf(batch);
    return withLogFields({ activity: 'sendAtOnce', workflowId }, async () => {
      const sent = await claimNew(deps, { ...batch, workflowId });
      runway.isFull = sent.kind === 'busy';
      if (sent.carried === null) return sent.rest.length > 0;
      const landing = land(networkId, sent, sent.carried);
      keep(batch.batchId, landing);
      track(landing.catch((error: unknown) => lose(batch.batchId, error)));
      if (sent.rest.length > 0) return true;
      await Promise.race([landing.catch(() => undefined), sleep(GATHER_MS)]);
      return false;
    });
  };
  const land = async (networkId: string, { noted }: Sent, carried: NonNullable<Sent['carried']>): Promise<ConfirmResult> => {
    const { batchId } = carried.batch;
    const until = deps.now() + LONGEST_MS;
    let hasWorkflow = false;
    let look = confirmBatch(deps, batchId, { timeoutMs: LOOK_MS, carried });
    const begun = Promise.race([look.catch(() => undefined), sleep(FOLLOW_MS)])
      .then(() => start({ network: networkId, batchId, payments: carried.payments.map(refOf), sent: transactionOf(carried) }))
      .then(() => {
        hasWorkflow = true;
      });
    track(
      begun.catch((error: unknown) => deps.log.warn({ batchId, error: String(error) }, 'a batch goes on without a workflow')),
    );
    for (;;) {
      const { undecided, rest } = await look;
      await noted;
      if (rest.length > 0 || runways.get(networkId)?.isFull) wake(networkId);
      if (undecided === 0 || closed || deps.now() > until) return { undecided, rest: [] };
      await Promise.race([begun.catch(() => sleep(PAUSE_MS)), sleep(PAUSE_MS)]);
      if (hasWorkflow) return { undecided, rest: [] };
      look = confirmBatch(deps, batchId, { timeoutMs: LOOK_MS });
    }
  };
  const keep = (batchId: string, landing: Promise<ConfirmResult>): void => {
    flights.set(batchId, landing);
    for (const oldest of flights.keys()) {
      if (flights.size <= KEPT) break;
      flights.delete(oldest);
    }
  };
  const lose = (batchId: string, error: unknown): void => {
    flights.delete(batchId);
    deps.log.warn({ batchId, error: String(error) }, 'a batch could not be confirmed at once; its workflow does it');
  };

  return {
    wake,
    find: (batchId) => flights.get(batchId) ?? null,
    close: async () => {
      closed = true;
      while (open.size > 0) await Promise.allSettled(open); // one that is being claimed adds its landing
    },
  };
}

function transactionOf({ batch, attempts }: Carried): SentTransaction {
  return { txHash: attempts[0]?.txHash ?? null, nonce: batch.nonce.toString() };
}
