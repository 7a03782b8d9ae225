/** How a site behind Next asks itself for a page: past its own gate, wherever its proxy says that the request came from. */
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openPasses } from '../../../packages/publisher/src/passes.ts';

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
  const shown = (by: typeof passes, address: string) => by.isOurs(new Request(address, { headers: { 'x-svc-pass': pass } }));
  const other = openPasses({ serviceUrl: 'http://svc.example', apiKey: 'svc_live_y' });
  expect([await shown(passes, url), await shown(passes, `${url}c`), await shown(other, url)]).toEqual([true, false, false]);
});
