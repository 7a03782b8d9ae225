import type { Database } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { listDecided } from '../../db/settlement/waiting.ts';
import type { Log } from './deps.ts';

const POLL_MS = 100;

/** Waits for payment rows to be decided: one query for all waiters of the process (safety 6). */
export interface Waiter {
  /** The decided row, or null when `timeoutMs` have passed. Outages of the database are waited out. */
  wait(ref: PaymentRef, timeoutMs: number): Promise<Payment | null>;
  close(): Promise<void>;
}

interface Waiting {
  readonly ref: PaymentRef;
  readonly resolve: ((payment: Payment | null) => void)[];
}

/**
 * Opens the process's waiter: it polls the rows that are waited for every 100 ms at most, and at once when a batch was
 * recorded (NOTIFY `payment_decided`, listened to on a direct connection, safety 24).
 */
export function openWaiter(deps: { database: Database; directUrl: string; log: Log }): Waiter {
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let polling = false;
  let again = false;
  let closed = false;

  const poll = async (): Promise<void> => {
    if (polling) {
      again = true;
      return;
    }
    polling = true;
    try {
      const rows = await listDecided(
        deps.database,
        [...waiting.values()].map((entry) => entry.ref),
      );
      for (const payment of rows) settleWaiting(payment.paymentId, payment);
    } catch (error) {
      deps.log.warn({ error: String(error) }, 'waiting for decided payments: the database did not answer');
    } finally {
      polling = false;
      schedule(again ? 0 : POLL_MS);
      again = false;
    }
  };
  const schedule = (delayMs: number): void => {
    if (closed || waiting.size === 0) return;
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => void poll(), delayMs);
  };
  const settleWaiting = (paymentId: string, payment: Payment | null): void => {
    const entry = waiting.get(paymentId);
    waiting.delete(paymentId);
    for (const resolve of entry?.resolve ?? []) resolve(payment);
  };
  const listener = listen(deps.directUrl, 'payment_decided', () => {
    if (waiting.size > 0) void poll();
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
        if (waiting.size === 1 || !timer) schedule(POLL_MS);
      }),
    close: async () => {
      closed = true;
      if (timer) clearTimeout(timer);
      for (const paymentId of [...waiting.keys()]) settleWaiting(paymentId, null);
      await listener.close();
    },
  };
}
