import { condition, defineSignal, patched, setHandler, sleep } from '@temporalio/workflow';

/** How long a standing workflow pauses between rounds, as the worker that started last was told. */
export interface Interval {
  readonly ms: number;
  /** Waits for the interval; a new one that comes meanwhile ends the wait. */
  pause(): Promise<void>;
}

const intervalSignal = defineSignal<[number]>('setInterval');

/**
 * The interval of a workflow that runs for good: what it was started with, until a worker starts with another one and says so by the signal
 * `setInterval` (milliseconds).
 */
export function watchInterval(startedWithMs: number): Interval {
  let ms = startedWithMs;
  let isNew = false;
  setHandler(intervalSignal, (nextMs) => {
    isNew ||= nextMs !== ms;
    ms = nextMs;
  });
  return {
    get ms() {
      return ms;
    },
    async pause() {
      isNew = false;
      // Histories from before slept, and a signal among them must not cut those pauses short.
      if (!patched('interval-signal')) return sleep(ms);
      await condition(() => isNew, ms);
    },
  };
}
