/** One call of a process to the outside, or a pause in ms. Between two of them anything else may happen. */
export type Call = (() => unknown) | number;
/** A process: an API request, a workflow, a round of the sweeper. */
export type Process = Generator<Call, void, unknown>;

/** The process dies here: nothing after this point runs. */
export class Crash extends Error {}
/** The node did not answer, or its answer was lost. */
export class RpcDown extends Error {}
/** An invariant does not hold: the schedule has found a bug. */
export class InvariantBroken extends Error {}

/** Performs one call at a point the scheduler chooses and returns its answer. */
export function* ask<T>(call: () => T | Promise<T>): Generator<Call, T, unknown> {
  return (yield call) as T;
}

/** A running process. `again` makes the same process once more after a crash, as a workflow engine does. */
export class Actor {
  wakeAtMs: number;
  done = false;
  private readonly process: Process;
  private pending: Call = 0;
  readonly again: (() => Process) | null;

  constructor(process: Process, again: (() => Process) | null, wakeAtMs: number) {
    this.process = process;
    this.again = again;
    this.wakeAtMs = wakeAtMs;
  }

  /** Performs the pending call and runs on to the next one. Throws Crash or InvariantBroken; other errors go inside. */
  step(nowMs: number): void | Promise<void> {
    let answer: unknown;
    try {
      answer = typeof this.pending === 'number' ? undefined : this.pending();
    } catch (error) {
      return this.fail(error, nowMs);
    }
    if (!(answer instanceof Promise)) return this.advance(this.process.next(answer), nowMs);
    return answer.then(
      (value) => this.advance(this.process.next(value), nowMs),
      (error) => this.fail(error, nowMs),
    );
  }

  private fail(error: unknown, nowMs: number): void {
    if (!(error instanceof RpcDown)) throw error;
    this.advance(this.process.throw(error), nowMs);
  }

  private advance(result: IteratorResult<Call, void>, nowMs: number): void {
    if (result.done) {
      this.done = true;
      return;
    }
    this.pending = result.value;
    if (typeof result.value === 'number') this.wakeAtMs = nowMs + result.value;
  }
}
