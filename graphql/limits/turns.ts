import { ServiceError } from '../../domain/errors.ts';

/** Who runs now, and who comes next. */
export interface Turns {
  /** Waits for a turn of `who`; what it resolves to ends the turn. Throws `throttled` when too many wait, or it took too long. */
  enter(who: string): Promise<() => void>;
}

/** How many turns there are. */
export interface TurnLimits {
  readonly atOnce: number;
  /** Of one caller. */
  readonly mostWaiting: number;
  readonly waitMs: number;
}

interface Waiter {
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Lets so many run at once, whoever they are; the others wait, caller by caller in turns, so that one who asks a hundred things does
 * not stand before one who asks one.
 */
export function openTurns({ atOnce, mostWaiting, waitMs }: TurnLimits): Turns {
  const waiting = new Map<string, Waiter[]>();
  let running = 0;

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      running--;
      return;
    }
    const [who, queue] = next;
    const waiter = queue.shift() as Waiter;
    waiting.delete(who);
    if (queue.length > 0) waiting.set(who, queue);
    clearTimeout(waiter.timer);
    waiter.begin();
  };
  const once = (): (() => void) => {
    let isOver = false;
    return () => {
      if (!isOver) leave();
      isOver = true;
    };
  };
  const giveUp = (who: string, waiter: Waiter): void => {
    const queue = (waiting.get(who) ?? []).filter((other) => other !== waiter);
    if (queue.length > 0) waiting.set(who, queue);
    else waiting.delete(who);
  };

  return {
    enter: async (who) => {
      if (running < atOnce) {
        running++;
        return once();
      }
      const queue = waiting.get(who) ?? [];
      if (queue.length >= mostWaiting) throw tooMany();
      return await new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          giveUp(who, waiter);
          reject(tooMany());
        }, waitMs);
        const waiter: Waiter = { begin: () => resolve(once()), timer };
        waiting.set(who, [...queue, waiter]);
      });
    },
  };
}

function tooMany(): ServiceError {
  const sentence = 'too many questions at once; ask again in a moment, and fewer together';
  return new ServiceError('throttled', sentence, { retryAfterSeconds: 1 });
}
