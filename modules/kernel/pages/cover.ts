/**
 * Which of many paths a scope covers, with the work of one answer bounded. Paths are sorted, so that what a pattern begins with is
 * found by binary search; only a pattern with something after its first `*` is compared with paths one by one.
 */
import { ServiceError } from '../errors.ts';
import type { CompiledPattern } from './scope.ts';
import { matches } from './scope.ts';

/** What one answer may look at: characters of paths, and so many for each comparison besides. */
export const MAX_WORK = 16_000_000;
const COMPARISON_WORK = 32;
/** Work between two places where the caller may do something else: a millisecond with the worst of patterns and paths. */
const STEP_WORK = 20_000;

/** What a scope covers of some paths. */
export interface Cover {
  /** Places of the paths covered, ascending. */
  readonly places: readonly number[];
  /** How many there are: `places` has no more than was asked for. */
  readonly count: number;
  /** The first pattern that covers no path, by its place; null when each covers one. */
  readonly idle: number | null;
}

/**
 * Finds the paths that patterns cover; `paths` are canonical, ascending by code unit, and `most` are listed. Stops at each `yield`
 * after a millisecond's work at most. Throws conflict (409) when the patterns would have to be compared with more than MAX_WORK.
 */
export function* coverSteps(
  paths: readonly string[],
  patterns: readonly CompiledPattern[],
  most: number,
): Generator<void, Cover> {
  const covered = new Uint8Array(paths.length);
  let idle: number | null = null;
  const budget = new Budget();
  for (const [index, pattern] of patterns.entries()) {
    const { from, until } = rangeOf(paths, pattern);
    const isWhole = pattern.middle.length === 0 && (pattern.last === null || pattern.last === '');
    let isIdle = !isWhole || from === until;
    if (isWhole) {
      covered.fill(1, from, until);
      budget.spend((until - from) >> 3);
    } else {
      for (let place = from; place < until; place++) {
        const path = paths[place] as string;
        if (budget.spend(COMPARISON_WORK + path.length)) yield;
        if (!matches(pattern, path)) continue;
        covered[place] = 1;
        isIdle = false;
      }
    }
    if (isIdle) idle ??= index;
    yield;
  }
  return { ...(yield* listed(covered, most)), idle };
}

/** The marked places, at most `most` of them, and how many there are. */
function* listed(covered: Uint8Array, most: number): Generator<void, Omit<Cover, 'idle'>> {
  const places: number[] = [];
  let count = 0;
  for (let place = covered.indexOf(1); place >= 0; place = covered.indexOf(1, place + 1)) {
    count++;
    if (count <= most) places.push(place);
    if (count % STEP_WORK === 0) yield;
  }
  return { places, count };
}

/** The places of all paths that begin as the pattern does; of a pattern for one path, its place alone. */
function rangeOf(paths: readonly string[], { first, middle, last }: CompiledPattern): { from: number; until: number } {
  const from = firstPlace(paths, (path) => path >= first);
  if (middle.length === 0 && last === '') {
    return { from, until: firstPlace(paths, (path) => path > first) };
  }
  return { from, until: firstPlace(paths, (path) => path > first && !path.startsWith(first)) };
}

/** The first place at which `isPast` holds; it holds at every later one. */
function firstPlace(paths: readonly string[], isPast: (path: string) => boolean): number {
  let [low, high] = [0, paths.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(paths[middle] as string)) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Budget {
  #spent = 0;
  #step = 0;

  /** Takes work from the budget; true when a step is full. */
  spend(work: number): boolean {
    this.#spent += work;
    if (this.#spent > MAX_WORK) {
      throw new ServiceError(
        'conflict',
        'the scope has too many patterns with * for so many pages; start them with more of the path, or ask for fewer at once',
      );
    }
    this.#step += work;
    if (this.#step < STEP_WORK) return false;
    this.#step = 0;
    return true;
  }
}
