/**
 * Work on scopes: pricing one and narrowing one takes CPU in proportion to a catalogue, and a quote needs no credential. What bounds it:
 * the work of one answer (modules/kernel/pages/cover.ts), slices that let everything else go on, so many answers at once, none of whose places one
 * caller or one site can hold all, and the catalogues in memory by their weight.
 */

import type { Turns } from '../../../../platform/pacing/fairQueue.ts';
import { openTurns } from '../../../../platform/pacing/fairQueue.ts';
import { inSlices } from '../../../../platform/pacing/slices.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Catalogues } from './catalogues.ts';
import { openCatalogues } from './catalogues.ts';

/** Limits of one process. */
export interface ScopeLimits {
  /** Scopes that are worked on at once. */
  readonly atOnce: number;
  /** Weight of the catalogues in memory, in pages. */
  readonly pagesInMemory: number;
}

/** What an API process has; a catalogue page weighs about half a kilobyte, one more for every two authors. */
export const SCOPE_LIMITS: ScopeLimits = { atOnce: 4, pagesInMemory: 400_000 };

/** The place of a process where scopes are priced and narrowed. */
export interface Scopes {
  readonly catalogues: Catalogues;
  /**
   * Does work about a site for a caller when their turn comes. Throws overloaded (503 with Retry-After) when too many wait, of them or
   * in all, or it took two seconds.
   */
  inTurn<T>(asked: ScopeAsker, work: () => Promise<T>): Promise<T>;
  /** Runs work in slices of a few milliseconds. */
  run<T>(steps: Generator<void, T>): Promise<T>;
}

/** Who asks about which site. */
export interface ScopeAsker {
  /** The account, or the address of who shows none. */
  readonly caller: string;
  readonly tenantId: string;
}

const WAITING_OF_ONE = 16;
const WAITING_IN_ALL = 200;
const WAIT_MS = 2_000;

/** Opens it. */
export function openScopes({ atOnce, pagesInMemory }: ScopeLimits): Scopes {
  const turns: Turns = openTurns({
    atOnce,
    mostOfOne: Math.max(1, Math.floor(atOnce / 2)),
    mostWaiting: WAITING_OF_ONE,
    mostWaitingInAll: WAITING_IN_ALL,
    waitMs: WAIT_MS,
    refusal: () =>
      new ServiceError('overloaded', 'too many scopes are being priced right now; try again', { retryAfterSeconds: 2 }),
  });
  return {
    catalogues: openCatalogues(pagesInMemory),
    run: inSlices,
    inTurn: async ({ caller, tenantId }, work) => {
      const leave = await turns.enter([`caller ${caller}`, `site ${tenantId}`]);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
