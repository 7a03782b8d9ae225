import { RateExceeded } from '../services/rates.ts';

/** How long a caller above its rate waits to be told so: who asks again at once asks twice a second a connection. */
const HELD_MS = 500;
/** Refusals that wait at once in this process; more are told at once, since each that waits holds a connection. */
const MOST_HELD = 2_000;

let held = 0;

/**
 * Answers an error with `tell`: at once, or after half a second when it is that of a rate. To write a refusal costs nearly what a cheap answer
 * costs, and a client that does not wait would have thousands written a second; so it waits here, for nothing but a timer. Its `Retry-After`
 * counts from the answer.
 */
export function tellInTime(error: unknown, tell: () => void): void {
  if (!(error instanceof RateExceeded) || held >= MOST_HELD) {
    tell();
    return;
  }
  held += 1;
  setTimeout(() => {
    held -= 1;
    tell();
  }, HELD_MS);
}
