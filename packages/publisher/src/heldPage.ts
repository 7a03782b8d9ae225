/**
 * Holds a page back that a Node server makes, until it is paid. The server's own code notices nothing: whatever it does to the response
 * (`write`, `end`, pipes, `sendFile`, middlewares that compress) comes here first.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';
import { merged } from './answers.ts';
import type { Sale } from './sale.ts';

type Headers = Readonly<Record<string, string>>;
interface Head {
  readonly status: number;
  readonly message: string;
  readonly headers: OutgoingHttpHeaders;
}

/** Sends an answer of the gate's own. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

/** Puts headers on whatever the server answers, at the moment it begins to: what it says itself about them does not count. */
export function forceHeaders(response: ServerResponse, headers: Headers): void {
  const { writeHead } = response;
  const force = (...args: readonly unknown[]): ServerResponse => {
    readHead(response, args);
    setHeaders(response, headers);
    return writeHead.call(response, response.statusCode);
  };
  response.writeHead = force as typeof writeHead;
}

/**
 * Takes over a response until its page is whole, or longer than `maxBytes`, and then does what the sale says. When the connection ends before
 * that, nothing is settled. `onLarge` hears of a page that is paid before all of it was made.
 */
export function holdPage(
  response: ServerResponse,
  sale: Sale,
  options: { readonly maxBytes: number; readonly onLarge: () => void },
): void {
  const page = new HeldPage(response, sale, options);
  response.write = ((...args: unknown[]) => page.write(args)) as typeof response.write;
  response.end = ((...args: unknown[]) => page.end(args)) as typeof response.end;
  response.writeHead = ((...args: unknown[]) => page.writeHead(args)) as typeof response.writeHead;
  response.flushHeaders = () => page.flushHeaders();
}

class HeldPage {
  readonly #response: ServerResponse;
  readonly #sale: Sale;
  readonly #options: { readonly maxBytes: number; readonly onLarge: () => void };
  readonly #own: Pick<ServerResponse, 'write' | 'end' | 'writeHead' | 'flushHeaders'>;
  readonly #before: Head;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  /** `judged`: the sale decides, what comes meanwhile is kept. `open`: what comes goes out. `shut`: nothing of it ever will. */
  #state: 'held' | 'judged' | 'open' | 'shut' = 'held';

  constructor(response: ServerResponse, sale: Sale, options: { readonly maxBytes: number; readonly onLarge: () => void }) {
    this.#response = response;
    this.#sale = sale;
    this.#options = options;
    const { write, end, writeHead, flushHeaders } = response;
    this.#own = { write, end, writeHead, flushHeaders };
    this.#before = headOf(response);
    response.once('close', () => {
      if (this.#state !== 'held') return;
      this.#state = 'shut';
      sale.abandon();
    });
  }

  write(args: readonly unknown[]): boolean {
    if (this.#state === 'open') return Reflect.apply(this.#own.write, this.#response, args) as boolean;
    callBack(args);
    if (this.#state === 'shut' || this.#isEnded) return true;
    this.#keep(args);
    if (this.#state === 'held' && this.#bytes > this.#options.maxBytes) {
      this.#options.onLarge();
      void this.#settle();
    }
    return this.#state === 'held';
  }

  end(args: readonly unknown[]): ServerResponse {
    if (this.#state === 'open') return Reflect.apply(this.#own.end, this.#response, args) as ServerResponse;
    callBack(args);
    if (this.#state === 'shut' || this.#isEnded) return this.#response;
    this.#keep(args);
    this.#isEnded = true;
    if (this.#state === 'held') void this.#settle();
    return this.#response;
  }

  writeHead(args: readonly unknown[]): ServerResponse {
    if (this.#state === 'open' || this.#state === 'shut')
      return Reflect.apply(this.#own.writeHead, this.#response, args) as ServerResponse;
    if (!this.#isEnded) readHead(this.#response, args);
    return this.#response;
  }

  flushHeaders(): void {
    if (this.#state === 'open') this.#own.flushHeaders.call(this.#response);
  }

  #keep([chunk, encoding]: readonly unknown[]): void {
    const text = (): Buffer => Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
    const bytes = typeof chunk === 'string' ? text() : chunk instanceof Uint8Array ? Buffer.from(chunk) : null;
    if (bytes === null) return;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
  }

  async #settle(): Promise<void> {
    this.#state = 'judged';
    const response = this.#response;
    // What the server's code does to the head after it ended the page is none of the page's.
    const head = headOf(response);
    const result = await this.#sale.finish({ status: head.status, bytes: this.#bytes });
    if (result.act === 'answer') {
      this.#state = 'shut';
      restoreHead(response, this.#before);
      response.writeHead = this.#own.writeHead; // what was put over it since then is about the page
      response.statusCode = result.answer.status;
      for (const [name, value] of Object.entries(result.answer.headers)) response.setHeader(name, value);
      this.#own.end.call(response, result.answer.body, 'utf8');
      return;
    }
    restoreHead(response, head);
    setHeaders(response, result.headers);
    this.#state = 'open';
    const page = Buffer.concat(this.#chunks.splice(0));
    if (this.#isEnded) this.#own.end.call(response, page, 'utf8');
    else if (this.#own.write.call(response, page, 'utf8')) response.emit('drain');
  }
}

function headOf(response: ServerResponse): Head {
  return { status: response.statusCode, message: response.statusMessage, headers: { ...response.getHeaders() } };
}

function restoreHead(response: ServerResponse, { status, message, headers }: Head): void {
  response.statusCode = status;
  if (response.statusMessage !== message) response.statusMessage = message;
  for (const name of response.getHeaderNames()) if (!(name in headers)) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && response.getHeader(name) !== value) response.setHeader(name, value);
  }
}

/** What `writeHead` says, said with `setHeader`. */
function readHead(response: ServerResponse, [status, ...rest]: readonly unknown[]): void {
  if (typeof status === 'number') response.statusCode = status;
  for (const one of rest) {
    if (typeof one === 'string') response.statusMessage = one;
    else if (Array.isArray(one)) for (let at = 0; at + 1 < one.length; at += 2) response.setHeader(String(one[at]), one[at + 1]);
    else for (const [name, value] of Object.entries(one ?? {})) if (value !== undefined) response.setHeader(name, value);
  }
}

function setHeaders(response: ServerResponse, headers: Headers): void {
  const changes = merged(headers, (name) => response.getHeader(name)?.toString());
  for (const [name, value] of Object.entries(changes)) response.setHeader(name, value);
}

/** A stream that waits for its chunk to be taken goes on. */
function callBack(args: readonly unknown[]): void {
  const callback = args.find((one) => typeof one === 'function') as (() => void) | undefined;
  if (callback) queueMicrotask(callback);
}
