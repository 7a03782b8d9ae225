/** Has a page made as a web-standard answer, and sells it: read to its end before money moves, or to `maxPageBytes`. */
import type { Answer } from '../answers.ts';
import { isForCaches, isHopByHop, merged, waitAnswer } from '../answers.ts';
import type { Outcome } from '../client.ts';
import type { Gate, Ruling } from '../gate.ts';
import type { SiteRequest } from '../request.ts';
import { PARTIAL } from '../request.ts';
import { makeInTime } from './making.ts';
import { OF_BODY } from './markdown.ts';
import type { Sale } from './sale.ts';

/** Does what the gate says, with a handler that makes the page. */
export async function follow(
  gate: Pick<Gate<Request>, 'maxPageBytes' | 'onLarge'>,
  ruling: Exclude<Ruling, { act: 'look' }>,
  request: Request,
  page: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  if (ruling.act === 'answer') return responseOf(ruling.answer);
  const make = orArticle(page, ruling.article);
  if (ruling.act === 'sell')
    return sellResponse(ruling.sale, () => make(wholeOf(request)), {
      maxBytes: gate.maxPageBytes,
      onLarge: gate.onLarge,
      signal: request.signal,
    });
  if (!ruling.headers) return make(request);
  const made = await make(wholeOf(request));
  return withHeaders(made, ruling.headers, made.body);
}

/** What the gate reads of a request; `peer` says the address at the other end, where the platform knows it. */
export function seenOf(request: Request, peer?: () => string | undefined): SiteRequest<Request> {
  const { pathname, search, host } = new URL(request.url);
  const header = (name: string): string | null => request.headers.get(name) ?? (name === 'host' ? host : null);
  return { method: request.method, target: pathname + search, header, original: request, ...(peer ? { peer } : {}) };
}

/** An answer of the gate's own. */
export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body === '' ? null : body, { status, headers });
}

/** The request for all of the page, whatever the reader holds already. */
export function wholeOf(request: Request): Request {
  if (!PARTIAL.some((name) => request.headers.has(name))) return request;
  const headers = new Headers(request.headers);
  for (const name of PARTIAL) headers.delete(name);
  return new Request(request, { headers });
}

/** The page with headers added to its own, and without those of a connection that ended here (RFC 9110 §7.6.1). */
function withHeaders(page: Response, ours: Readonly<Record<string, string>>, body: BodyInit | null): Response {
  const named = (page.headers.get('connection') ?? '').toLowerCase().split(/[\s,]+/);
  const isDropped = (name: string): boolean => isForCaches(name) || isHopByHop(name) || named.includes(name);
  const headers = new Headers([...page.headers].filter(([name]) => !isDropped(name)));
  for (const [name, value] of Object.entries(merged(ours, (one) => headers.get(one)))) headers.set(name, value);
  return new Response(body, { status: page.status, statusText: page.statusText, headers });
}

/**
 * Makes the page, settles, and gives what the buyer gets. Throws what making the page throws, and then nothing is settled; nor is it when the buyer
 * leaves or the page is not made in time.
 */
async function sellResponse(
  sale: Sale,
  make: () => Response | Promise<Response>,
  options: { readonly maxBytes: number; readonly onLarge: () => void; readonly signal: AbortSignal },
): Promise<Response> {
  try {
    const made = await makeInTime(make, { sale, ...options });
    if (!made) return responseOf(waitAnswer(1));
    const { page, chunks, bytes, rest } = made;
    if (rest) options.onLarge();
    const forget = (): void => {
      chunks.length = 0; // nobody waits for it: what remains is to hear what became of the money
      sale.abandon();
    };
    options.signal.addEventListener('abort', forget, { once: true });
    const type = page.headers.get('content-type') ?? undefined;
    const encoding = page.headers.get('content-encoding') ?? undefined;
    const result = await sale.finish({ status: page.status, bytes, type, encoding, chunks: rest ? undefined : chunks });
    const ended = result.act === 'page' ? result.ended : undefined;
    options.signal.removeEventListener('abort', forget);
    if (result.act === 'answer' || options.signal.aborted) {
      // Not waited for: Next reads twice what it fetches, and ends one reading when the other ends.
      void rest?.cancel().catch(() => undefined);
      ended?.('lost'); // where it was paid
      return responseOf(result.act === 'answer' ? result.answer : waitAnswer(1));
    }
    if ('body' in result && result.body) {
      return withHeaders(withoutBody(page), result.headers, ended ? streamOf([result.body], null, ended) : result.body);
    }
    return withHeaders(page, result.headers, page.body === null ? null : streamOf(chunks, rest, ended));
  } finally {
    sale.abandon();
  }
}

/** The head of a page of which another text goes out. */
function withoutBody({ status, statusText, headers: own }: Response): Response {
  const headers = new Headers(own);
  for (const name of OF_BODY) headers.delete(name);
  return new Response(null, { status, statusText, headers });
}

/**
 * Makes a page, and where the site has nothing at the address of its Markdown, the page that it would be the Markdown of. `article`: the path of that;
 * undefined: the address is no such one.
 */
export function orArticle(
  make: (request: Request) => Response | Promise<Response>,
  article: string | undefined,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const page = await make(request);
    if (article === undefined || page.status !== 404) return page;
    await page.body?.cancel().catch(() => undefined);
    return make(new Request(new URL(article, request.url), request));
  };
}

/** What was read already, and then the rest as it comes; `ended` hears whether the server took all of it, or gave it up. */
function streamOf(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  rest: ReadableStreamDefaultReader<Uint8Array> | null,
  ended?: (outcome: Outcome) => void,
): BodyInit {
  if (rest === null && !ended) return new Blob([...chunks]);
  const read = [...chunks];
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const next = read.shift() ?? (rest ? (await rest.read()).value : undefined);
    if (next !== undefined) return controller.enqueue(next);
    controller.close();
    ended?.('delivered');
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        pull(controller).catch((error: unknown) => {
          ended?.('lost');
          throw error;
        }),
      cancel: async (reason) => {
        ended?.('lost');
        await rest?.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
