/** Where a site has no Markdown of an article, who can make the article in its place, and which one; and apps that read paths as nobody else does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import express from 'express';
import { expect, test } from 'vitest';
import { contentSettlement as forExpress } from '../../../packages/publisher/src/express.ts';
import { contentSettlement as forFastify } from '../../../packages/publisher/src/fastify.ts';
import { contentSettlement as forKit } from '../../../packages/publisher/src/sveltekit.ts';
import { CONFIG, QUOTE, serviceThat, told } from '../../support/lying-service.ts';
import { UA } from '../../support/publisher-site.ts';

const settings = (prefix: string) => ({
  serviceUrl: 'https://svc.example',
  apiKey: 'k',
  log: () => undefined,
  fetch: serviceThat({
    'enforce-config': () =>
      told({ ...CONFIG, enforcement: { ...CONFIG.enforcement, articlePrefixes: [prefix], forms: ['.md'] } }),
    quote: () => told({ ...QUOTE, slug: 'about', resource: `https://alpha.example${prefix}about` }),
  }),
});
const BUYS = { 'user-agent': UA.agent, 'x-payment': 'junk' };

/** Pages `/articles/about` and, another one, `/about`; `first`: what comes before them. */
function pagesAfter(first: (app: Express) => void): Express {
  const app = express();
  first(app);
  app.get('/articles/about', ({ baseUrl }, response) => void response.send(`<p>the article${baseUrl}</p>`));
  return app.get('/about', (_request, response) => void response.send('<p>OTHER PAGE</p>'));
}

test.each([
  ['on the app', '/articles/', pagesAfter((app) => app.use(forExpress(settings('/articles/')))), ''],
  ['at a path', '/articles/', pagesAfter((app) => app.use('/articles', forExpress(settings('/articles/')))), ''],
  [
    'in a router at a path',
    '/articles/',
    pagesAfter((app) => app.use('/articles', express.Router().use(forExpress(settings('/articles/'))))),
    '',
  ],
  [
    'in an app in an app',
    '/sub/articles/',
    express().use(
      '/sub',
      pagesAfter((app) => app.use(forExpress(settings('/sub/articles/')))),
    ),
    '/sub',
  ],
  [
    'at a path of an app in an app',
    '/sub/articles/',
    express().use(
      '/sub',
      pagesAfter((app) => app.use('/articles', forExpress(settings('/sub/articles/')))),
    ),
    '/sub',
  ],
] as const)('a gate of Express %s sells the article itself where its Markdown is missing', async (_name, prefix, app, base) => {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}about.md`;
    const sold = await fetch(url, { headers: BUYS });
    expect([sold.status, sold.headers.get('x-licence'), (await sold.text()).trim()]).toEqual([
      200,
      'a.b.c',
      `the article${base}`,
    ]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('SvelteKit, which has chosen the route already, is not asked twice for a page that it does not have', async () => {
  let asked = 0;
  const url = new URL('https://alpha.example/articles/about.md');
  const event = { request: new Request(url, { headers: BUYS }), url, isDataRequest: false };
  const resolve = () => {
    asked += 1;
    return new Response('no such page', { status: 404 });
  };
  const answer = await forKit(settings('/articles/'))({ event, resolve });
  expect([answer.status, await answer.text(), answer.headers.has('x-licence'), asked]).toEqual([404, 'no such page', false, 1]);
});

test.each([
  [{ version: '4.29.1', initialConfig: {} }, true],
  [{ version: '4.29.1', initialConfig: { useSemicolonDelimiter: false } }, false],
  [{ version: '5.6.0', initialConfig: { useSemicolonDelimiter: true } }, true],
  [{ version: '5.6.0', initialConfig: {} }, false],
])('a Fastify app %j that takes ";" for the beginning of the query does not start: %s', (app, isRefused) => {
  let error: Error | undefined;
  const hooks: string[] = [];
  const register = forFastify(settings('/articles/'));
  register({ ...app, addHook: (name: string) => hooks.push(name) }, {}, (why) => (error = why));
  expect([error instanceof TypeError, hooks.length]).toEqual(isRefused ? [true, 0] : [false, 2]);
});
