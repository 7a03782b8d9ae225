/** A gate over the whole site sells its pages and nothing else: whatever keeps a site alive is answered as if there were no gate. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gzip } from 'node:zlib';
import { createGzip } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { setEnforcement } from '../../modules/gate/use/enforcement.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { contentSettlement } from '../../packages/publisher/src/express.ts';
import { contentSettlement as forFetch } from '../../packages/publisher/src/fetch.ts';
import { WALLETS } from '../support/api.ts';
import { ASSETS, CURL, FORMS, GPT, NO_WAYS, PASSES, TEXT } from '../support/aside-rows.ts';
import { UA } from '../support/publisher-site.ts';
import { ruleOf } from '../support/rules/arbitrary.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
let server: Server;
let url: string;
/** How often the site made each page. */
const made: string[] = [];
let fetchSite: (request: Request) => Promise<Response>;

/** Puts itself over what is written, as middlewares that compress do. */
function compressing(_request: express.Request, response: express.Response, next: () => void): void {
  const own = { write: response.write, end: response.end };
  let gzip: Gzip | null = null;
  const begin = (): Gzip => {
    gzip ??= createGzip()
      .on('data', (chunk: Buffer) => own.write.call(response, chunk, 'utf8'))
      .on('end', () => own.end.call(response, undefined, 'utf8'));
    response.setHeader('content-encoding', 'gzip');
    response.removeHeader('content-length');
    return gzip;
  };
  response.write = ((chunk: string) =>
    response.headersSent ? own.write.call(response, chunk, 'utf8') : begin().write(chunk)) as typeof response.write;
  response.end = ((chunk: string | Buffer = '') => {
    if (gzip === null && chunk.length < 1_024) return own.end.call(response, chunk, 'utf8');
    begin().end(chunk);
    return response;
  }) as typeof response.end;
  next();
}

beforeAll(async () => {
  service = await useTestService();
  site = await service.site({
    pricing: { articlePrefixes: ['/'], priceUsdc: '0.001', defaultPayee: { authorId: 'house', wallet: WALLETS[0] as string } },
  });
  const settings = { ...DEFAULT_ENFORCEMENT, gateScope: { mode: 'site', excludePrefixes: [] } } as const;
  await setEnforcement({ database: service.database }, { tenantId: site.tenantId, settings });
  const options = { serviceUrl: service.baseUrl, apiKey: site.key, log: () => undefined };
  const app = express().use(contentSettlement(options)).use(compressing);
  const page = (request: express.Request, response: express.Response): void => {
    made.push(request.path);
    response.send(TEXT);
  };
  app.get('/healthz', (_request, response) => void response.send('ok'));
  // What frameworks tell of each part, as JSON, is longer than an acknowledgement.
  app.get('/health', (_request, response) => void response.json({ status: 'UP', components: { database: 'x'.repeat(600) } }));
  app.get('/shop/ping', (_request, response) => void response.json({ status: 'ok' }));
  app.post('/api/hook', (_request, response) => void response.send('received'));
  app.post('/api/hook.json', (_request, response) => void response.json({ received: true }));
  app.get('/feed.xml', (_request, response) => void response.type('application/rss+xml').send('<rss>all</rss>'));
  app.get('/news', (_request, response) => void response.type('application/atom+xml').send('<feed>all</feed>'));
  app.get('/ads.txt', (_request, response) => void response.type('text/plain').send('google.com, pub-1, DIRECT'));
  app.get('/favicon.ico', (_request, response) => void response.type('image/x-icon').send(Buffer.alloc(900)));
  app.get(['/site.css', '/articles/style.css'], (_request, response) => void response.type('css').send('p{}'.repeat(500)));
  app.get('/sitemap_index.xml', (_request, response) => void response.type('application/xml').send('<sitemapindex/>'));
  app.get('/manifest.webmanifest', (_request, response) => void response.type('application/manifest+json').send('{}'));
  app.get('/articles/trio/photo.png', (_request, response) => void response.type('png').send(Buffer.alloc(3_000)));
  for (const [name, type] of Object.entries(ASSETS))
    app.get(`/articles/${name}`, (_request, response) => void response.type(type).send(Buffer.alloc(900, 'x')));
  app.post('/articles/trio/comments', (_request, response) => void response.status(201).json({ id: 1 }));
  app.get('/articles/old', (_request, response) => void response.redirect(301, '/articles/trio'));
  app.get('/api/items', (_request, response) => void response.json({ items: [] }));
  app.get('/api/events', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    response.write('data: 1\n\n');
    setTimeout(() => response.end('data: 2\n\n'), 50);
  });
  app.post('/api/upload', (request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => response.json({ bytes }));
  });
  // One article in the forms that its readers ask for.
  app.get('/articles/forms/:slug', (request, response) => {
    if (request.headers.range?.includes(','))
      return void response.status(206).type('multipart/byteranges; boundary=B').send(`--B\r\n\r\n${TEXT}\r\n--B--`);
    if (request.query['format'] === 'json' || request.headers.accept === 'application/json') return void response.json({ TEXT });
    const types = ['application/octet-stream', 'text/csv', 'application/xml', 'text/x-component', 'application/msword'];
    return void response.type(types.find((type) => type === request.headers.accept) ?? 'text/html').send(TEXT);
  });
  app.get('/articles/empty', (_request, response) => void response.type('html').end());
  app.get('/articles/:slug.json', (request, response) => void response.json({ slug: request.params.slug, text: TEXT }));
  app.all(['/ping', '/articles/:slug', '/articles/:slug/:file'], (request, response) =>
    request.params['slug'] === 'missing' ? void response.status(404).send(TEXT) : page(request, response),
  );
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fetchSite = forFetch(options)(async ({ method, url: at }) => {
    const { pathname } = new URL(at);
    made.push(`fetch ${pathname}`);
    if (pathname === '/gone') return new Response(TEXT, { status: 404, headers: { 'content-type': 'text/html' } });
    if (pathname === '/site.css') return new Response('p{}', { headers: { 'content-type': 'text/css', etag: '"1"' } });
    return new Response(method === 'HEAD' ? null : TEXT, { headers: { 'content-type': 'text/html' } });
  });
  await ask('GET', '/healthz', GPT); // the settings are there
  await fetchSite(new Request(`https://${site.host}/site.css`, { headers: { 'user-agent': GPT } }));
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await service?.stop();
});

