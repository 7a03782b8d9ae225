/** Sites that sell through the publisher's package: Express, and a fetch handler behind a plain Node server. */
import type { IncomingMessage, Server } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { contentSettlement as forExpress } from '../../packages/publisher/src/express.ts';
import { contentSettlement as forFetch } from '../../packages/publisher/src/fetch.ts';
import type { PublisherDecision, PublisherOptions } from '../../packages/publisher/src/options.ts';
import type { PublisherFailure } from '../../packages/publisher/src/telling/failures.ts';

/** User-Agents as they come. */
export const UA = {
  person: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  google: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  agent: 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)',
};

/** What a payment comes in. */
const PAYMENT_HEADERS = ['payment-signature', 'x-payment'];

/** A running site. */
export interface PublisherSite {
  readonly url: string;
  /** Pages that were made, by their slugs. */
  readonly made: string[];
  readonly failures: PublisherFailure[];
  readonly decisions: PublisherDecision[];
  flush(): Promise<void>;
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Response>;
  /** Sends a request target as it stands: `fetch` would tidy it up. */
  raw(target: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Options = Omit<PublisherOptions<never>, 'classify' | 'kind' | 'address'> & {
  /** By what both servers' requests have. */
  readonly kind?: (request: { readonly url?: string | undefined }) => 'read' | 'citation';
};

/** What a site says to the package, with ears for what it says back. */
function heard(options: Options) {
  const failures: PublisherFailure[] = [];
  const decisions: PublisherDecision[] = [];
  const hooks = {
    onFailure: (failure: PublisherFailure) => void failures.push(failure),
    onDecision: (decision: PublisherDecision) => void decisions.push(decision),
    log: () => undefined,
  };
  return { failures, decisions, options: { ...hooks, ...options } };
}

/** The page of a slug; once somebody pays for them `broken` cannot be made, and `empty` has nothing in it. */
function pageOf(slug: string, isPaying: boolean): string {
  if (slug === 'broken' && isPaying) throw new Error('the page cannot be made');
  return slug === 'empty' && isPaying ? '' : `<p>${slug}</p>`;
}

/** Express in front of pages under `/articles/` (`pageOf`). */
export async function openExpressSite(options: Options, extend?: (app: express.Express) => void): Promise<PublisherSite> {
  const { failures, decisions, options: given } = heard(options);
  const made: string[] = [];
  const gate = forExpress(given);
  const app = express().use(gate);
  extend?.(app);
  app.get('/articles/:slug', (request, response) => {
    const { slug } = request.params;
    made.push(slug);
    response.send(
      pageOf(
        slug,
        PAYMENT_HEADERS.some((name) => name in request.headers),
      ),
    );
  });
  app.get('/', (_request, response) => void response.send('<p>home</p>'));
  app.use(
    (_error: unknown, _request: unknown, response: express.Response, _next: unknown) => void response.status(500).send('no'),
  );
  return { ...(await listen(createServer(app))), made, failures, decisions, flush: gate.flush };
}

/** The same pages as a fetch handler. */
export async function openFetchSite(options: Options): Promise<PublisherSite> {
  const { failures, decisions, options: given } = heard(options);
  const made: string[] = [];
  const waiting: Promise<unknown>[] = [];
  const handler = forFetch(given)((request: Request, _environment: unknown, _context: object) => {
    const slug = /^\/articles\/([^/]+)$/.exec(new URL(request.url).pathname)?.[1];
    if (slug === undefined) return new Response('<p>home</p>', { headers: { 'content-type': 'text/html' } });
    made.push(slug);
    try {
      const page = pageOf(
        slug,
        PAYMENT_HEADERS.some((name) => request.headers.has(name)),
      );
      return new Response(page, { headers: { 'content-type': 'text/html' } });
    } catch {
      return new Response('no', { status: 500 });
    }
  });
  const context = { waitUntil: (work: Promise<unknown>) => void waiting.push(work) };
  const server = createServer(async (request, response) => {
    const answer = await handler(requestOf(request), {}, context);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  return { ...(await listen(server)), made, failures, decisions, flush: async () => void (await Promise.all(waiting)) };
}

function requestOf({ method = 'GET', url = '/', headers }: IncomingMessage): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  return new Request(`http://${headers.host}${url}`, { method, headers: given });
}

async function listen(server: Server): Promise<Pick<PublisherSite, 'url' | 'get' | 'raw' | 'close'>> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { ...callsTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), close };
}

/** How a site is asked, as tests do. */
export function callsTo(url: string): Pick<PublisherSite, 'url' | 'get' | 'raw'> {
  return {
    url,
    get: (path, headers = {}, method = 'GET') => fetch(`${url}${path}`, { method, headers, redirect: 'manual' }),
    raw: (path, headers = {}, method = 'GET') =>
      new Promise((resolve, reject) => {
        const asked = send(url, { path, headers, method }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          const all = () => ({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          });
          answer.on('end', () => resolve(all()));
        });
        asked.on('error', reject);
        asked.end();
      }),
  };
}
