/**
 * Words about pages that were sold: the hash of what was sent, for the record of its payment. Nobody waits for them, and none is worth a second
 * try against a service that refuses it. What bounds the cost: one hash a sale, 500 words that wait, one call of 50 in two seconds.
 */
import type { Client, ServedBody } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import { decodedPage } from '../selling/decoded.ts';
import { isAway } from './failures.ts';
import { nothingWaits, waits } from './leaving.ts';

const BATCH = 50;
const FLUSH_MS = 2_000;
const MOST = 500;

/** Takes pages that were sold. */
export interface Bodies {
  /**
   * Hashes a page, all of it and without its content coding (RFC 9530's Repr-Digest of the identity coding), and keeps the word for its payment; it
   * leaves within two seconds. A page whose coding cannot be undone gets none. Never waits, never throws.
   */
  add(receiptId: string, chunks: readonly Uint8Array[], encoding?: string): void;
  /** Sends what is there. Never rejects. */
  flush(): Promise<void>;
  /** True when some wait. */
  isDue(): boolean;
}

/** Opens the queue. */
export function openBodies({
  client,
  breaker,
}: {
  readonly client: Pick<Client, 'noteBodies'>;
  readonly breaker: Breaker;
}): Bodies {
  let hashing = 0;
  let hashed: Promise<void> = Promise.resolve();
  let queue: readonly ServedBody[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;

  /** Words wait in the order of the sales, whichever hash is ready first: what is too much is the oldest. */
  async function keep(word: Promise<ServedBody | null>, before: Promise<void>): Promise<void> {
    const [one] = await Promise.all([word, before]);
    hashing -= 1;
    if (one !== null) queue = [...queue, one].slice(-MOST);
  }
  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await hashed;
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
  return {
    add: (receiptId, chunks, encoding) => {
      if (chunks.every(({ length }) => length === 0)) return;
      hashing += 1;
      hashed = keep(
        wordFor(receiptId, [...chunks], encoding).catch(() => null),
        hashed,
      );
      waits(leave);
      schedule();
    },
    flush,
    isDue: () => queue.length > 0 || hashing > 0,
  };
}

async function wordFor(receiptId: string, chunks: readonly Uint8Array[], encoding?: string): Promise<ServedBody | null> {
  const decoded = await decodedPage(chunks, encoding);
  if (decoded === null) return null;
  const page = joined(decoded);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', page));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { receiptId, sha256, bytes: page.length };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const page = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    page.set(chunk, at);
    at += chunk.length;
  }
  return page;
}
