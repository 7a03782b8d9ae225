/** The first usable answer of several nodes: the next one is asked at once when one fails, and after a delay while one is silent. */
import { Outage } from './transport.ts';

/**
 * Starts the tries in order and settles with the first that does not end in an Outage, its error included; throws the last Outage when all
 * do. Asks at most every node once. A silent one is left to its own time limit: what comes of it counts for its breaker.
 */
export function firstAnswer<T>(tries: readonly (() => Promise<T>)[], delayMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let started = 0;
    let failed = 0;
    let timer: NodeJS.Timeout | undefined;
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      started = tries.length;
      end();
    };
    const startNext = (): void => {
      clearTimeout(timer);
      const next = tries[started];
      if (!next) return;
      started += 1;
      if (started < tries.length) timer = setTimeout(startNext, delayMs);
      next().then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => {
          if (!(error instanceof Outage)) return settle(() => reject(error));
          failed += 1;
          if (failed === tries.length) return settle(() => reject(error));
          startNext();
        },
      );
    };
    if (tries.length === 0) reject(new Outage('no node can be asked'));
    startNext();
  });
}
