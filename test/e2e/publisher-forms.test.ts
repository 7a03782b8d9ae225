/** A page has one price in all of its forms: a buyer, or a holder of its licence, gets each of them; nobody else gets any. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import express from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentSettlement } from '../../packages/publisher/src/express.ts';
import { contentSettlement as forFetch } from '../../packages/publisher/src/fetch.ts';
import { payFor } from '../support/buying.ts';
import { UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

const TEXT = 'The whole text of the trio, which costs something.';
const HTML = `<!doctype html><html lang="en"><head><title>Trio</title></head><body><nav><a href="/">Home</a></nav>
<main><h1>Trio</h1><p>${TEXT}</p><p>See <a href="/articles/solo">solo</a>.</p></main></body></html>`;

/** What the site answers by path: of its Markdown nothing, of all other forms its own. */
const PAGES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/articles/trio': ['text/html; charset=utf-8', HTML],
  '/articles/trio.txt': ['text/plain; charset=utf-8', TEXT],
  '/articles/trio.json': ['application/json', JSON.stringify({ text: TEXT })],
  '/articles/trio.html': ['text/html; charset=utf-8', HTML],
  '/articles/trio.htm': ['text/html; charset=utf-8', HTML],
  '/articles/trio/index.html': ['text/html; charset=utf-8', HTML],
  '/articles/trio/amp': ['text/html; charset=utf-8', HTML],
  '/articles/trio/print': ['text/html; charset=utf-8', HTML],
  '/articles/trio/feed': ['application/rss+xml', `<rss><item>${TEXT}</item></rss>`],
  '/articles/duo': ['text/html; charset=utf-8', HTML],
  '/articles/duo.md': ['text/markdown; charset=utf-8', `# The site's own\n\n${TEXT}\n`],
  '/articles/free': ['text/html; charset=utf-8', HTML],
  '/articles/free.txt': ['text/plain; charset=utf-8', TEXT],
};
const answerTo = (path: string) => PAGES[path.length > 1 ? path.replace(/\/$/, '') : path];

const MARKDOWN = { accept: 'text/markdown, text/html;q=0.9' };
const FORMS: readonly (readonly [name: string, path: string, headers: Readonly<Record<string, string>>])[] = [
  ['its own address', '/articles/trio', {}],
  ['a closing slash', '/articles/trio/', {}],
  ['.md', '/articles/trio.md', {}],
  ['.txt', '/articles/trio.txt', {}],
  ['.json', '/articles/trio.json', {}],
  ['.html', '/articles/trio.html', {}],
  ['/index.html', '/articles/trio/index.html', {}],
  ['/amp', '/articles/trio/amp', {}],
  ['/print', '/articles/trio/print', {}],
  ['/feed', '/articles/trio/feed', {}],
  ['a query', '/articles/trio?amp=1', {}],
  ['Accept: text/markdown', '/articles/trio', MARKDOWN],
];
const isMarkdown = (path: string, headers: object): boolean => path.endsWith('.md') || 'accept' in headers;

let service: TestService;
beforeAll(async () => {
  service = await useTestService();
});
afterAll(() => service?.stop());

type Options = Parameters<typeof contentSettlement>[0] & object;

