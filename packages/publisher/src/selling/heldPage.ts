/**
 * Holds a page back that a Node server makes, until it is paid. The server's own code notices nothing: whatever it does to the response
 * (`write`, `end`, pipes, `sendFile`, middlewares that compress) comes here first.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Answer } from '../answers.ts';
import { isForCaches, merged, waitAnswer } from '../answers.ts';
import type { Look } from '../looking.ts';
import { LOOK_BYTES } from '../looking.ts';
import { OF_BODY } from './markdown.ts';
import type { Sale, SaleResult } from './sale.ts';
import { MAKING_MS } from './sale.ts';

type Ended = Extract<SaleResult, { act: 'page' }>['ended'];
type Headers = Readonly<Record<string, string>>;
interface Head {
  readonly status: number;
  readonly message: string;
  readonly headers: OutgoingHttpHeaders;
}

interface HoldOptions {
  /** Bytes of the page that are kept until it is paid. */
  readonly maxBytes: number;
  readonly onLarge: () => void;
  readonly makingMs?: number;
  /** False for the head of an answer that is let out as it comes, from there on. */
  readonly mayBePage?: Look['mayBePage'];
  /** Has the page made at another address, once, where the site has nothing at this one. */
  readonly again?: (() => void) | undefined;
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
export function holdPage(response: ServerResponse, sale: Sale, options: HoldOptions): void {
  const page = new HeldPage(response, sale, options);
  response.write = ((...args: unknown[]) => page.write(args)) as typeof response.write;
  response.end = ((...args: unknown[]) => page.end(args)) as typeof response.end;
  response.writeHead = ((...args: unknown[]) => page.writeHead(args)) as typeof response.writeHead;
  response.flushHeaders = () => page.flushHeaders();
}

/** As long as a timer of Node can wait: an answer that is looked at takes what time it takes. */
const NO_HURRY_MS = 2_147_483_647;

/** Looks at an answer as it begins: what is no page goes out as the server makes it, what may be one is held until that is known. */
export function lookAtAnswer(response: ServerResponse, { sale, mayBePage }: Look, again?: HoldOptions['again']): void {
  holdPage(response, sale, { maxBytes: LOOK_BYTES, onLarge: () => undefined, makingMs: NO_HURRY_MS, mayBePage, again });
}

class HeldPage {
  readonly #response: ServerResponse;
  readonly #sale: Sale;
  readonly #options: HoldOptions;
  readonly #late: ReturnType<typeof setTimeout>;
  readonly #own: Pick<ServerResponse, 'write' | 'end' | 'writeHead' | 'flushHeaders'>;
  readonly #before: Head;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  #again: HoldOptions['again'];
  /**
   * `judged`: the sale decides, what comes meanwhile is kept. `open`: what comes goes out. `shut`: nothing of it ever will. `missing`: the site has
   * nothing here, and nothing of this answer goes out, but of the next one.
   */
  #state: 'held' | 'judged' | 'open' | 'shut' | 'missing' = 'held';

