import { setImmediate as othersTurn } from 'node:timers/promises';
import { leftOfTurnMs } from './eventLoop.ts';

/** How long the event loop is kept at one time, in milliseconds; one step of the work may take a millisecond more. A quote waits so long. */
const SLICE_MS = 1;
/** A slice has what calls of the same turn left of the time, and at least this: calls without end must not stop what was begun. */
const LEAST_MS = 0.25;

/** Work that is on its way, the piece whose turn is next first. */
const waiting: (() => boolean)[] = [];

/**
 * Runs work that stops at each `yield` in slices of a millisecond. Everything that came in meanwhile is done between two slices,
 * of whatever work: several pieces at once take turns. Rejects with what the work throws.
 */
export function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      const until = performance.now() + Math.max(LEAST_MS, Math.min(SLICE_MS, leftOfTurnMs()));
      try {
        do {
          const step = steps.next();
          if (step.done) {
            resolve(step.value);
            return true;
          }
        } while (performance.now() < until);
        return false;
      } catch (error) {
        reject(error);
        return true;
      }
    });
    if (waiting.length === 1) setImmediate(runSlice);
  });
}

function runSlice(): void {
  const [work] = waiting;
  if (!work) return;
  const isDone = work();
  waiting.shift();
  if (!isDone) waiting.push(work);
  if (waiting.length > 0) setImmediate(runSlice);
}

/** For work that awaits between its steps: a caller of this after each lets everything else have its turn once a slice is over. */
export function openSlices(): () => Promise<void> {
  let endsAtMs = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < endsAtMs) return;
    await othersTurn();
    endsAtMs = performance.now() + SLICE_MS;
  };
}
