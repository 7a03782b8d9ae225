import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseOutage } from '../db/outage.ts';

/** A part that processes stand on, as /readyz names it. */
export type Part = 'database' | 'temporal' | 'chain';

/** How soon a part that was away is asked again, and how often it is said that it still is. */
const TIMES = { againMs: 1_000, tellMs: 60_000 } as const;

/** How to wait for a part. */
export interface Waiting {
  readonly part: Part;
  readonly log: {
    info(fields: { readonly part: Part }, message: string): void;
    warn(fields: { readonly part: Part; readonly error: string }, message: string): void;
  };
  /** What rejections mean that the part is away; any other is thrown. */
  readonly isAway: (error: unknown) => boolean;
  /** Told the part when the waiting begins, and null when it ends. */
  readonly onWait?: (part: Part | null) => void;
  /** Ends the waiting: what was tried last rejects. */
  readonly signal?: AbortSignal;
  readonly againMs?: number;
}

/**
 * Does `work`, again each second while it rejects because the part is away. One line says that it is, and why, another one each minute, and one
 * that it is back. Work that is tried again must leave nothing open when it rejects.
 */
export async function whileAway<T>(waiting: Waiting, work: () => Promise<T>): Promise<T> {
  const { part, log, isAway, onWait, signal, againMs = TIMES.againMs } = waiting;
  let toldMs: number | null = null;
  for (;;) {
    try {
      const done = await work();
      if (toldMs !== null) {
        onWait?.(null);
        log.info({ part }, 'the part answers');
      }
      return done;
    } catch (error) {
      if (!isAway(error) || signal?.aborted) throw error;
      if (toldMs === null) onWait?.(part);
      if (toldMs === null || performance.now() - toldMs > TIMES.tellMs) {
        toldMs = performance.now();
        log.warn({ part, error: reasonOf(error) }, 'the part is away: what needs it waits, and it is asked again every second');
      }
      await sleep(againMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Does what needs Postgres as soon as it answers; a wrong password or database is thrown. */
export function whenDatabaseAnswers<T>(waiting: Pick<Waiting, 'log' | 'onWait'>, work: () => Promise<T>): Promise<T> {
  return whileAway({ part: 'database', isAway: isDatabaseOutage, ...waiting }, work);
}

/** Why, in one line: of several tries that failed together, the first one's words, since what they are thrown as has none. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const said = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${said}${cause}`;
}
