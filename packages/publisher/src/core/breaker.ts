/** Failures in a row after which nothing is asked for a while. */
const FAILURES = 5;
const REST_MS = 10_000;
/** How long one call may find out whether the other side is back, before another one may. */
const PROBE_MS = 2_000;

/** Keeps a site from waiting again and again for a service that does not answer. */
export class Breaker {
  #failures = 0;
  #closedUntilMs = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True when a call may be made; after a rest, one caller at a time finds out. */
  mayCall(): boolean {
    const now = this.#now();
    if (now < this.#closedUntilMs) return false;
    if (this.#failures >= FAILURES) this.#closedUntilMs = now + PROBE_MS;
    return true;
  }

  /** Notes how a call ended. */
  note(isAway: boolean): void {
    this.#failures = isAway ? this.#failures + 1 : 0;
    if (this.#failures >= FAILURES) this.#closedUntilMs = this.#now() + REST_MS;
    else this.#closedUntilMs = 0;
  }
}
