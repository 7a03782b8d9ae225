/** What pages say, read in a thread of their own: a hostile page takes half a second of CPU, and quotes share the event loop with the caller. */
import { Worker } from 'node:worker_threads';
import type { PlainPage } from '../../../../platform/pageText.ts';

/** A page's text, as far as it is wanted. */
export interface CutPage extends PlainPage {
  /** There is more of it. */
  readonly isCut: boolean;
}

/** How a body is read. */
interface Reading {
  readonly isHtml: boolean;
  /** The one the server named; null: none. */
  readonly charset: string | null;
  readonly mostChars: number;
}

/** To the thread: a page. */
export type ToTexts = Reading & { readonly body: Uint8Array };
/** From the thread: its text; null: it cannot be read. */
export type FromTexts = CutPage | null;

/** The reader of one process. */
export interface Texts {
  /** What a body says, `mostChars` of it; null where it is no text, nested too deep, or takes too long or too much memory. */
  read(body: Uint8Array, how: Reading): Promise<CutPage | null>;
}

/** For one page, where others leave the thread a tenth of a core. */
const LIMIT_MS = 10_000;
/** A thread that nobody needs for so long is ended. */
const IDLE_MS = 30_000;
/** Two megabytes of markup need a third of it. */
const MAX_MEMORY_MB = 96;

/** Opens a reader with one thread, which runs while it is needed: pages are read in the order they came in. */
export function openTexts({ start = startThread, limitMs = LIMIT_MS } = {}): Texts {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const end = (): void => {
    void thread?.terminate();
    thread = null;
  };
  const readNow = async (body: Uint8Array, how: Reading): Promise<CutPage | null> => {
    clearTimeout(idle);
    // What ends it between two pages is nobody's error.
    thread ??= start().on('error', () => undefined);
    const page = await ask(thread, { ...how, body: new Uint8Array(body) }, limitMs);
    if (page === undefined) end();
    else idle = setTimeout(end, IDLE_MS).unref();
    return page ?? null;
  };
  return {
    read: (body, how) => {
      const reading = last.then(() => readNow(body, how));
      last = reading.catch(() => undefined); // a thread that could not be started keeps nobody else waiting
      return reading;
    },
  };
}

/** Undefined: the thread failed, or it took too long. */
async function ask(thread: Worker, asked: ToTexts, limitMs: number): Promise<FromTexts | undefined> {
  const { promise, resolve } = Promise.withResolvers<FromTexts | undefined>();
  const fail = (): void => resolve(undefined);
  const timer = setTimeout(fail, limitMs);
  thread.ref();
  thread.once('message', resolve).once('error', fail).once('exit', fail);
  thread.postMessage(asked, [asked.body.buffer as ArrayBuffer]);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    thread.off('message', resolve).off('error', fail).off('exit', fail);
    thread.unref();
  }
}

function startThread(): Worker {
  return new Worker(new URL('./textThread.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
}
