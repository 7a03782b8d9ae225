import { ServiceError } from '../../domain/errors.ts';

/** Who runs now, and who comes next. */
export interface Turns {
  /**
   * Waits for a turn of a caller; what it resolves to ends the turn (again: nothing). `shared` names what besides the caller the turn
   * counts for, as the site it is about: each name is bounded by itself. Rejects with `refusal` when too many wait, or it took too long.
   */
  enter(who: string, ...shared: readonly string[]): Promise<() => void>;
}

/** How many turns there are. */
export interface TurnLimits {
  readonly atOnce: number;
  /** Turns of one name at once, so that none holds all; as many as there are unless told. */
  readonly mostOfOne?: number;
  /** Of one name. */
  readonly mostWaiting: number;
  /** Of all together; no limit unless told. */
  readonly mostWaitingInAll?: number;
  readonly waitMs: number;
  /** What those are told who get no turn; `throttled` unless told. */
  readonly refusal?: () => ServiceError;
}

interface Waiter {
  readonly names: readonly string[];
  readonly begin: () => void;
}

/**
 * Lets so many run at once, whoever they are; the others wait, caller by caller in turns, so that one who asks a hundred things does
 * not stand before one who asks one.
 */
export function openTurns(limits: TurnLimits): Turns {
  const { atOnce, mostOfOne = atOnce, mostWaiting, mostWaitingInAll = Number.POSITIVE_INFINITY, waitMs } = limits;
  const { refusal = tooMany } = limits;
  /** By caller, the one whose turn is next first. */
  const waiting = new Map<string, Waiter[]>();
  const [runningOf, waitingOf] = [new Counts(), new Counts()];

  const mayBegin = (names: readonly string[]): boolean =>
    runningOf.total < atOnce && names.every((name) => runningOf.of(name) < mostOfOne);
  const begin = (names: readonly string[]): (() => void) => {
    runningOf.add(names, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      runningOf.add(names, -1);
      next();
    };
  };
  const take = (who: string, waiter: Waiter): void => {
    const others = (waiting.get(who) ?? []).filter((other) => other !== waiter);
    waiting.delete(who);
    if (others.length > 0) waiting.set(who, others);
    waitingOf.add(waiter.names, -1);
  };
  const next = (): void => {
    for (const [who, [waiter]] of waiting) {
      if (!waiter || !mayBegin(waiter.names)) continue;
      take(who, waiter);
      waiter.begin();
      return;
    }
  };

  return {
    enter: async (who, ...shared) => {
      const names = [who, ...shared];
      if (mayBegin(names)) return begin(names);
      const isFull = waitingOf.total >= mostWaitingInAll || names.some((name) => waitingOf.of(name) >= mostWaiting);
      if (isFull) throw refusal();
      return await new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          take(who, waiter);
          reject(refusal());
        }, waitMs);
        const waiter: Waiter = {
          names,
          begin: () => {
            clearTimeout(timer);
            resolve(begin(names));
          },
        };
        waiting.set(who, [...(waiting.get(who) ?? []), waiter]);
        waitingOf.add(names, 1);
      });
    },
  };
}

/** How many there are of each name, and in all. */
class Counts {
  readonly #of = new Map<string, number>();
  total = 0;

  of(name: string): number {
    return this.#of.get(name) ?? 0;
  }

  add(names: readonly string[], by: 1 | -1): void {
    this.total += by;
    for (const name of names) {
      const count = this.of(name) + by;
      if (count === 0) this.#of.delete(name);
      else this.#of.set(name, count);
    }
  }
}

function tooMany(): ServiceError {
  const sentence = 'too many questions at once; ask again in a moment, and fewer together';
  return new ServiceError('throttled', sentence, { retryAfterSeconds: 1 });
}
