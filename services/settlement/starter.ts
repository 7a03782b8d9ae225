import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { PaymentRef } from '../../db/settlement/payment.ts';
import type { Log } from './deps.ts';

/** What a batch's workflow is started with: ids only (safety 20). The payments are proposals (safety 7). */
export interface BatchProposal {
  readonly network: string;
  readonly batchId: string;
  readonly payments: readonly PaymentRef[];
}

/** Starts the workflow of one batch; rejects when Temporal cannot be reached. */
export type StartBatch = (proposal: BatchProposal) => Promise<void>;

/** Where an accepted payment is handed over to be settled. */
export interface BatchStarter {
  /** Puts a payment into the next batch of its network and lane; a payment already queued is not queued twice. */
  enqueue(payment: PaymentRef & { readonly network: string; readonly lane: string }): void;
  /** A payment is decided: a batch started for it makes room for the next one, and none needs to be started for it any more. */
  decided(payment: PaymentRef): void;
  close(): void;
}

/** Most payments of one batch (safety 9). */
export const BATCH_LIMIT = 100;
const STARTED_AT_ONCE = 2;
const ROOM_AFTER_MS = 3_000;
const RETRY_MS = 500;

interface Queue {
  readonly network: string;
  /** Site by site, the one that waits longest for its turn first. */
  readonly waiting: Map<string, Map<string, PaymentRef>>;
  started: number;
  /** The call that waits longest: its trace is the batch's. */
  within: <T>(work: () => T) => T;
}

/** Takes the next of each site in turns; a site whose turn was comes last. Costs as much as it takes, however many wait. */
function takeFairly(waiting: Queue['waiting'], most: number): PaymentRef[] {
  const taken: PaymentRef[] = [];
  for (const [site, payments] of waiting) {
    if (taken.length === most) break;
    waiting.delete(site);
    const [next] = payments;
    if (!next) continue;
    payments.delete(next[0]);
    taken.push(next[1]);
    if (payments.size > 0) waiting.set(site, payments);
  }
  return taken;
}

/**
 * Group commit: a payment that arrives while batches are on their way joins the next one; an idle queue
 * starts at once.
 */
export function createBatchStarter(deps: { start: StartBatch; log: Log }): BatchStarter {
  const queues = new Map<string, Queue>();
  const roomOf = new Map<string, () => void>();
  let closed = false;

  const put = (queue: Queue, { tenantId, paymentId }: PaymentRef): void => {
    const site = queue.waiting.get(tenantId) ?? new Map<string, PaymentRef>();
    queue.waiting.set(tenantId, site.set(paymentId, { tenantId, paymentId }));
  };
  const pump = (queue: Queue): void => {
    while (!closed && queue.started < STARTED_AT_ONCE && queue.waiting.size > 0) {
      const payments = takeFairly(queue.waiting, BATCH_LIMIT);
      void queue.within(() => launch(queue, payments));
    }
  };
  const launch = async (queue: Queue, payments: readonly PaymentRef[]): Promise<void> => {
    queue.started += 1;
    let freed = false;
    const free = (): void => {
      if (freed) return;
      freed = true;
      clearTimeout(limit);
      for (const payment of payments) roomOf.delete(payment.paymentId);
      queue.started -= 1;
      pump(queue);
    };
    const limit = setTimeout(free, ROOM_AFTER_MS);
    for (const payment of payments) roomOf.set(payment.paymentId, free);
    try {
      await deps.start({ network: queue.network, batchId: randomUUID(), payments });
    } catch (error) {
      deps.log.warn({ error: String(error), payments: payments.length }, 'a batch could not be started; trying again');
      setTimeout(() => {
        for (const payment of payments) put(queue, payment);
        free();
      }, RETRY_MS);
    }
  };

  return {
    enqueue: (payment) => {
      const key = `${payment.network} ${payment.lane}`;
      const within = AsyncLocalStorage.snapshot() as Queue['within'];
      const queue = queues.get(key) ?? { network: payment.network, waiting: new Map(), started: 0, within };
      if (queue.waiting.size === 0) queue.within = within;
      queues.set(key, queue);
      if (!roomOf.has(payment.paymentId)) put(queue, payment);
      pump(queue);
    },
    decided: ({ tenantId, paymentId }) => {
      for (const { waiting } of queues.values()) {
        const site = waiting.get(tenantId);
        if (site?.delete(paymentId) && site.size === 0) waiting.delete(tenantId);
      }
      roomOf.get(paymentId)?.();
    },
    close: () => {
      closed = true;
    },
  };
}
