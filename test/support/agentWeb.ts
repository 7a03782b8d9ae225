/** The web as the service's safe client sees it in tests: sites below `sandbox.example`, each with the publisher's package in front of its pages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import express from 'express';
import { contentSettlement } from '../../packages/publisher/src/express.ts';
import type { GatedSite } from './gated-site.ts';
import { serveSite } from './gated-site.ts';
import type { TestSite } from './service.ts';

type App = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Sites by their host; a request says by `Host` which it means. */
export interface AgentWeb extends GatedSite {
  /** What answers for a host from now on. */
  put(host: string, app: App): void;
}

/** Starts the web; its `url` is what OUTBOUND_SANDBOX_WEB is set to. */
export async function openAgentWeb(): Promise<AgentWeb> {
  const apps = new Map<string, App>();
  const site = await serveSite((request, response) => {
    const app = apps.get(request.headers.host ?? '');
    return app ? app(request, response) : response.writeHead(404).end('no such site');
  });
  return { ...site, put: (host, app) => void apps.set(host, app) };
}

/** A site that sells its pages below `/articles/` through the gate; `pages` answers what is not the ordinary page of a slug. */
export function gatedPages(
  service: { readonly baseUrl: string },
  site: TestSite,
  pages: RequestHandler = (_, __, next) => next(),
) {
  const app = express().disable('x-powered-by');
  const origin = `https://${site.host}`;
  app.use(contentSettlement({ serviceUrl: service.baseUrl, apiKey: site.key, origin, log: () => undefined }));
  app.use(pages);
  app.get('/articles/:slug', ({ params: { slug } }, response) => void response.send(articleOf(slug)));
  return app;
}

/** The page of a slug. */
export function articleOf(slug: string): string {
  return `<!doctype html><html><head><title>${slug}</title></head><body><nav>Menu</nav><article><h1>${slug}</h1><p>The whole article ${slug}.</p></article></body></html>`;
}