const servers = {
  Express: (options: Options): Server => {
    const app = express().use(contentSettlement(options));
    app.use(({ path }, response, next) => {
      const page = answerTo(path);
      if (!page) return next();
      response.type(page[0]).send(page[1]);
    });
    return createServer(app);
  },
  'a fetch handler': ({ serviceUrl, apiKey }: Options): Server => {
    const handler = forFetch({ serviceUrl, apiKey, log: () => undefined })(({ url }: Request) => {
      const page = answerTo(new URL(url).pathname);
      return page ? new Response(page[1], { headers: { 'content-type': page[0] } }) : new Response('nothing', { status: 404 });
    });
    return createServer(async ({ url = '/', method = 'GET', headers }, response) => {
      const own = Object.entries(headers).filter((one): one is [string, string] => typeof one[1] === 'string');
      const answer = await handler(new Request(`http://${headers.host}${url}`, { method, headers: own }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
    });
  },
};

/** Pays what a 402 asks for, as a buyer of version 2 does. */
async function pay(offer: string, amount: bigint): Promise<string> {
  const { accepts, resource } = decodePaymentRequiredHeader(offer);
  const [first] = accepts;
  if (!first) throw new Error('the offer accepts nothing');
  const quote = { ...first, price: Number(first.amount), resource: resource?.url ?? '', legs: [] };
  return payFor(await service.payer(amount), quote as unknown as Parameters<typeof payFor>[1]);
}

describe.each(Object.entries(servers))('%s', (_name, open) => {
  let site: TestSite;
  let server: Server;
  let url: string;
  let licence: string;
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}${path}`, { headers: { 'user-agent': UA.agent, ...headers }, redirect: 'manual' });
  const offerOf = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await get(path, headers)).headers.get('payment-required') ?? '';

  beforeAll(async () => {
    site = await service.site();
    server = open({ serviceUrl: service.baseUrl, apiKey: site.key, log: () => undefined });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bought = await get('/articles/trio', { 'payment-signature': await pay(await offerOf('/articles/trio'), 1_000n) });
    licence = bought.headers.get('x-licence') ?? '';
    expect([bought.status, await bought.text()]).toEqual([200, HTML]);
  });
  afterAll(() => {
    server?.close();
    server?.closeAllConnections();
  });

  test.each(FORMS)('unpaid, %s is offered at the price of the page, and says nothing of it', async (_form, path, headers) => {
    const answer = await get(path, headers);
    expect([answer.status, (await answer.text()).includes(TEXT)]).toEqual([402, false]);
    expect(answer.headers.get('vary')).toMatch(/\bAccept\b/);
    const offer = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
    expect([offer.resource?.url, offer.accepts[0]?.amount]).toEqual([`https://${site.host}/articles/trio`, '1000']);
  });

  test.each(FORMS)('paid, %s is given once for the price of the page', async (_form, path, headers) => {
    const payment = await pay(await offerOf(path, headers), 5_000n);
    const { from } = JSON.parse(Buffer.from(payment, 'base64').toString()).payload.authorization;
    const answer = await get(path, { ...headers, 'payment-signature': payment });
    expect([answer.status, (await answer.text()).includes(TEXT)]).toEqual([200, true]);
    expect(answer.headers.get('content-type')).toMatch(isMarkdown(path, headers) ? /^text\/markdown\b/ : /./);
    // What was paid for in one form is held in all of them.
    const held = { authorization: `License ${answer.headers.get('x-licence')}` };
    expect((await get('/articles/trio/print', held)).status).toBe(200);
    expect(await balancesOf(service, [from])).toEqual([4_000n]);
  });

  test.each(FORMS)('a licence of the page opens %s', async (_form, path, headers) => {
    const answer = await get(path, { ...headers, authorization: `License ${licence}` });
    const text = await answer.text();
    expect([answer.status, text.includes(TEXT)]).toEqual([200, true]);
    if (!isMarkdown(path, headers)) return;
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(answer.headers.get('x-markdown-tokens')).toBe(String(Math.ceil(Buffer.byteLength(text) / 4)));
    expect(answer.headers.get('vary')).toMatch(/\bAccept\b/);
    expect(text).toContain('# Trio');
    expect(text).not.toMatch(/<p>|Home/);
    expect(text).toContain(`[solo](`);
  });

  test('the licence of another page opens no form of this one', async () => {
    const paid = await get('/articles/duo', { 'payment-signature': await pay(await offerOf('/articles/duo'), 1_000n) });
    const other = { authorization: `License ${paid.headers.get('x-licence')}` };
    for (const [, path, headers] of FORMS)
      expect([path, (await get(path, { ...headers, ...other })).status]).toEqual([path, 402]);
  });

  test('a site that has Markdown of its own gives that, and says how many tokens it has', async () => {
    const paid = await get('/articles/duo.md', { 'payment-signature': await pay(await offerOf('/articles/duo.md'), 1_000n) });
    const [, own] = PAGES['/articles/duo.md'] ?? [];
    expect([paid.status, await paid.text()]).toEqual([200, own]);
    expect(paid.headers.get('x-markdown-tokens')).toBe(String(Math.ceil((own?.length ?? 0) / 4)));
  });

  test('once a page was sold, its offers say about how many tokens it has', async () => {
    const first = (await get('/articles/trio', { ...MARKDOWN, authorization: `License ${licence}` })).headers;
    const offered = (await get('/articles/trio')).headers;
    expect(offered.get('x-markdown-tokens')).toBe(first.get('x-markdown-tokens'));
  });

  test('people read every form as if there were no gate, and a free page stays free in every form', async () => {
    for (const [, path] of FORMS) {
      const own = answerTo(new URL(path, url).pathname);
      const answer = await get(path, { 'user-agent': UA.person });
      expect([path, answer.status]).toEqual([path, own ? 200 : 404]);
      expect(answer.headers.get('x-markdown-tokens')).toBeNull();
    }
    const statuses = ['/articles/free', '/articles/free.txt', '/articles/free.md'].map(async (path) => (await get(path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  });
});
