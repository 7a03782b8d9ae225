import type { Database } from '../../../../db/database.ts';
import { listen } from '../../../../db/listen.ts';
import type { Log } from '../../../kernel/log.ts';
import { DECIDED_CHANNEL } from '../../store/announce.ts';
import type { Payment, PaymentRef } from '../../store/payment.ts';
import { listDecided } from '../../store/waiting.ts';

/** What no notification told of is found by then: one is lost with its connection, or came before somebody waited. */
const POLL_MS = 500;

/** Waits for payment rows to be decided: one query for all waiters of the process (safety 6). */
export interface Waiter {
  /** The decided row, or null when `timeoutMs` have passed. Outages of the database are waited out. */
  wait(payment: Expected, timeoutMs: number): Promise<Payment | null>;
  close(): Promise<void>;
}

/** A payment that is waited for; a superseded one is decided with its successor. */
type Expected = PaymentRef & { readonly successorId?: string | null };

interface Waiting {
  readonly ref: Expected;
  readonly resolve: ((payment: Payment | null) => void)[];
}

/**
 * Opens the process's waiter: it reads the rows that were decided when it is told so (NOTIFY `payment_decided` with their ids, listened to
 * on a direct connection, safety 24), and all that are waited for twice a second.
 */
export function openWaiter(deps: { database: Database; directUrl: string; log: Log }): Waiter {
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let reading = false;
  /** Payments to read next. */
  const due = new Set<string>();
  let closed = false;

  const read = async (): Promise<void> => {
    if (reading) return; // which reads on until nothing is due
    reading = true;
    try {
      while (due.size > 0) {
        const refs = [...due].flatMap((paymentId) => waiting.get(paymentId)?.ref ?? []);
        due.clear();
        for (const payment of await listDecided(deps.database, refs)) settleWaiting(payment.paymentId, payment);
      }
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'waiting for decided payments: the database did not answer');
    } finally {
      reading = false;
    }
  };
  const readAll = (): void => {
    for (const paymentId of waiting.keys()) due.add(paymentId);
    void read();
    schedule();
  };
  const schedule = (): void => {
    timer = closed || waiting.size === 0 ? null : setTimeout(readAll, POLL_MS);
  };
  const settleWaiting = (paymentId: string, payment: Payment | null): void => {
    const entry = waiting.get(paymentId);
    waiting.delete(paymentId);
    for (const resolve of entry?.resolve ?? []) resolve(payment);
  };
  const listener = listen(deps.directUrl, DECIDED_CHANNEL, (payload = '') => {
    const told = new Set(payload.split(' '));
    // Without ids any may have been decided: the connection is new.
    for (const [paymentId, { ref }] of waiting)
      if (payload === '' || told.has(paymentId) || told.has(ref.successorId ?? '')) due.add(paymentId);
    void read();
  });

  return {
    wait: (ref, timeoutMs) =>
      new Promise((resolve) => {
        const entry = waiting.get(ref.paymentId) ?? { ref, resolve: [] };
        const finish = (payment: Payment | null): void => {
          clearTimeout(limit);
          resolve(payment);
        };
        const limit = setTimeout(() => {
          entry.resolve.splice(entry.resolve.indexOf(finish), 1);
          if (entry.resolve.length === 0 && waiting.get(ref.paymentId) === entry) waiting.delete(ref.paymentId);
          resolve(null);
        }, timeoutMs);
        entry.resolve.push(finish);
        waiting.set(ref.paymentId, entry);
        if (!timer) schedule();
      }),
    close: async () => {
      closed = true;
      if (timer) clearTimeout(timer);
      for (const paymentId of [...waiting.keys()]) settleWaiting(paymentId, null);
      await listener.close();
    },
  };
}
