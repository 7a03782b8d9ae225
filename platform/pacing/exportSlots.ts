import { ServiceError } from '../../modules/kernel/errors.ts';
import type { ClientPace } from './clientPace.ts';
import { openClientPace } from './clientPace.ts';

/** Whose key takes a file. */
export interface Exporter {
  readonly keyId: string;
  readonly tenantId: string;
}

/** Room for exports: each that has begun holds a database connection for as long as its client reads. */
export interface ExportSlots {
  /**
   * Notes an export of a key of a site, which may then wait for its turn. Throws throttled (429) while another of the key is on its way, or its
   * site has as many as it may have, waiting or begun; and overloaded (503) when this process has no room and nobody has to yield.
   */
  take(asker: Exporter): ExportSlot;
}

/** An export on its way. */
export interface ExportSlot {
  /**
   * Takes a place of the process, now that nothing is waited for any more; when none is free, that of another (`readAtPace`). Throws overloaded
   * (503) when nobody has to yield. Again: nothing.
   */
  begin(): void;
  /**
   * The chunks of a file that has begun, at its client's pace. When another file needs the place, it loses it if its client takes over ten seconds
   * for a MiB, the slowest first; else, to a site that has none, if it has run for ten seconds and its site has another. Then `close` is called,
   * `cut` aborted, and the next chunk throws overloaded. Called once a file.
   */
  readAtPace<T extends string | Uint8Array>(chunks: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T>;
  /** Aborted when it has lost its place: its connection is to be cut. */
  readonly cut: AbortSignal;
  /** Gives back what it holds. Again: nothing. */
  giveBack(): void;
}

/** A file that has begun: its client once it is read, and what ends it. */
interface Begun {
  readonly tenantId: string;
  readonly sinceMs: number;
  readonly file: { pace: ClientPace | null; end: () => void };
}

/** What a MiB may take its client while others need the place, and how long a file runs undisturbed, ms. */
const SLOW_MS = 10_000;

/**
 * Places of one process: `most` have begun at once, in the order in which they began. One a key and half of them a site are on their way, so that
 * no site holds all. `now`: ms of any origin.
 */
export function createExportSlots(most = 4, now: () => number = () => performance.now()): ExportSlots {
  const mostOfSite = Math.max(1, Math.floor(most / 2));
  /** The sites of the keys whose export is on its way, by key; and those that have begun. */
  const onTheirWay = new Map<string, string>();
  const begun = new Map<string, Begun>();
  const countOf = (tenantId: string): number => [...begun.values()].filter((one) => one.tenantId === tenantId).length;
  const findSlowest = (): string | null => {
    let [slowest, longestMs]: [string | null, number] = [null, SLOW_MS];
    for (const [keyId, { file }] of begun) {
      const tookMs = file.pace?.tookMs() ?? 0;
      if (tookMs > longestMs) [slowest, longestMs] = [keyId, tookMs];
    }
    return slowest;
  };
  const findSecondOfSite = (asking: string): string | null => {
    if (countOf(asking) > 0) return null;
    for (const [keyId, { tenantId, sinceMs, file }] of begun) {
      if (file.pace !== null && now() - sinceMs > SLOW_MS && countOf(tenantId) > 1) return keyId;
    }
    return null;
  };
  const findLoser = (asking: string): string | null => findSlowest() ?? findSecondOfSite(asking);
  const requireRoom = (asking: string): void => {
    if (begun.size < most || findLoser(asking) !== null) return;
    throw overloaded('too many exports are running; try again in a moment');
  };
  const endLoser = (asking: string): void => {
    const keyId = findLoser(asking);
    const loser = keyId === null ? undefined : begun.get(keyId);
    if (keyId === null || loser === undefined) return;
    begun.delete(keyId);
    loser.file.end();
  };
  return {
    take: ({ keyId, tenantId }) => {
      const ofSite = [...onTheirWay.values()].filter((one) => one === tenantId);
      if (onTheirWay.has(keyId) || ofSite.length >= mostOfSite) {
        throw new ServiceError('throttled', 'another export is running; try again when it has finished', {
          retryAfterSeconds: 2,
        });
      }
      requireRoom(tenantId);
      onTheirWay.set(keyId, tenantId);
      const cutting = new AbortController();
      const file: Begun['file'] = { pace: null, end: () => undefined };
      let isBack = false;
      async function* readAtPace<T extends string | Uint8Array>(
        chunks: AsyncIterable<T>,
        close: () => Promise<void>,
      ): AsyncGenerator<T> {
        const pace = openClientPace(now);
        file.end = () => {
          cutting.abort();
          close().catch(() => undefined); // its reader is told by the next chunk
        };
        file.pace = pace;
        try {
          for await (const chunk of chunks) {
            pace.handed();
            yield chunk;
            pace.taken(Buffer.byteLength(chunk));
            cutting.signal.throwIfAborted();
          }
        } catch (error) {
          throw cutting.signal.aborted ? overloaded('another download needed the place of this one') : error;
        }
      }
      return {
        begin: () => {
          if (isBack || begun.has(keyId)) return;
          requireRoom(tenantId);
          if (begun.size >= most) endLoser(tenantId);
          begun.set(keyId, { tenantId, sinceMs: now(), file });
        },
        readAtPace,
        cut: cutting.signal,
        giveBack: () => {
          if (isBack) return;
          isBack = true;
          onTheirWay.delete(keyId);
          if (begun.get(keyId)?.file === file) begun.delete(keyId);
        },
      };
    },
  };
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', message, { retryAfterSeconds: 2 });
}
