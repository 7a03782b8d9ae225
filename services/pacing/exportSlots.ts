import { ServiceError } from '../../domain/errors.ts';
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
   * site has as many as it may have, waiting or begun; and overloaded (503) when this process has no room and every client reads fast enough.
   */
  take(asker: Exporter): ExportSlot;
}

/** An export on its way. */
export interface ExportSlot {
  /**
   * Takes a place of the process, now that nothing is waited for any more; when none is free, that of the slowest client. Throws overloaded
   * (503) when all are read fast enough. Again: nothing.
   */
  begin(): void;
  /**
   * The chunks of a file that has begun, at its client's pace. A client that takes over ten seconds for a MiB loses the place when another file
   * needs one: then `close` is called, and the next chunk throws overloaded. Called once a file.
   */
  readAtPace<T extends string | Uint8Array>(chunks: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T>;
  /** Gives back what it holds. Again: nothing. */
  giveBack(): void;
}

/** A file that has begun: its client once it is read, and what ends it. */
interface Begun {
  pace: ClientPace | null;
  end: () => void;
}

/** What a MiB may take its client while others need the place, ms: about 100 KB a second. */
const SLOW_MS = 10_000;

/**
 * Places of one process: `most` have begun at once. One a key and half of them a site are on their way, so that no site holds all. `now`: ms of
 * any origin.
 */
export function createExportSlots(most = 4, now: () => number = () => performance.now()): ExportSlots {
  const mostOfSite = Math.max(1, Math.floor(most / 2));
  /** The sites of the keys whose export is on its way, by key; and those that have begun. */
  const onTheirWay = new Map<string, string>();
  const begun = new Map<string, Begun>();
  const findSlowest = (): string | null => {
    let [slowest, longestMs]: [string | null, number] = [null, SLOW_MS];
    for (const [keyId, { pace }] of begun) {
      const tookMs = pace?.tookMs() ?? 0;
      if (tookMs > longestMs) [slowest, longestMs] = [keyId, tookMs];
    }
    return slowest;
  };
  const requireRoom = (): void => {
    if (begun.size < most || findSlowest() !== null) return;
    throw overloaded('too many exports are running; try again in a moment');
  };
  const endSlowest = (): void => {
    const keyId = findSlowest();
    const loser = keyId === null ? undefined : begun.get(keyId);
    if (keyId === null || loser === undefined) return;
    begun.delete(keyId);
    loser.end();
  };
  return {
    take: ({ keyId, tenantId }) => {
      const ofSite = [...onTheirWay.values()].filter((one) => one === tenantId);
      if (onTheirWay.has(keyId) || ofSite.length >= mostOfSite) {
        throw new ServiceError('throttled', 'another export is running; try again when it has finished', {
          retryAfterSeconds: 2,
        });
      }
      requireRoom();
      onTheirWay.set(keyId, tenantId);
      const own: Begun = { pace: null, end: () => undefined };
      let isBack = false;
      async function* readAtPace<T extends string | Uint8Array>(
        chunks: AsyncIterable<T>,
        close: () => Promise<void>,
      ): AsyncGenerator<T> {
        const pace = openClientPace(now);
        let isEnded = false;
        own.end = () => {
          isEnded = true;
          close().catch(() => undefined); // its reader is told by the next chunk
        };
        own.pace = pace;
        try {
          for await (const chunk of chunks) {
            pace.handed();
            yield chunk;
            pace.taken(Buffer.byteLength(chunk));
            if (isEnded) break;
          }
        } catch (error) {
          if (!isEnded) throw error; // else it is what the end of its reading led to
        }
        if (isEnded) throw overloaded('this download was slow, and another needed its place');
      }
      return {
        begin: () => {
          if (isBack || begun.has(keyId)) return;
          requireRoom();
          if (begun.size >= most) endSlowest();
          begun.set(keyId, own);
        },
        readAtPace,
        giveBack: () => {
          if (isBack) return;
          isBack = true;
          onTheirWay.delete(keyId);
          if (begun.get(keyId) === own) begun.delete(keyId);
        },
      };
    },
  };
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', message, { retryAfterSeconds: 2 });
}
