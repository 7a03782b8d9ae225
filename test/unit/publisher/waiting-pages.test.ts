/** Payments that are worth nothing hold no place for long, and no memory without end: who pays in earnest is served beside them. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import express from 'express';
import { afterEach, expect, test, vi } from 'vitest';
import { contentSettlement } from '../../../packages/publisher/src/fetch.ts';
import { MAKING_MS, openSales } from '../../../packages/publisher/src/selling/sale.ts';
import { buy, serviceThat } from '../../support/lying-service.ts';
import { openExpressSite, UA } from '../../support/publisher-site.ts';

const PLACES = 250;
const MIB = 1_024 * 1_024;
const options = { serviceUrl: 'https://svc.example', apiKey: 'k', log: () => undefined, fetch: serviceThat({}) };
const PAYING = { 'user-agent': UA.agent, 'x-payment': 'junk' };
afterEach(() => void vi.useRealTimers());

test('requests with a payment and half a body take no place: they are refused, and a buyer beside them is served', async () => {
  const shop = await openExpressSite(options, (app) => app.use(express.json()));
  const { hostname, port } = new URL(shop.url);
  const sockets: Socket[] = [];
  try {
    await buy(shop);
    for (let index = 0; index < PLACES; index++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `GET /articles/solo HTTP/1.1\r\nHost: a\r\nUser-Agent: GPTBot\r\nX-Payment: junk\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
      );
      sockets.push(socket);
    }
    for (const socket of sockets) {
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(String(head)).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect((await buy(shop)).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
    await shop.close();
  }
});

test('Express: a page that is not made in half a minute gives its place back, and what its handler does later harms nobody', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const held: ServerResponse[] = [];
  const shop = await openExpressSite(options, (app) =>
    app.get('/articles/never', (_request, response) => void held.push(response.setHeader('x-own', 'yes'))),
  );
  try {
    const never = Array.from({ length: PLACES }, () => shop.get('/articles/never', PAYING));
    await expect.poll(() => held.length).toBe(PLACES);
    expect((await buy(shop)).status).toBe(503);
    await vi.advanceTimersByTimeAsync(MAKING_MS);
    for (const { status, headers } of await Promise.all(never)) {
      expect([status, headers.get('payment-required'), headers.get('x-own')]).toEqual([503, null, null]);
    }
    for (const response of held) (response as express.Response).set('x-late', 'yes').status(200).send('late');
    for (const response of held) response.writeHead(200, { 'x-late': 'yes' }).end('late');
    const bought = await buy(shop);
    expect([bought.status, await bought.text()]).toEqual([200, '<p>solo</p>']);
  } finally {
    await shop.close();
  }
});

/** A site of a fetch handler: `/articles/never` is never made, `/articles/half` never ended. */
function openHandler() {
  let cancelled = 0;
  const cancel = () => {
    cancelled += 1;
  };
  const half = () => new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(9)), cancel });
  const site = contentSettlement(options)((request: Request) => {
    if (request.url.endsWith('never')) return new Promise<Response>(() => undefined);
    return new Response(request.url.endsWith('half') ? half() : 'page');
  });
  const get = (slug: string, signal: AbortSignal | null = null) =>
    site(new Request(`https://alpha.example/articles/${slug}`, { headers: PAYING, signal }));
  return { get, cancelled: () => cancelled };
}

test.each(['never', 'half'])('a fetch handler: a page that is %s made gives its place back after half a minute', async (slug) => {
  const site = openHandler();
  expect((await site.get('solo')).status).toBe(200);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const waiting = Array.from({ length: PLACES }, () => site.get(slug));
  await vi.advanceTimersByTimeAsync(MAKING_MS - 1);
  expect((await site.get('solo')).status).toBe(503);
  await vi.advanceTimersByTimeAsync(1);
  for (const { status, headers } of await Promise.all(waiting)) {
    expect([status, headers.get('payment-required')]).toEqual([503, null]);
  }
  expect([(await site.get('solo')).status, site.cancelled()]).toEqual([200, slug === 'half' ? PLACES : 0]);
});

test('a fetch handler: buyers who leave give their places back, and the pages that were made for them end', async () => {
  const site = openHandler();
  const left = new AbortController();
  const waiting = Array.from({ length: PLACES }, (_, index) => site.get(index % 2 ? 'half' : 'never', left.signal));
  await expect.poll(async () => (await site.get('solo')).status).toBe(503);
  left.abort();
  await Promise.all(waiting);
  expect([(await site.get('solo')).status, site.cancelled()]).toEqual([200, PLACES / 2]);
});

test('pages that wait hold 64 MiB in all: then new buyers come back, until one of them is paid or its buyer gone', () => {
  const deps = { client: null, now: Date.now, failures: null, pages: null, unservable: () => undefined, maxPageBytes: 8 * MIB };
  const sales = openSales(deps as unknown as Parameters<typeof openSales>[0]);
  const open = () => sales.open({} as Parameters<typeof sales.open>[0]);
  const some = Array.from({ length: 8 }, open);
  for (const sale of some) expect(sale?.hold(8 * MIB)).toBe(true);
  expect([open(), some[0]?.hold(1)]).toEqual([null, false]);
  some[0]?.abandon();
  const next = open();
  expect([next?.hold(8 * MIB), next?.hold(1)]).toEqual([true, false]);
});

test('a page that finds no room beside the others is not sold, and is not kept', async () => {
  const large = Buffer.alloc(7 * MIB, 'x');
  const shop = await openExpressSite(options, (app) =>
    app.get('/articles/half', (_request, response) => void response.write(large)),
  );
  const left = new AbortController();
  try {
    const get = (slug: string) => fetch(`${shop.url}/articles/${slug}`, { headers: PAYING, signal: left.signal });
    const all = Array.from({ length: 10 }, () => get('half'));
    const waiting = all.map((one) => one.catch(() => null));
    // Nine find room and wait; whichever comes last is the only one that is answered.
    const tenth = await Promise.race(all);
    expect([tenth.status, tenth.headers.get('payment-required'), tenth.headers.get('retry-after')]).toEqual([503, null, '1']);
    left.abort();
    expect((await Promise.all(waiting)).filter((one) => one !== null)).toEqual([tenth]);
    await expect.poll(async () => (await buy(shop)).status).toBe(200);
  } finally {
    await shop.close();
  }
});
