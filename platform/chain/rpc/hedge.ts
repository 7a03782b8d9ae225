/** The first usable answer of several nodes: the next one is asked at once when one fails, and after a delay while one is silent. */
import { Outage, RpcError } from './transport.ts';

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

/**
 * Starts all tries at once and settles with the first that is taken, while the others go on. When none is, throws the first refusal in
 * the order of the tries, with the others `besides`, or else the last Outage.
 */
export async function firstTaken<T>(tries: readonly (() => Promise<T>)[]): Promise<T> {
  try {
    return await Promise.any(tries.map((start) => start()));
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const [first, ...besides] = error.errors.filter((one) => one instanceof RpcError);
    if (first) throw new RpcError(first.code, first.message, first.data, besides);
    throw error.errors.findLast((one) => !(one instanceof RpcError)) ?? new Outage('no node can be asked');
  }
}
