/** What one run may ask of the site and of the service together, so that a look at a site is no load for it. */

/** Most requests of a run. */
const MAX_REQUESTS = 80;
const MAX_RUN_MS = 120_000;

/** Counts requests. */
export interface Budget {
  /** True when one more request may be sent. */
  take(): boolean;
  readonly taken: number;
  /** Milliseconds until the time of the run is over; 0 from then on. */
  msLeft(): number;
}

/** A budget of a run that begins now. */
export function openBudget(limits: { readonly requests?: number; readonly runMs?: number } = {}): Budget {
  const { requests = MAX_REQUESTS, runMs = MAX_RUN_MS } = limits;
  const startedMs = performance.now();
  const msLeft = (): number => Math.max(0, Math.round(runMs - (performance.now() - startedMs)));
  let taken = 0;
  return {
    take: () => {
      if (msLeft() === 0 || taken >= requests) return false;
      taken++;
      return true;
    },
    get taken() {
      return taken;
    },
    msLeft,
  };
}

/** `fetch` that counts, for the client of the service. Rejects when nothing is left, as a connection that fails does. */
export function countedFetch(budget: Budget, send: typeof fetch = fetch): typeof fetch {
  return (input, init) => (budget.take() ? send(input, init) : Promise.reject(new Error('no requests are left in this run')));
}
