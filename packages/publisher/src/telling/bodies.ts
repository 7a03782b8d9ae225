/**
 * Words about pages that were sold: the hash of what was sent, for the record of its payment, and how the answer ended. Nobody waits for them, and none
 * is worth a second try against a service that refuses it. What bounds the cost: one hash a sale and one at a time, of 16 MiB at most without its
 * coding, for which pages of 16 MiB wait in all; two words a sale, 500 that wait, one call of 50 in two seconds.
 */
import type { Client, Outcome, ServedBody } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import { decodedPage } from '../selling/decoded.ts';
import { isAway } from './failures.ts';
import { nothingWaits, waits } from './leaving.ts';

const BATCH = 50;
const FLUSH_MS = 2_000;
const MOST = 500;
/** Of a page without its coding, and of all pages that wait for their hash, as they were sent; one alone always waits. */
const MOST_BYTES = 16 * 1_024 * 1_024;

/** Takes pages that were sold. */
export interface Bodies {
  /**
   * Hashes a page, all of it and without its content coding (RFC 9530's Repr-Digest of the identity coding), and keeps the word for its payment; it
   * leaves within two seconds. No hash for a page whose coding cannot be undone, that is too long, that finds too many before it, or of which nothing
   * is given. Whoever sends the page tells once how that ended: what was lost is served again for a day. Never waits, never throws.
   */
  add(receiptId: string, chunks: readonly Uint8Array[], encoding?: string): (outcome: Outcome) => void;
  /** Sends what is there. Never rejects. */
  flush(): Promise<void>;
  /** True when some wait. */
  isDue(): boolean;
}

/** What is said of one answer, and whether it has left. */
interface Word {
  said: ServedBody;
  hasLeft: boolean;
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
  let [hashing, waitingBytes] = [0, 0];
  let hashed: Promise<void> = Promise.resolve();
  let queue: readonly Word[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let lastMs = 0;

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await hashed;
    while (queue.length > 0 && breaker.mayCall()) {
      const batch = queue.slice(0, BATCH);
      queue = queue.slice(BATCH);
      for (const word of batch) word.hasLeft = true;
      const answer = await client.noteBodies(batch.map(({ said }) => said));
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
  const keep = (word: Word): void => {
    queue = [...queue, word].slice(-MOST);
    waits(leave);
    schedule();
  };
  /** In turns: words wait in the order of the sales, and what is too much is the oldest. */
  const hashInTurn = (word: Word, chunks: readonly Uint8Array[], encoding?: string): void => {
    const [page, bytes] = [[...chunks], lengthOf(chunks)];
    hashing += 1;
    waitingBytes += bytes;
    hashed = hashed.then(async () => {
      const hash = await hashOf(page, encoding).catch(() => null);
      hashing -= 1;
      waitingBytes -= bytes;
      word.said = { ...word.said, ...hash };
      keep(word);
    });
    waits(leave);
    schedule();
  };
  return {
    add: (receiptId, chunks, encoding) => {
      // One answer has one time: what is said of it twice is no second answer.
      lastMs = Math.max(now(), lastMs + 1);
      const about = { receiptId, at: lastMs };
      const word: Word = { said: about, hasLeft: false };
      const bytes = lengthOf(chunks);
      if (bytes === 0 || (hashing > 0 && waitingBytes + bytes > MOST_BYTES)) keep(word);
      else hashInTurn(word, chunks, encoding);
      let isTold = false;
      return (outcome) => {
        if (isTold) return;
        isTold = true;
        if (word.hasLeft) keep({ said: { ...about, outcome }, hasLeft: false });
        else word.said = { ...word.said, outcome };
      };
    },
    flush,
    isDue: () => queue.length > 0 || hashing > 0,
  };
}

async function hashOf(chunks: readonly Uint8Array[], encoding?: string): Promise<Pick<ServedBody, 'sha256' | 'bytes'> | null> {
  const decoded = await decodedPage(chunks, encoding, MOST_BYTES);
  if (decoded === null) return null;
  const page = joined(decoded);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', page));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { sha256, bytes: page.length };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const page = new Uint8Array(lengthOf(chunks));
  let at = 0;
  for (const chunk of chunks) {
    page.set(chunk, at);
    at += chunk.length;
  }
  return page;
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}
