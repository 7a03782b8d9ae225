/** What one run may ask of the site and of the service together, so that a look at a site is no load for it. */

/** Most requests of a run. */
export const MAX_REQUESTS = 60;
const MAX_RUN_MS = 120_000;

/** Counts requests. */
export interface Budget {
  /** True when one more request may be sent. */
  take(): boolean;
  readonly taken: number;
  /** Fires when the time of the run is over. */
  readonly ended: AbortSignal;
}

/** A budget of a run that begins now. */
export function openBudget(limits: { readonly requests?: number; readonly runMs?: number } = {}): Budget {
  const { requests = MAX_REQUESTS, runMs = MAX_RUN_MS } = limits;
  const ended = AbortSignal.timeout(runMs);
  let taken = 0;
  return {
    take: () => {
      if (ended.aborted || taken >= requests) return false;
      taken++;
      return true;
    },
    get taken() {
      return taken;
    },
    ended,
  };
}

/** `fetch` that counts, for the client of the service. Rejects when nothing is left, as a connection that fails does. */
export function countedFetch(budget: Budget, send: typeof fetch = fetch): typeof fetch {
  return (input, init) => (budget.take() ? send(input, init) : Promise.reject(new Error('no requests are left in this run')));
}
