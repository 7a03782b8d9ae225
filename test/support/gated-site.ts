/** A publisher's site with a gate in front, and ways in which such sites are broken. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express, RequestHandler } from 'express';
import express from 'express';

/** A site that listens on 127.0.0.1. */
export interface GatedSite {
  readonly url: string;
  readonly requests: { readonly method: string; readonly path: string; readonly userAgent: string }[];
  close(): Promise<void>;
}

/** What may be different from a site that is well. */
export interface SiteOptions {
  /** Stands in front of everything, as a proxy, a CDN or a careless route does. */
  readonly inFront?: RequestHandler;
  /** Articles by slug; any other slug is 404. */
  readonly articles?: readonly string[];
  readonly robots?: string | null;
  readonly sitemap?: readonly string[] | null;
  /** Whatever has no route of its own. */
  readonly catchAll?: RequestHandler;
}

const ARTICLES = ['solo', 'trio', 'duo', 'free'];

/** The app of a small magazine behind a gate. */
export function magazine(host: string, gate: RequestHandler, options: SiteOptions = {}): Express {
  const { articles = ARTICLES, robots = 'User-agent: *\nDisallow: /admin/\n', sitemap = articles } = options;
  const app = express().disable('x-powered-by').enable('case sensitive routing');
  if (options.inFront) app.use(options.inFront);
  app.use(gate);
  if (robots !== null) app.get('/robots.txt', (_request, response) => void response.type('text/plain').send(robots));
  if (sitemap !== null) {
    const entries = sitemap.map((slug) => `<url><loc>https://${host}/articles/${slug}</loc></url>`).join('');
    app.get('/sitemap.xml', (_request, response) => void response.type('application/xml').send(`<urlset>${entries}</urlset>`));
  }
  app.get('/articles/:slug', (request, response, next) => {
    const { slug } = request.params;
    if (!articles.includes(slug)) return next();
    return response.send(pageOf(slug));
  });
  if (options.catchAll) app.use(options.catchAll);
  return app;
}

/** The page of an article. */
export function pageOf(slug: string): string {
  return `<!doctype html><title>${slug}</title><p>The whole article ${slug}.</p>`;
}

/** Serves an app on a free port. */
export async function serveSite(app: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<GatedSite> {
  const requests: GatedSite['requests'] = [];
  const server: Server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, userAgent: headers['user-agent'] ?? '' });
    app(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A CDN that keeps whatever came first under an address, for everybody, whatever the answer says. */
export function keepsEverything(keeps: (status: number) => boolean): RequestHandler {
  const kept = new Map<string, { status: number; headers: Record<string, string>; body: Buffer }>();
  return (request, response, next) => {
    const known = request.method === 'GET' ? kept.get(request.originalUrl) : undefined;
    if (known) {
      response.status(known.status).set({ ...known.headers, age: '7', 'x-cache': 'HIT' });
      response.end(known.body);
      return;
    }
    response.setHeader('x-cache', 'MISS');
    const end = response.end.bind(response) as (chunk?: unknown, ...rest: unknown[]) => typeof response;
    response.end = ((chunk?: unknown, ...rest: unknown[]) => {
      const body = Buffer.isBuffer(chunk) ? chunk : Buffer.from(typeof chunk === 'string' ? chunk : '');
      const headers = Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
      if (request.method === 'GET' && keeps(response.statusCode)) {
        kept.set(request.originalUrl, { status: response.statusCode, headers, body });
      }
      return end(chunk, ...rest);
    }) as typeof response.end;
    next();
  };
}
