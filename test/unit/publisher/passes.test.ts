/** How a site behind Next asks itself for a page: past its own gate, wherever its proxy says that the request came from. */
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openPasses } from '../../../packages/publisher/src/knowing/passes.ts';
import { contentSettlement } from '../../../packages/publisher/src/next.ts';
import { serviceThat } from '../../support/lying-service.ts';
import { UA } from '../../support/publisher-site.ts';

test('behind a proxy that ends TLS a site asks itself by http, with a pass that nobody else can make', async () => {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.end('<p>trio</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As Next has it when `X-Forwarded-Proto: https` came with the request.
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/articles/trio?a=b`;
  const passes = openPasses({ serviceUrl: 'http://svc.example', apiKey: 'svc_live_x' });
  const page = await passes.pageFor(new Request(url, { headers: { 'payment-signature': 'paid' } }));
  server.close();

  expect([page.status, await page.text(), asked[0]?.url]).toEqual([200, '<p>trio</p>', '/articles/trio?a=b']);
  expect(asked[0]?.headers['payment-signature']).toBeUndefined();
  const pass = String(asked[0]?.headers['x-svc-pass']);
  const shown = (by: typeof passes, address: string) => by.isOwnCall(new Request(address, { headers: { 'x-svc-pass': pass } }));
  const other = openPasses({ serviceUrl: 'http://svc.example', apiKey: 'svc_live_y' });
  expect([await shown(passes, url), await shown(passes, `${url}c`), await shown(other, url)]).toEqual([true, false, false]);
});

const AT_SERVICE = { serviceUrl: 'https://svc.example', apiKey: 'svc_live_x' };

test('a pass opens its page once, each is another, and it ends after ten seconds', async () => {
  let ms = 1_700_000_000_000;
  const made: string[] = [];
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    made.push(new Headers(init?.headers).get('x-svc-pass') ?? '');
    return new Response('page');
  };
  const passes = openPasses({ ...AT_SERVICE, fetch, now: () => ms });
  const request = new Request('http://localhost:3000/articles/solo');
  for (let index = 0; index < 3; index++) await passes.pageFor(request);
  const shown = (pass = '') => passes.isOwnCall(new Request(request.url, { headers: { 'x-svc-pass': pass } }));
  const [first, second, third] = made;
  // Two at once: whichever is looked at first.
  expect((await Promise.all([shown(first), shown(first)])).sort()).toEqual([false, true]);
  expect(await shown(second)).toBe(true);
  ms += 10_001;
  expect([await shown(first), await shown(third)]).toEqual([false, false]);
});

test.each([
  ['https://evil.example/articles/solo', {}, null],
  ['https://evil.example/articles/solo', { origin: 'https://alpha.example' }, null],
  ['https://localhost.evil.example/articles/solo', {}, null],
  ['https://alpha.example/articles/solo', { origin: 'https://alpha.example/' }, 'https://alpha.example/articles/solo'],
  ['https://evil.example/articles/solo', { self: 'http://127.0.0.1:3000' }, 'http://127.0.0.1:3000/articles/solo'],
  ['https://0.0.0.0:3000/articles/solo', {}, 'http://0.0.0.0:3000/articles/solo'],
  ['https://[::1]:3000/articles/solo', {}, 'http://[::1]:3000/articles/solo'],
])('a request to %s with %j has the site ask %s for the page: a pass goes to no other host', async (url, given, asked) => {
  const went: string[] = [];
  const failures: string[] = [];
  const service = serviceThat({});
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (String(input).startsWith(AT_SERVICE.serviceUrl)) return service(input, init);
    went.push(String(input));
    return new Response('page');
  };
  const onFailure = ({ what }: { what: string }) => void failures.push(what);
  const proxy = contentSettlement({ ...AT_SERVICE, ...given, fetch, onFailure, log: () => undefined });
  const answer = await proxy(new Request(url, { headers: { 'user-agent': UA.agent, 'x-payment': 'junk' } }));
  expect([answer?.status, went, failures]).toEqual(asked === null ? [503, [], ['page']] : [200, [asked], []]);
});
