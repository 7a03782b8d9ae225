/** What a request asks for, as the gate reads it and as the server behind it does: where they differ, a page that is for sale goes out free. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathnameOf, plainPath, slugOf } from '../../../packages/publisher/src/core/page.ts';
import { contentSettlement } from '../../../packages/publisher/src/express.ts';
import { contentSettlement as forFetch } from '../../../packages/publisher/src/fetch.ts';
import type { SiteConfig } from '../../../packages/publisher/src/knowing/siteConfig.ts';
import { openRoutes } from '../../../packages/publisher/src/routes.ts';
import { serviceThat } from '../../support/lying-service.ts';
import { UA } from '../../support/publisher-site.ts';

const settings = { serviceUrl: 'https://svc.example', apiKey: 'k', log: () => undefined, fetch: serviceThat({}) };
const pages = express().all('/articles/:slug{/:part}', (request, response) => void response.send(request.params.slug));
const open = createServer(pages);
const gated = createServer(express().use(contentSettlement(settings)).use(pages));
beforeAll(async () => {
  for (const server of [open, gated]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const server of [open, gated]) await new Promise((resolve) => server.close(resolve));
});

/** What Express answers to a request target, sent as it is. */
function answerOf(
  server: Server,
  target: string,
  { method = 'GET', agent = '' } = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('error', reject);
    socket.on('close', () => resolve({ status: Number(text.slice(9, 12)), body: text.split('\r\n\r\n')[1] ?? '' }));
    socket.write(
      `${method} ${target} HTTP/1.1\r\nHost: alpha.example\r\nUser-Agent: ${agent}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
  });
}

/** The page that Express sends for a request target; null for none. */
async function servedBy(target: string): Promise<string | null> {
  const { status, body } = await answerOf(open, target);
  return status === 200 ? body : null;
}

test.each([
  '/articles/trio',
  '/articles/trio?a=/x',
  '/articles/trio#x',
  '/articles/tri%6f',
  '/articles/trio;x',
  '/articles/trio/',
  '/articles/tr%C3%ADo%20%C2%A0%25',
  'http://alpha.example/articles/trio',
  'HTTPS://alpha.example/articles/trio',
  'http:///articles/trio',
  'http://h:99999/articles/trio',
  'ftp://h/articles/trio',
  'ws://h/articles/trio',
  'x://h/articles/trio',
])('a server sends the page of the target %s, and the gate asks for the price of that very page', async (target) => {
  const served = await servedBy(target);
  const pathname = pathnameOf(target);
  expect(pathname === null ? null : slugOf(['/articles/'], plainPath(pathname))).toBe(served);
  expect(served).not.toBeNull();
});

test.each(['/articles/trio/..', '/articles/trio/%2e%2E', '/articles/trio/.', 'ftp://h/articles/trio/..'])(
  'a server sends the page of the target %s, which the service would take for another one: agents do not get it',
  async (target) => {
    expect([await servedBy(target), pathnameOf(target)]).toEqual(['trio', null]);
    const config = { articlePrefixes: ['/articles/'], gateScope: { mode: 'prefixes' }, hosts: ['a'] } as unknown as SiteConfig;
    const asked = { method: 'GET', target, header: () => null, original: null };
    expect(openRoutes(undefined)(config, asked)).toEqual({ isScoped: true, address: null });
  },
);

test.each([
  '/articles/trio%0A',
  '/articles/trio%0d',
  '/%7Fx/trio',
  '/articles/trio%C2%85',
  '/art%C3%ADculos/42%0A',
  '/articles/%00',
  '/articles/trio%E2%80%A8',
])('the target %s hides a control character, which a page may read as none: agents do not get it', (target) => {
  expect(pathnameOf(target)).toBeNull();
  const config = { articlePrefixes: ['/articles/'], gateScope: { mode: 'prefixes' }, hosts: ['a'] } as unknown as SiteConfig;
  const asked = { method: 'GET', target, header: () => null, original: null };
  expect(openRoutes(undefined)(config, asked)).toEqual({ isScoped: true, address: null });
});

test.each(['/articles/tr..io', '/articles/..trio', '/articles/trio...', '/?next=/../x', '/articles/trio#/..'])(
  'dots in the target %s are part of a name',
  (target) => {
    expect(pathnameOf(target)).not.toBeNull();
  },
);

test('where a request leads is read by its host and the settings of now, however often it was read', () => {
  const settings = { articlePrefixes: ['/articles/'], gateScope: { mode: 'prefixes' }, hosts: ['a.example', 'b.example'] };
  const routes = openRoutes(undefined);
  const at = (config: object, host: string, target = '/articles/solo') =>
    routes(config as SiteConfig, { method: 'GET', target, header: () => host, original: null });
  for (let again = 0; again < 2; again++) {
    expect(at(settings, 'a.example').address?.resource).toBe('https://a.example/articles/solo');
    expect(at(settings, 'b.example').address?.resource).toBe('https://b.example/articles/solo');
    expect(at(settings, 'stranger.example').address?.resource).toBe('https://a.example/articles/solo');
    expect(at({ ...settings, articlePrefixes: ['/stories/'] }, 'a.example').isScoped).toBe(false);
    expect(at(settings, 'a.example', '/').isScoped).toBe(false);
    expect(at(settings, 'a.example', `/articles/${'x'.repeat(600)}`)).toMatchObject({ isScoped: true });
    expect(at(settings, 'a.example', `/articles/${'x'.repeat(2_100)}`)).toEqual({ isScoped: true, address: null });
  }
});

test.each([
  '/articles/trio/..',
  '/articles/trio/%2e%2E',
  '/articles/trio/%2e',
  '/articles/trio%0A',
  '/articles/a%00b',
  `/articles/trio/${'x'.repeat(2_100)}`,
])(
  'an agent is refused at the target %s, which names no page for certain, whatever its method; a person is served',
  async (target) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const { status, body } = await answerOf(gated, target, { method, agent: UA.agent });
      expect([method, status, body.includes('trio')]).toEqual([method, 400, false]);
    }
    expect((await answerOf(gated, target, { method: 'POST', agent: UA.person })).status).toBe(200);
  },
);

test.each(['/article%73/trio/%FF', '/%61rticles/trio%c0%ae', '/article%73/trio%'])(
  'the target %s is an article to a router that decodes what it can, and to the service none: agents do not get it',
  async (path) => {
    const site = forFetch(settings)(() => new Response('trio', { headers: { 'content-type': 'text/html' } }));
    for (const method of ['GET', 'POST']) {
      const asked = (agent: string) => new Request(`https://alpha.example${path}`, { method, headers: { 'user-agent': agent } });
      expect([(await site(asked(UA.agent))).status, (await site(asked(UA.person))).status]).toEqual([400, 200]);
    }
  },
);

test.each(['/files/caf%E9', '/%61bout/%FF', '/articles%FF'])(
  'the target %s, which no router takes for an article, is served',
  async (path) => {
    const site = forFetch(settings)(() => new Response('open', { headers: { 'content-type': 'text/html' } }));
    const asked = new Request(`https://alpha.example${path}`, { headers: { 'user-agent': UA.agent } });
    expect((await site(asked)).status).toBe(200);
  },
);
