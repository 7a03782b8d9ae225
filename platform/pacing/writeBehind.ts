import { LRUCache } from 'lru-cache';

/** Notes in memory what was seen last, and writes each thing once a grain at most, so that hot calls stay free of the database. */
export interface Paced<Entry> {
  /** Notes a thing by its name, now; `entryAt` makes what is written of it. Never throws, never waits. */
  note(name: string, entryAt: (atMs: number) => Entry): void;
  /** Writes what is new; rejects when it is not taken, and keeps it for the next time. */
  flush(): Promise<void>;
  /** Writes a last time and stops. */
  close(): Promise<void>;
}

const GRAIN_MS = 60_000;
const MAX_KNOWN = 50_000;
const MAX_WRITTEN = 1_000;

/** Opens it; it writes every `flushMs`, at most 1,000 things at a time. */
export function openPaced<Entry>(options: {
  readonly clock: () => number;
  readonly flushMs: number;
  readonly write: (entries: readonly Entry[]) => Promise<void>;
  /** Told of a write that failed. */
  readonly warn: (error: unknown) => void;
}): Paced<Entry> {
  const { clock, flushMs, write, warn } = options;
  const written = new LRUCache<string, number>({ max: MAX_KNOWN });
  const fresh = new Map<string, { readonly atMs: number; readonly entry: Entry }>();
  const flush = async (): Promise<void> => {
    const batch = [...fresh].slice(0, MAX_WRITTEN);
    if (batch.length === 0) return;
    await write(batch.map(([, { entry }]) => entry));
    for (const [name, { atMs }] of batch) {
      written.set(name, atMs);
      if (fresh.get(name)?.atMs === atMs) fresh.delete(name);
    }
  };
  let running: Promise<void> = Promise.resolve();
  const tick = (): void => {
    running = running.then(flush).catch(warn);
  };
  const timer = setInterval(tick, flushMs);
  timer.unref();
  return {
    note: (name, entryAt) => {
      const atMs = clock();
      const known = written.get(name);
      if (known !== undefined && atMs - known < GRAIN_MS) return;
      if (fresh.size < MAX_KNOWN || fresh.has(name)) fresh.set(name, { atMs, entry: entryAt(atMs) });
    },
    flush: async () => {
      await running;
      await flush();
    },
    close: async () => {
      clearInterval(timer);
      tick();
      await running;
    },
  };
}
