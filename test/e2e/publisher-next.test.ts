/** A proxy of Next in front of its own server, played as Next plays it: what the proxy leaves undefined goes on to the page. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentSettlement } from '../../packages/publisher/src/next.ts';
import { UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { base64Of, payloadFor, quoteOf } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
let server: Server;
let url: string;
/** Requests that reached a page, with their headers. */
const reached: Headers[] = [];
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  const proxy = contentSettlement({ serviceUrl: service.baseUrl, apiKey: site.key, log: () => undefined });
  const route = proxy.route((request: Request) => new Response(`route ${new URL(request.url).pathname}`));
  server = createServer(async (incoming, response) => {
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const request = new Request(`${url}${incoming.url}`, { method: incoming.method ?? 'GET', headers });
    const answer = incoming.url?.endsWith('?route') ? await route(request) : ((await proxy(request)) ?? pageOf(request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await service?.stop();
});

function pageOf(request: Request): Response {
  reached.push(request.headers);
  const { pathname, searchParams } = new URL(request.url);
  const isBroken = searchParams.has('broken');
  return new Response(isBroken ? 'no' : `page ${pathname}`, {
    status: isBroken ? 500 : 200,
    headers: { 'cache-control': 's-maxage=60' },
  });
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
async function payment() {
  const account = await service.payer(5_000n);
  return { account, header: base64Of(await payloadFor(service, await quoteOf(service, site, 'solo'), account)) };
}

test.each(['/articles/solo', '/articles/solo?route'])(
  '%s: people read, agents get the offer, and who pays gets the page and a licence',
  async (path) => {
    expect((await get(path, { 'user-agent': UA.person })).status).toBe(200);
    expect((await get(path, { 'user-agent': UA.agent })).status).toBe(402);
    const { account, header } = await payment();
    const bought = await get(path, { 'user-agent': UA.agent, 'payment-signature': header });
    expect([bought.status, await bought.text()]).toEqual([200, expect.stringMatching(/^(page|route) \/articles\/solo$/)]);
    expect(bought.headers.get('cache-control')).toBe('private, no-store');
    expect(await balancesOf(service, [account.address])).toEqual([4_000n]);
    const again = await get(path, { 'user-agent': UA.agent, authorization: `License ${bought.headers.get('x-licence')}` });
    expect([again.status, again.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  },
);

test('a page that Next cannot make is not charged: the proxy asks for it before money moves, and shows it no payment', async () => {
  const { account, header } = await payment();
  reached.length = 0;
  const broken = await get('/articles/solo?broken', { 'user-agent': UA.agent, 'x-payment': header });
  expect([broken.status, await broken.text()]).toEqual([500, 'no']);
  expect(await balancesOf(service, [account.address])).toEqual([5_000n]);
  expect(reached.map((headers) => [headers.get('x-payment'), headers.get('authorization')])).toEqual([[null, null]]);
});

test('what lets the site ask itself opens nothing for others: no invented one, no old one, none of another page', async () => {
  const { header } = await payment();
  reached.length = 0;
  await get('/articles/solo', { 'user-agent': UA.agent, 'x-payment': header });
  const pass = reached[0]?.get('x-svc-pass') ?? '';
  expect(pass).toMatch(/^\d{13}\./);
  const [untilMs = '', signed = ''] = pass.split(/\.(.*)/);
  for (const [path, given] of [
    ['/articles/trio', pass],
    ['/articles/solo?x', pass],
    ['/articles/solo', `${Number(untilMs) + 60_000}.${signed}`],
    ['/articles/solo', `${Number(untilMs) - 60_000}.${signed}`],
    ['/articles/solo', `9999999999999.${'A'.repeat(43)}=`],
    ['/articles/solo', 'yes'],
  ] as const) {
    expect([path, given, (await get(path, { 'user-agent': UA.agent, 'x-svc-pass': given })).status]).toEqual([path, given, 402]);
  }
});