  constructor(response: ServerResponse, sale: Sale, options: HoldOptions) {
    this.#response = response;
    this.#sale = sale;
    this.#options = options;
    const { write, end, writeHead, flushHeaders } = response;
    this.#own = { write, end, writeHead, flushHeaders };
    this.#before = headOf(response);
    this.#again = options.again;
    this.#late = setTimeout(() => this.#giveUp(undefined), options.makingMs ?? MAKING_MS);
    response.once('close', () => {
      clearTimeout(this.#late);
      this.#chunks.length = 0;
      if (this.#state !== 'open' && this.#state !== 'shut') sale.abandon();
      if (this.#state === 'held' || this.#state === 'missing') this.#state = 'shut';
    });
  }

  write(args: readonly unknown[]): boolean {
    this.#begin();
    if (this.#state === 'open') return Reflect.apply(this.#own.write, this.#response, args) as boolean;
    callBack(args);
    if (this.#isDropped() || this.#isEnded || !this.#keep(args)) return true;
    if (this.#state === 'held' && this.#bytes > this.#options.maxBytes) {
      this.#options.onLarge();
      void this.#settle();
    }
    return this.#state === 'held';
  }

  end(args: readonly unknown[]): ServerResponse {
    this.#begin();
    if (this.#state === 'open') return Reflect.apply(this.#own.end, this.#response, args) as ServerResponse;
    callBack(args);
    if (this.#state === 'missing') return this.#askAgain();
    if (this.#isDropped() || this.#isEnded || !this.#keep(args)) return this.#response;
    this.#isEnded = true;
    if (this.#state === 'held') void this.#settle();
    return this.#response;
  }

  writeHead(args: readonly unknown[]): ServerResponse {
    this.#begin(args);
    if (this.#isDropped()) return this.#response;
    if (this.#state === 'open') return Reflect.apply(this.#own.writeHead, this.#response, args) as ServerResponse;
    if (!this.#isEnded) readHead(this.#response, args);
    return this.#response;
  }

  flushHeaders(): void {
    this.#begin();
    if (this.#state === 'open') this.#own.flushHeaders.call(this.#response);
  }

  /** The answer begins: where it is no page there is nothing to hold. */
  #begin(args: readonly unknown[] = []): void {
    const { mayBePage } = this.#options;
    if (this.#state !== 'held' || this.#isEnded || (mayBePage === undefined && !this.#again)) return;
    const { status, type } = beginningOf(this.#response, args);
    if (this.#again && status === 404) {
      this.#state = 'missing';
      return;
    }
    this.#again = undefined;
    if (mayBePage === undefined) return;
    if (mayBePage(status, type)) return;
    this.#state = 'open';
    clearTimeout(this.#late);
    this.#sale.abandon();
    this.#letOut();
  }

  /** The answer that says there is nothing has ended: the next one is made, as if there had been none. */
  #askAgain(): ServerResponse {
    const again = this.#again;
    this.#again = undefined;
    restoreHead(this.#response, this.#before);
    this.#state = 'held';
    if (again) queueMicrotask(again);
    return this.#response;
  }

  /** True while what the server makes goes nowhere. */
  #isDropped(): boolean {
    return this.#state === 'shut' || this.#state === 'missing';
  }

  /** What was kept before the head was changed. */
  #letOut(): void {
    for (const chunk of this.#chunks.splice(0)) this.#own.write.call(this.#response, chunk, 'utf8');
  }

  /** False for a page that finds no room among all that are held: its buyer comes back. */
  #keep([chunk, ...rest]: readonly unknown[]): boolean {
    if (this.#response.destroyed) return false;
    const [encoding] = rest;
    const text = (): Buffer => Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
    const bytes = typeof chunk === 'string' ? text() : chunk instanceof Uint8Array ? ownBytes(chunk, rest) : null;
    if (bytes === null) return true;
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    const isLong = this.#state === 'held' && this.#bytes > this.#options.maxBytes;
    if (this.#sale.hold(bytes.length) || isLong) return true;
    this.#giveUp(1);
    return false;
  }

  /**
   * The page takes too long or too much, and what the server still makes of it goes nowhere. Nothing is settled; where the sale decides already,
   * because the server writes on though it was told to wait, its buyer comes back with the same payment.
   */
  #giveUp(retryAfter: number | undefined): void {
    if (this.#state === 'open' || this.#state === 'shut') return;
    this.#sale.abandon();
    this.#answer(waitAnswer(retryAfter));
  }

  async #settle(): Promise<void> {
    this.#state = 'judged';
    clearTimeout(this.#late);
    let ended: Ended;
    try {
      // What the server's code does to the head after it ended the page is none of the page's.
      const head = headOf(this.#response);
      const result = await this.#sale.finish({
        status: head.status,
        bytes: this.#bytes,
        type: head.headers['content-type']?.toString(),
        encoding: head.headers['content-encoding']?.toString(),
        chunks: this.#isEnded ? this.#chunks : undefined,
      });
      if (result.act === 'page') ended = result.ended;
      if (this.#response.destroyed || this.#isShut()) {
        this.#state = 'shut';
        ended?.('lost'); // paid, and its reader has gone meanwhile
      } else if (result.act === 'answer') this.#answer(result.answer);
      else {
        this.#hearEnd(ended);
        this.#open(head, result.headers, 'body' in result ? result.body : undefined);
      }
    } catch {
      ended?.('lost');
      this.#breakOff();
    }
  }

  /** `finish`: the connection has taken all of it. What it does with that, and what a proxy makes of it, nobody hears. */
  #hearEnd(ended: Ended): void {
    if (!ended) return;
    this.#response.once('finish', () => ended('delivered'));
    this.#response.once('close', () => ended('lost'));
  }

  /** Asked where the compiler would hold the state for the one it was before the sale decided. */
  #isShut(): boolean {
    return this.#state === 'shut';
  }

  #open(head: Head, headers: Headers, body?: Uint8Array): void {
    const response = this.#response;
    restoreHead(response, head);
    if (body) for (const name of OF_BODY) response.removeHeader(name);
    setHeaders(response, headers);
    // A whole page goes out with its length, and beside that this name makes it unreadable.
    if (this.#isEnded) response.removeHeader('transfer-encoding');
    this.#state = 'open';
    const kept = this.#chunks.splice(0);
    const chunks = body ? [body] : kept;
    const page = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    if (this.#isEnded) this.#own.end.call(response, page, 'utf8');
    else if (this.#own.write.call(response, page, 'utf8')) response.emit('drain');
  }

  #answer({ status, headers, body }: Answer): void {
    const response = this.#response;
    this.#state = 'shut';
    clearTimeout(this.#late);
    this.#chunks.length = 0;
    restoreHead(response, this.#before);
    response.writeHead = this.#own.writeHead; // what was put over it since then is about the page
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    this.#own.end.call(response, body, 'utf8');
    deafen(response);
  }

  /** An answer that cannot be sent as it stands: it may have been paid, so there is no offer, and never half a page. */
  #breakOff(): void {
    try {
      if (this.#response.headersSent) this.#response.destroy();
      else this.#answer(waitAnswer(undefined));
    } catch {
      this.#response.destroy();
    }
  }
}

/** A server that goes on with a page after its answer was sent gets no error for it: in a callback that would end the process. */
function deafen(response: ServerResponse): void {
  for (const name of ['setHeader', 'appendHeader', 'removeHeader', 'writeHead'] as const) {
    const own = response[name] as (...args: unknown[]) => unknown;
    const quiet = (...args: unknown[]): unknown => (response.headersSent ? response : Reflect.apply(own, response, args));
    Object.assign(response, { [name]: quiet });
  }
}

/** A chunk whose writer hears when it was taken may be written over then; any other stays as it is, as Node's own responses have it. */
function ownBytes(chunk: Uint8Array, rest: readonly unknown[]): Buffer {
  const isCalledBack = rest.some((one) => typeof one === 'function');
  return isCalledBack ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
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

/** Status and type that an answer will have; `args`: those of `writeHead`. */
function beginningOf(
  response: ServerResponse,
  [status, ...rest]: readonly unknown[],
): { readonly status: number; readonly type: string } {
  let type = response.getHeader('content-type')?.toString() ?? '';
  for (const one of rest) {
    const pairs = Array.isArray(one)
      ? one.flatMap((name, at) => (at % 2 === 0 ? [[name, one[at + 1]]] : []))
      : Object.entries(typeof one === 'object' ? (one ?? {}) : {});
    for (const [name, value] of pairs) if (String(name).toLowerCase() === 'content-type') type = String(value);
  }
  return { status: typeof status === 'number' ? status : response.statusCode, type };
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
  for (const name of response.getHeaderNames()) if (isForCaches(name)) response.removeHeader(name);
  const changes = merged(headers, (name) => response.getHeader(name)?.toString());
  for (const [name, value] of Object.entries(changes)) response.setHeader(name, value);
}

/** A stream that waits for its chunk to be taken goes on. */
function callBack(args: readonly unknown[]): void {
  const callback = args.find((one) => typeof one === 'function') as (() => void) | undefined;
  if (callback) queueMicrotask(callback);
}
