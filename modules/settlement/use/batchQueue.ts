import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Log } from '../../kernel/log.ts';
import type { SentTransaction } from '../rules/batchOutcome.ts';
import type { PaymentRef } from '../store/payment.ts';

/** What a batch's workflow is started with: ids only (safety 20). The payments are proposals (safety 7). */
export interface BatchProposal {
  readonly network: string;
  readonly batchId: string;
  readonly payments: readonly PaymentRef[];
  /** Where the batch has gone out already, with exactly these payments. */
  readonly sent?: SentTransaction;
}

/** The workflow that stays with a batch. */
export function workflowIdOf({ network, batchId }: Pick<BatchProposal, 'network' | 'batchId'>): string {
  return `settle:${network}:${batchId}`;
}

/** Starts the workflow of one batch; rejects when Temporal cannot be reached. */
export type StartBatch = (proposal: BatchProposal) => Promise<void>;

/** Where an accepted payment is handed over to be settled. */
export interface BatchStarter {
  /** Puts a payment into the next batch of its network and payer kind; a payment already queued is not queued twice. */
  enqueue(payment: PaymentRef & { readonly network: string; readonly payerKind: string }): void;
  /** A payment is decided: a batch started for it makes room for the next one, and none needs to be started for it any more. */
  decided(payment: PaymentRef): void;
  close(): void;
}

/** Who sends without being asked, so that a workflow is only needed where nobody does. */
export interface Takers {
  /** True where workers are told of a payment by its row. */
  isWoken(networkId: string): boolean;
  /** Those that wait and that nobody takes; the rest of them is taken, or not to be judged yet (`young`). */
  findUntaken(networkId: string, payments: readonly PaymentRef[]): Promise<Untaken>;
}

/** Payments that wait for a batch. */
export interface Untaken {
  /** A workflow must come to them. */
  readonly untaken: readonly PaymentRef[];
  /** Too young to tell, or a sender is at work and will come to them. */
  readonly young: readonly PaymentRef[];
}

/** Most payments of one batch (safety 9). */
export const BATCH_LIMIT = 100;
const STARTED_AT_ONCE = 2;
const ROOM_AFTER_MS = 3_000;
const RETRY_MS = 500;
/** How long a worker that was told of a payment may leave it before a workflow is started for it. */
export const TAKEN_WITHIN_MS = 250;

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
  for (const [tenantId, payments] of waiting) {
    if (taken.length === most) break;
    waiting.delete(tenantId);
    const [next] = payments;
    if (!next) continue;
    payments.delete(next[0]);
    taken.push(next[1]);
    if (payments.size > 0) waiting.set(tenantId, payments);
  }
  return taken;
}

/**
 * Group commit: a payment that arrives while batches are on their way joins the next one; an idle queue starts at once. Where workers
 * take payments by themselves (`takers`), one look every 250 ms finds those of all queues that nobody took, and only they are started:
 * an older worker does not listen, and one that listens may be gone.
 */
export function createBatchStarter(deps: { start: StartBatch; log: Log; takers?: Takers }): BatchStarter {
  const queues = new Map<string, Queue>();
  const roomOf = new Map<string, () => void>();
  const { takers } = deps;
  let looking: NodeJS.Timeout | null = null;
  let closed = false;

  const put = (queue: Queue, { tenantId, paymentId }: PaymentRef): void => {
    const own = queue.waiting.get(tenantId) ?? new Map<string, PaymentRef>();
    queue.waiting.set(tenantId, own.set(paymentId, { tenantId, paymentId }));
  };
  const take = ({ waiting }: Queue, { tenantId, paymentId }: PaymentRef): void => {
    const own = waiting.get(tenantId);
    if (own?.delete(paymentId) && own.size === 0) waiting.delete(tenantId);
  };
  /** Starts what waits, or looks first whether anybody took it. */
  const serve = (queue: Queue): void => {
    if (!takers?.isWoken(queue.network)) pump(queue);
    else if (!closed) looking ??= setTimeout(() => void lookAtAll(takers), TAKEN_WITHIN_MS);
  };
  const lookAtAll = async (by: Takers): Promise<void> => {
    const watched = [...queues.values()].filter(({ network, waiting }) => by.isWoken(network) && waiting.size > 0);
    await Promise.all(watched.map((queue) => look(by, queue)));
    looking = null;
    for (const queue of watched) if (queue.waiting.size > 0) serve(queue);
  };
  const look = async (by: Takers, queue: Queue): Promise<void> => {
    const asked = [...queue.waiting.values()].flatMap((own) => [...own.values()]);
    try {
      const { untaken, young } = await by.findUntaken(queue.network, asked);
      const known = new Set([...untaken, ...young].map(({ paymentId }) => paymentId));
      for (const payment of asked) if (!known.has(payment.paymentId)) take(queue, payment);
      if (untaken.length > 0) pump(queue);
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'whether payments were taken could not be read; retrying');
    }
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
      serve(queue);
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
      const key = `${payment.network} ${payment.payerKind}`;
      const within = AsyncLocalStorage.snapshot() as Queue['within'];
      const queue = queues.get(key) ?? { network: payment.network, waiting: new Map(), started: 0, within };
      if (queue.waiting.size === 0) queue.within = within;
      queues.set(key, queue);
      if (!roomOf.has(payment.paymentId)) put(queue, payment);
      serve(queue);
    },
    decided: (payment) => {
      for (const queue of queues.values()) take(queue, payment);
      roomOf.get(payment.paymentId)?.();
    },
    close: () => {
      closed = true;
      if (looking) clearTimeout(looking);
    },
  };
}
