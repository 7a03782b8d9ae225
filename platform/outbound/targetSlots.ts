/**
 * Places for requests to one target: a site that hangs must not take all of ours, nor we all of its. Not turns of platform/pacing/fairQueue.ts, which
 * look through all who wait whenever one ends: those who wait for a target that hangs would slow down every other.
 */
export interface TargetSlots {
  /** Runs `work` when the target has a place, in order of asking. Rejects with the signal's reason when it is aborted first. */
  run<T>(target: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

interface Target {
  running: number;
  readonly waiting: Set<() => void>;
}

/** At most `limit` at once for each target. */
export function createTargetSlots(limit: number): TargetSlots {
  const targets = new Map<string, Target>();
  const enter = (name: string, target: Target, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (target.running < limit) {
      target.running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        target.waiting.delete(go);
        forget(name, target);
        reject(signal.reason);
      };
      target.waiting.add(go);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  };
  const forget = (name: string, target: Target): void => {
    if (target.running === 0 && target.waiting.size === 0) targets.delete(name);
  };
  const leave = (name: string, target: Target): void => {
    const [next] = target.waiting;
    if (next === undefined) {
      target.running -= 1;
      forget(name, target);
      return;
    }
    target.waiting.delete(next); // its place goes straight to the next one
    next();
  };
  return {
    run: async (name, signal, work) => {
      const target = targets.get(name) ?? { running: 0, waiting: new Set() };
      targets.set(name, target);
      await enter(name, target, signal);
      try {
        return await work();
      } finally {
        leave(name, target);
      }
    },
  };
}
