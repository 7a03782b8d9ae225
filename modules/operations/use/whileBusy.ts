import { setTimeout as sleep } from 'node:timers/promises';

/** How often work that others are in the way of is tried, and how long they are left alone in between. */
export const TRIES = 40;
const PAUSE_MS = 300;

/** Tries work until it is not `busy`, `tries` times at most; gives what it gave last. */
export async function whileBusy<T>(work: () => Promise<T | 'busy'>, tries = TRIES): Promise<T | 'busy'> {
  for (let turn = 1; ; turn += 1) {
    const outcome = await work();
    if (outcome !== 'busy' || turn === tries) return outcome;
    await sleep(PAUSE_MS);
  }
}
