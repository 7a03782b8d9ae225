import type { Dispatcher } from 'undici';

/** What of an answer is kept. */
export interface StartLimits {
  /** Most bytes of the body. */
  readonly maxBytes: number;
  /** How long the body may dawdle after the headers, in ms. */
  readonly startMs: number;
}

/** Status, headers and the first bytes of an answer. */
export interface StartOfAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends one request and resolves with the start of its answer: once the status has arrived it stands, whatever goes wrong later.
 * A body that is too long or too slow is cut off together with its connection. Rejects with the signal's reason or with why no
 * status came. A handler of our own instead of undici's `request`, which makes a stream for bytes that nobody streams.
 */
export function exchangeStart(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: StartLimits,
  signal: AbortSignal,
): Promise<StartOfAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(limits, signal, resolve, reject);
    if (!signal.aborted) dispatcher.dispatch(request, exchange);
  });
}

/** One exchange, as undici tells about it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: StartLimits;
  readonly #signal: AbortSignal;
  readonly #resolve: (start: StartOfAnswer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #chunks: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #head: { readonly status: number; readonly headers: StartOfAnswer['headers'] } | null = null;
  #size = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    limits: StartLimits,
    signal: AbortSignal,
    resolve: (start: StartOfAnswer) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#limits = limits;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    if (signal.aborted) this.#end(signal.reason);
    else signal.addEventListener('abort', this.#cut, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: StartOfAnswer['headers']): void {
    if (status < 200) return; // informational: the answer follows
    this.#head = { status, headers };
    this.#timer = setTimeout(this.#cut, this.#limits.startMs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#limits.maxBytes) this.#cut();
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  /** Ends the exchange and its connection. */
  readonly #cut = (): void => {
    this.#end(this.#signal.reason);
    this.#controller?.abort(new Error('enough of the answer was read, or its time is over'));
  };

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#cut);
    if (this.#head === null) this.#reject(error);
    else this.#resolve({ ...this.#head, body: Buffer.concat(this.#chunks).subarray(0, this.#limits.maxBytes) });
  }
}
