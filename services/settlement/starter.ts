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
  /** A payment of a started batch is decided: its batch makes room for the next one. */
  decided(paymentId: string): void;
  close(): void;
}

/** Most payments of one batch (safety 9). */
export const BATCH_LIMIT = 100;
const STARTED_AT_ONCE = 2;
const ROOM_AFTER_MS = 3_000;
const RETRY_MS = 500;

interface Queue {
  readonly network: string;
  readonly waiting: Map<string, PaymentRef>;
  started: number;
  /** The call that waits longest: its trace is the batch's. */
  within: <T>(work: () => T) => T;
}

/**
 * Group commit (DESIGN §4): a payment that arrives while batches are on their way joins the next one; an idle queue
 * starts at once. `groupByTenant` keeps every batch within one tenant (safety 25).
 */
export function createBatchStarter(deps: { start: StartBatch; log: Log; groupByTenant: boolean }): BatchStarter {
  const queues = new Map<string, Queue>();
  const roomOf = new Map<string, () => void>();
  let closed = false;

  const pump = (queue: Queue): void => {
    while (!closed && queue.started < STARTED_AT_ONCE && queue.waiting.size > 0) {
      const payments = [...queue.waiting.values()].slice(0, BATCH_LIMIT);
      for (const payment of payments) queue.waiting.delete(payment.paymentId);
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
        for (const payment of payments) queue.waiting.set(payment.paymentId, payment);
        free();
      }, RETRY_MS);
    }
  };

  return {
    enqueue: (payment) => {
      const key = `${payment.network} ${payment.lane} ${deps.groupByTenant ? payment.tenantId : ''}`;
      const within = AsyncLocalStorage.snapshot() as Queue['within'];
      const queue = queues.get(key) ?? { network: payment.network, waiting: new Map(), started: 0, within };
      if (queue.waiting.size === 0) queue.within = within;
      queues.set(key, queue);
      if (!roomOf.has(payment.paymentId)) {
        queue.waiting.set(payment.paymentId, { tenantId: payment.tenantId, paymentId: payment.paymentId });
      }
      pump(queue);
    },
    decided: (paymentId) => roomOf.get(paymentId)?.(),
    close: () => {
      closed = true;
    },
  };
}
