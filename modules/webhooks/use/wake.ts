/** Tells the dispatchers of this process that there may be something to send; a wake between two looks is never lost. */
export interface Wake {
  /** Counts up with every wake. */
  readonly version: number;
  wake(): void;
  /** Resolves when the version is not `seen` any more, after `timeoutMs`, or when `signal` aborts. */
  wait(seen: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

/** A wake of this process; LISTEN (db/listen) calls its `wake`. */
export function createWake(): Wake {
  const waiters = new Set<() => void>();
  let version = 0;
  return {
    get version() {
      return version;
    },
    wake: () => {
      version += 1;
      for (const done of [...waiters]) done();
    },
    wait: (seen, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (seen !== version || signal.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        signal.addEventListener('abort', done);
        waiters.add(done);
      }),
  };
}
