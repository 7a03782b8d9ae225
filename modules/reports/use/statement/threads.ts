import { Worker } from 'node:worker_threads';

/** What a thread may take; a document of every line there is needs about a third of it. */
const MAX_MEMORY_MB = 256;
/** Little: it is collected in one go, by threads of V8 that have the priority of calls. With 32 MB that took 10 to 25 ms. */
const MAX_YOUNG_MEMORY_MB = 3;
/** A thread that nobody needs for so long is ended. */
const IDLE_MS = 30_000;
/** A thread ends after so many documents, whatever it holds. */
const MOST_DOCUMENTS = 100;
/** One that holds more than this after a document ends with it: the next may need all the memory there is for one. */
const MOST_HELD_BYTES = 96 * 1_048_576;

/** How many documents were drawn in each thread, and the one thread that waits for the next. */
const drawn = new WeakMap<Worker, number>();
let idle: { readonly worker: Worker; readonly forget: () => void } | null = null;

/**
 * A thread that draws statements, of nobody else until it ends or is given to `keepThread`: the one that waits, or a new one. What a new one
 * does first, reading and compiling the code and the fonts, costs many times what most documents cost, and the compiler's own threads do it
 * at the priority of the calls that others wait for.
 */
export function takeThread(): Worker {
  if (idle) {
    const { worker, forget } = idle;
    forget();
    worker.ref();
    return worker;
  }
  return new Worker(new URL('./thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MEMORY_MB },
  });
}

/** Keeps a thread whose document was drawn for the next one; ends it where another waits already, or when it has drawn or holds too much. */
export async function keepThread(worker: Worker, heldBytes: number): Promise<void> {
  const count = (drawn.get(worker) ?? 0) + 1;
  drawn.set(worker, count);
  if (idle || count >= MOST_DOCUMENTS || heldBytes > MOST_HELD_BYTES) {
    await worker.terminate();
    return;
  }
  const forget = (): void => {
    clearTimeout(timer);
    worker.off('error', forget);
    worker.off('exit', forget);
    idle = null;
  };
  const timer = setTimeout(() => void worker.terminate(), IDLE_MS).unref();
  worker.once('error', forget);
  worker.once('exit', forget);
  worker.unref();
  idle = { worker, forget };
}
