import { ServiceError } from '../../modules/kernel/errors.ts';
import { whoGivesWay } from './eviction.ts';

/** Whose turn it is, and what it counts for besides. */
type Names = readonly [line: string, ...others: string[]];

/** Who runs now, and who comes next. */
export interface Turns {
  /**
   * Waits for a turn; what it resolves to ends the turn (again: nothing). Each name is bounded by itself. Those of the same first name wait in
   * one line, and lines come in turns; in a line those of each second name do. Rejects with `refusal` when too many wait, it took too long,
   * or the caller is `gone` before its turn comes: that gives its place to the next. One that waits loses its place, with `refusal`, to who
   * has fewer in a line that is full (`whoGivesWay`).
   */
  enter(names: Names, gone?: AbortSignal): Promise<() => void>;
}

/** What is bounded of one name: turns at once, and those that wait. */
export interface NameLimits {
  readonly atOnce: number;
  readonly mostWaiting: number;
}

/** How many turns there are. */
export interface TurnLimits {
  readonly atOnce: number;
  /** Turns of one name at once, so that none holds all; as many as there are unless told. */
  readonly mostOfOne?: number;
  /** Of one name. */
  readonly mostWaiting: number;
  /** Names with limits of their own. */
  readonly named?: ReadonlyMap<string, NameLimits>;
  /** Of all together; no limit unless told. */
  readonly mostWaitingInAll?: number;
  readonly waitMs: number;
  /** What those are told who get no turn; `throttled` unless told. */
  readonly refusal?: () => ServiceError;
}

interface Waiter {
  readonly names: Names;
  readonly begin: () => void;
  /** Loses its place. */
  readonly giveUp: () => void;
}

/**
 * Lets so many run at once, of any callers; the others wait, name by name in turns, so that one who asks a hundred things does not stand
 * before one who asks one.
 */
export function openTurns(limits: TurnLimits): Turns {
  const { atOnce, mostOfOne = atOnce, mostWaiting, mostWaitingInAll = Number.POSITIVE_INFINITY, waitMs } = limits;
  const { refusal = tooMany, named } = limits;
  const limitsOf = (name: string): NameLimits => named?.get(name) ?? { atOnce: mostOfOne, mostWaiting };
  /** In the order in which they came. */
  const waiting = new Set<Waiter>();
  /** When a name that waits had its last turn, or began to wait: the least is next. */
  const lastTurn = new Map<string, number>();
  let turn = 0;
  const [runningOf, waitingOf] = [new Counts(), new Counts()];

  const mayBegin = (names: readonly string[]): boolean =>
    runningOf.total < atOnce && names.every((name) => runningOf.of(name) < limitsOf(name).atOnce);
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
  const wait = (waiter: Waiter): void => {
    turn += 1;
    for (const name of waiter.names) if (!lastTurn.has(name)) lastTurn.set(name, turn);
    waiting.add(waiter);
    waitingOf.add(waiter.names, 1);
  };
  const leaveLine = (waiter: Waiter): void => {
    waiting.delete(waiter);
    waitingOf.add(waiter.names, -1);
    for (const name of waiter.names) if (waitingOf.of(name) === 0) lastTurn.delete(name);
  };
  const isFull = (name: string): boolean => waitingOf.of(name) >= limitsOf(name).mostWaiting;
  const lastTurnOf = (name: string): number => lastTurn.get(name) ?? 0;
  const isBefore = ({ names: [line, who = line] }: Waiter, { names: [otherLine, other = otherLine] }: Waiter): boolean => {
    const ahead = lastTurnOf(otherLine) - lastTurnOf(line);
    return ahead > 0 || (ahead === 0 && lastTurnOf(other) > lastTurnOf(who));
  };
  /** The next who may begin; its names are last from now on. */
  const takeNext = (): Waiter | undefined => {
    let first: Waiter | undefined;
    for (const waiter of runningOf.total < atOnce ? waiting : []) {
      if ((!first || isBefore(waiter, first)) && mayBegin(waiter.names)) first = waiter;
    }
    if (!first) return undefined;
    turn += 1;
    for (const name of first.names) lastTurn.set(name, turn);
    leaveLine(first);
    return first;
  };
  /** One turn that ends may let in several: one waits for its site, another for what the site reads through. */
  const next = (): void => {
    for (let waiter = takeNext(); waiter; waiter = takeNext()) waiter.begin();
  };

  return {
    enter: async (names, gone) => {
      if (gone?.aborted) throw refusal();
      if (mayBegin(names)) return begin(names);
      const full = [...names.filter(isFull), ...(waitingOf.total >= mostWaitingInAll ? [null] : [])];
      const giving = full.length === 0 ? [] : whoGivesWay(waiting, { names }, full);
      if (giving === null) throw refusal();
      for (const one of giving) one.giveUp();
      return await new Promise((resolve, reject) => {
        const stopWaiting = (): void => {
          clearTimeout(timer);
          gone?.removeEventListener('abort', giveUp);
        };
        const giveUp = (): void => {
          stopWaiting();
          leaveLine(waiter);
          reject(refusal());
        };
        const timer = setTimeout(giveUp, waitMs);
        gone?.addEventListener('abort', giveUp);
        const waiter: Waiter = {
          names,
          begin: () => {
            stopWaiting();
            resolve(begin(names));
          },
          giveUp,
        };
        wait(waiter);
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
  const sentence = 'too many requests at once; try again in a moment, with fewer in parallel';
  return new ServiceError('throttled', sentence, { retryAfterSeconds: 1 });
}
