import type { Database } from '../../db/database.ts';
import type { Turns } from '../pacing/turns.ts';
import { openTurns } from '../pacing/turns.ts';

/** Reports of one site that may wait; the next is 429. */
const WAITING_OF_ONE = 20;
const WAIT_MS = 5_000;

/**
 * Turns of sites at the connections that reports are read through: a report for each connection at once, a third of them for one site,
 * and sites that wait come in turns. So whoever asks two hundred reports at once keeps nobody else waiting for longer than one of them.
 * Entering throws throttled (429) for a site of which too many wait, or which waited for five seconds.
 */
export function openReportTurns({ pool }: Pick<Database, 'pool'>): Turns {
  const { max } = pool.options;
  return openTurns({
    ...{ atOnce: max, mostOfOne: Math.max(1, Math.floor(max / 3)), mostWaiting: WAITING_OF_ONE, waitMs: WAIT_MS },
  });
}
