/**
 * Words about pages that were sold: the hash of what was sent, for the record of its payment, and how the answer ended. Nobody waits for them, and none is
 * worth a second try against a service that refuses it. What bounds the cost: two words a sale, 500 that wait, one call of 50 in two seconds.
 */
import type { Client, Outcome, ServedBody } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import { isAway } from './failures.ts';
import { nothingWaits, waits } from './leaving.ts';

const BATCH = 50;
const FLUSH_MS = 2_000;
const MOST = 500;

/** Takes pages that were sold. */
export interface Bodies {
  /**
   * Keeps the word about a page that goes out for a payment: its hash, without its content coding, null for one that has none here. It leaves within two
   * seconds. Whoever sends the page tells how that ended, once: a service that hears `lost` has the page served again for a day. Never waits, never throws.
   */
  add(receiptId: string, page: { readonly sha256: string; readonly bytes: number } | null): (outcome: Outcome) => void;
  /** Sends what is there. Never rejects. */
  flush(): Promise<void>;
  /** True when some wait. */
  isDue(): boolean;
}

/** Opens the queue. */
export function openBodies({
  client,
  breaker,
  now,
}: {
  readonly client: Pick<Client, 'noteBodies'>;
  readonly breaker: Breaker;
  readonly now: () => number;
}): Bodies {
  let queue: readonly ServedBody[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let lastMs = 0;

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    while (queue.length > 0 && breaker.mayCall()) {
      const batch = queue.slice(0, BATCH);
      queue = queue.slice(BATCH);
      const answer = await client.noteBodies(batch);
      const isGone = !answer.ok && isAway(answer);
      breaker.note(isGone);
      if (!isGone) continue;
      queue = [...batch, ...queue].slice(-MOST);
      break;
    }
    if (queue.length === 0) nothingWaits(leave);
    else schedule();
  }
  const schedule = (): void => {
    if (timer !== null) return;
    timer = setTimeout(() => void flush(), FLUSH_MS);
    // Under Node a word that waits must not keep a process alive; it leaves with it.
    (timer as { unref?: () => void }).unref?.();
  };
  /** Once: a process that ends does not wait for the service to come back. */
  const leave = (): void => {
    nothingWaits(leave);
    void flush();
  };
  const keep = (word: ServedBody): void => {
    queue = [...queue, word].slice(-MOST);
    waits(leave);
    schedule();
  };
  return {
    add: (receiptId, page) => {
      // One answer has one time: what is said twice of it is no second answer.
      lastMs = Math.max(now(), lastMs + 1);
      const word: ServedBody = { receiptId, at: lastMs, ...(page ? { sha256: page.sha256, bytes: page.bytes } : {}) };
      keep(word);
      let isTold = false;
      return (outcome) => {
        if (isTold) return;
        isTold = true;
        if (queue.includes(word)) queue = queue.map((one) => (one === word ? { ...word, outcome } : one));
        else keep({ receiptId, at: word.at, outcome });
      };
    },
    flush,
    isDue: () => queue.length > 0,
  };
}