async function ask(method: string, path: string, userAgent: string, body?: string) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'user-agent': userAgent, host: site.host },
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

test.each(PASSES)('%s %s by %s passes', async (method, path, userAgent, status) => {
  const answer = await ask(method, path, userAgent, method === 'POST' ? '{}' : undefined);
  expect([answer.status, answer.headers.get('payment-required')]).toEqual([status, null]);
});

test('a stream and the body of a request go through as they come', async () => {
  const response = await fetch(`${url}/api/events`, { headers: { 'user-agent': CURL } });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe('data: 1\n\n');
  expect((await ask('POST', '/api/upload', CURL, 'x'.repeat(300_000))).text).toBe('{"bytes":300000}');
});

test.each(NO_WAYS)('%s %s is no way round the price of a page', async (method, path) => {
  for (let again = 0; again < 2; again++) {
    const { status, text, headers } = await ask(method, path, GPT);
    expect([status, text.includes('The whole text'), headers.has('payment-required')]).toEqual([402, false, true]);
    if (!['GET', 'HEAD'].includes(method)) expect(JSON.parse(text).error).toBe('invalid_parameter: pay with GET');
  }
});

test.each(FORMS)('a page that nobody has asked for yet is not had as %s with %o', async (path, headers) => {
  const response = await fetch(`${url}${path}`, { headers: { 'user-agent': GPT, host: site.host, ...headers } });
  expect([response.status, (await response.text()).includes('The whole text')]).toEqual([402, false]);
});

test('a page is made once to see that it is one, and not again for those who do not pay', async () => {
  made.length = 0;
  for (let time = 0; time < 5; time++) expect((await ask('GET', '/articles/once', GPT)).status).toBe(402);
  expect(made).toEqual(['/articles/once']);
  expect((await ask('GET', '/articles/once', UA.person)).text).toBe(TEXT);
});

test('a handler of web-standard requests is looked at, too', async () => {
  const get = (path: string, method = 'GET') =>
    fetchSite(new Request(`https://${site.host}${path}`, { method, headers: { 'user-agent': GPT } }));
  const css = await get('/site.css');
  expect([css.status, css.headers.get('etag'), await css.text()]).toEqual([200, '"1"', 'p{}']);
  expect((await get('/gone')).status).toBe(404);
  for (const [method, path] of [
    ['GET', '/f1'],
    ['GET', '/f1.png'],
    ['POST', '/f2'],
    ['HEAD', '/f3'],
  ] as const) {
    const answer = await get(path, method);
    expect([method, path, answer.status, (await answer.text()).includes('The whole')]).toEqual([method, path, 402, false]);
  }
  made.length = 0;
  expect([(await get('/f1')).status, made]).toEqual([402, []]);
});

test('a page that its owner refuses to an agent is refused under the name of a file and after another method, too', async () => {
  const rules = [ruleOf({ id: 'kept', path: '/articles/kept*', effect: 'refuse' })];
  await setPricing({ database: service.database }, { tenantId: site.tenantId, pricing: { rules } });
  let at = 0;
  await expect.poll(async () => (await ask('GET', `/articles/kept-since-${at++}`, GPT)).status).toBe(403);
  for (const [method, path] of [
    ['GET', '/articles/kept'],
    ['GET', '/articles/kept.png'],
    ['GET', '/articles/kept-node.js'],
    ['POST', '/articles/kept-posted'],
  ] as const) {
    const { status, text } = await ask(method, path, GPT);
    expect([method, path, status, text.includes('The whole text')]).toEqual([method, path, 403, false]);
  }
});
