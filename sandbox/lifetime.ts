import { setTimeout as sleep } from 'node:timers/promises';
import type { PartProcess } from './parts/processes.ts';

/** Something that runs in a process of its own. */
export interface Running {
  /** Null for what somebody else runs. */
  readonly process: PartProcess | null;
  stop(): Promise<void>;
}

/** Everything a sandbox has running: stopped in reverse stages, each stage at once. */
export interface Lifetime {
  /** True from the first call of `stop` on. */
  readonly isEnding: boolean;
  /** Registers an end; 0 ends last. When all is ending already, it is called at once. */
  onEnd(stage: number, end: () => Promise<void> | void): void;
  /** Registers a process of a stage, and starts it again when it ends by itself, as soon as nothing holds it down. */
  keep<T extends Running>(stage: number, running: T, again: () => Promise<T>): void;
  /** Process ids of what was registered by `keep` and runs, by the name of the process; of equal names the last. */
  pids(): Readonly<Record<string, number>>;
  /** Has `tell` called whenever a process was started again. */
  onRestart(tell: () => void): void;
  /** Resolves when what was registered during the end has ended. */
  lateEnds(): Promise<void>;
  /** Ends everything. A second call waits for the first; rejects if something could not be ended. */
  stop(): Promise<void>;
}

/** More deaths of one process than this in a minute, and the sandbox gives up. */
const MOST_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const PAUSE_MS = 500;
const HOLD_LOOK_MS = 200;

/**
 * A lifetime; `say` tells of restarts, `giveUp` is called once when a process does not stay alive; while `isHeld` says true,
 * what ends stays ended.
 */
export function createLifetime(hooks: {
  say: (line: string) => void;
  giveUp: (reason: string) => void;
  isHeld: () => boolean;
}): Lifetime {
  const tells: (() => void)[] = [];
  const kept: (() => PartProcess | null)[] = [];
  const stages = new Map<number, (() => Promise<void> | void)[]>();
  const late: Promise<void>[] = [];
  let ending: Promise<void> | null = null;
  let isEnding = false;

  const onEnd = (stage: number, end: () => Promise<void> | void): void => {
    if (isEnding) late.push(Promise.resolve(end()));
    else stages.set(stage, [...(stages.get(stage) ?? []), end]);
  };
  const keep = <T extends Running>(stage: number, running: T, again: () => Promise<T>): void => {
    let current: Running = running;
    const deaths: number[] = [];
    onEnd(stage, () => current.stop());
    kept.push(() => current.process);
    const watch = async (): Promise<void> => {
      for (;;) {
        const { process } = current;
        if (process === null) return;
        const { code, signal } = await process.exited;
        if (isEnding) return;
        deaths.push(performance.now());
        const recent = deaths.filter((at) => performance.now() - at < RESTART_WINDOW_MS);
        if (recent.length > MOST_RESTARTS) return hooks.giveUp(`${process.name} does not stay alive:\n${process.tail()}`);
        const held = hooks.isHeld();
        hooks.say(`${process.name} ended (${signal ?? code}); ${held ? 'it stays ended while it is held' : 'starting it again'}`);
        while (held && hooks.isHeld() && !isEnding) await sleep(HOLD_LOOK_MS);
        await sleep(PAUSE_MS);
        if (isEnding) return;
        await again().then(
          (next) => {
            current = next;
            if (isEnding) late.push(next.stop());
            else for (const tell of tells) tell();
          },
          (error: Error) => hooks.say(error.message),
        );
      }
    };
    void watch();
  };
  const stop = async (): Promise<void> => {
    isEnding = true;
    const failures: unknown[] = [];
    for (const [, ends] of [...stages].sort(([a], [b]) => b - a)) {
      const outcomes = await Promise.allSettled(ends.map(async (end) => end()));
      failures.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])));
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
  };
  return {
    get isEnding() {
      return isEnding;
    },
    onEnd,
    keep,
    pids: () => {
      const processes = kept.flatMap((one) => one() ?? []).filter((process) => process.isRunning());
      return Object.fromEntries(processes.map(({ name, pid }) => [name, pid]));
    },
    onRestart: (tell) => void tells.push(tell),
    lateEnds: async () => void (await Promise.allSettled(late)),
    stop: () => (ending ??= stop()),
  };
}
