/** What a request asks for, as the gate reads it and as the server behind it does: where they differ, a page that is for sale goes out free. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathnameOf, plainPath, slugOf } from '../../../packages/publisher/src/core/page.ts';
import type { SiteConfig } from '../../../packages/publisher/src/knowing/siteConfig.ts';
import { openRoutes } from '../../../packages/publisher/src/routes.ts';

let server: Server;
beforeAll(async () => {
  const app = express().get('/articles/:slug{/:part}', (request, response) => void response.send(request.params.slug));
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** The page that Express sends for a request target, sent as it is; null for none. */
function servedBy(target: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('error', reject);
    socket.on('close', () => resolve(text.startsWith('HTTP/1.1 200') ? (text.split('\r\n\r\n')[1] ?? '') : null));
    socket.write(`GET ${target} HTTP/1.1\r\nHost: alpha.example\r\nConnection: close\r\n\r\n`);
  });
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
