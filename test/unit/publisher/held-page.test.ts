/** Pages as Express makes them, held back until they are paid: whatever made them, the buyer gets them whole, and nobody pays for none. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip, gunzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import express from 'express';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { paidHeaders } from '../../../packages/publisher/src/answers.ts';
import { isServable } from '../../../packages/publisher/src/core/decide.ts';
import type { Page } from '../../../packages/publisher/src/knowing/pages.ts';
import { openLooks } from '../../../packages/publisher/src/looking.ts';
import { PARTIAL } from '../../../packages/publisher/src/request.ts';
import { forceHeaders, holdPage } from '../../../packages/publisher/src/selling/heldPage.ts';
import type { Sale, SaleResult } from '../../../packages/publisher/src/selling/sale.ts';

const folder = mkdtempSync(join(tmpdir(), 'held-'));
const LONG = 'x'.repeat(200_000);
/** Longer than one chunk of a file stream, shorter than what is kept. */
const MAX = 1_000_000;
const REFUSED: SaleResult = {
  act: 'answer',
  answer: { status: 402, headers: { 'payment-required': 'offer', 'content-type': 'text/plain' }, body: 'pay' },
};

/** What the sale of the next request says, and what was asked of sales. */
let refuses = false;
let waitsForEver = false;
/** Bytes that all pages may still hold together. */
let room = Number.POSITIVE_INFINITY;
const finished: { status: number; bytes: number; whole: string | null }[] = [];
let abandoned = 0;
let larger = 0;
const sale = (): Sale => ({
  finish: async (page) => {
    const { status, bytes, chunks } = page;
    finished.push({ status, bytes, whole: chunks ? Buffer.concat(chunks).toString() : null });
    if (waitsForEver) await new Promise(() => undefined);
    if (!isServable(page.status, page.bytes)) return { act: 'unservable', headers: { 'cache-control': 'private, no-store' } };
    return refuses ? REFUSED : { act: 'page', headers: paidHeaders({ licence: 'a.b.c', chargedMicro: '1000' }) };
  },
  hold: (bytes) => {
    room -= bytes;
    return room >= 0;
  },
  abandon: () => {
    abandoned += 1;
  },
});

/** As middlewares that compress do: the methods of the response replaced, the head touched when it is written. */
const compress: RequestHandler = (_request, response, next) => {
  const { write, end, writeHead } = response;
  const gzip = createGzip();
  gzip.on('data', (chunk: Buffer) => void write.call(response, chunk, 'utf8'));
  gzip.on('end', () => void Reflect.apply(end, response, []));
  gzip.on('drain', () => void response.emit('drain'));
  response.writeHead = ((...args: unknown[]) => {
    response.setHeader('content-encoding', 'gzip');
    response.removeHeader('content-length');
    return Reflect.apply(writeHead, response, args);
  }) as typeof writeHead;
  const head = () => void (response.headersSent || response.writeHead(response.statusCode));
  response.write = ((chunk: Buffer | string) => {
    head();
    return gzip.write(chunk);
  }) as typeof write;
  response.end = ((chunk?: Buffer | string) => {
    head();
    gzip.end(chunk);
    return response;
  }) as typeof end;
  next();
};
const hold: RequestHandler = (request, response, next) => {
  for (const name of PARTIAL) delete request.headers[name];
  holdPage(response, sale(), { maxBytes: MAX, onLarge: () => (larger += 1) });
  next();
};
const pages = express
  .Router()
  .get('/send', (_request, response) => void response.send('<p>page</p>'))
  .get('/json', (_request, response) => void response.status(201).json({ page: 1 }))
  .get('/pieces', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'x-own': 'yes' });
    response.write('one ');
    response.write(Buffer.from('two '), () => response.end('dGhyZWU=', 'base64'));
  })
  .get('/flat', (_request, response) => void response.writeHead(200, 'Fine', ['x-own', 'yes']).end('page'))
  .get('/stream', (_request, response) => void Readable.from(['a', LONG, 'z']).pipe(response))
  .get('/file', (_request, response) => response.sendFile(join(folder, 'page.html')))
  .get('/large', (_request, response) => void Readable.from(Array.from({ length: 10 }, () => LONG)).pipe(response))
  .get('/throws', () => {
    throw new Error('no page');
  })
  .get('/half', (_request, response, next) => {
    response.write('half a page');
    next(new Error('no other half'));
  })
  .get('/twice', (_request, response, next) => {
    response.send('page');
    next();
  })
  .get('/dies', (_request, response) => {
    response.write('half a page');
    response.destroy();
  })
  .get('/pours', (_request, response) => {
    const pouring = setInterval(() => void response.write(LONG), 1); // and hears nothing of being told to wait
    response.once('close', () => clearInterval(pouring));
  })
  .get('/never', (_request, response) => void response.write('half a page'))
  .get('/moved', (_request, response) => response.redirect('/send'))
  .get('/nothing', (_request, response) => void response.status(204).end())
  .use(express.static(folder));

/** What a cache in front may follow rather than Cache-Control; Express adds the last two to files. */
const OF_CACHES = ['surrogate-control', 'cdn-cache-control', 'vercel-cdn-cache-control', 'expires', 'etag', 'last-modified'];

let server: Server;
let base: string;
beforeAll(async () => {
  writeFileSync(join(folder, 'page.html'), `<p>${LONG}</p>`);
  const app = express()
    .disable('x-powered-by')
    .use((_request, response, next) => {
      response.set({ 'x-before': 'kept', vary: 'Accept-Encoding' });
      for (const name of OF_CACHES.slice(0, 4)) response.set(name, 'max-age=600');
      next();
    })
    .use('/held', hold, pages)
    .use('/outer', compress, hold, pages)
    .use('/inner', hold, compress, pages)
    .use('/forced', (_request, response, next) => {
      forceHeaders(response, paidHeaders());
      next();
    })
    .use('/forced', pages)
    .get('/page.html', pages)
    .use(
      (_error: unknown, _request: unknown, response: express.Response, _next: unknown) =>
        void response.status(500).send('broken'),
    );
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  refuses = false;
  waitsForEver = false;
  room = Number.POSITIVE_INFINITY;
  finished.length = 0;
  abandoned = 0;
  larger = 0;
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.closeAllConnections();
  server.close();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${base}${path}`, { headers, redirect: 'manual' });
const PAGE = `<p>${LONG}</p>`;
const MADE: readonly (readonly [string, number, string])[] = [
  ['/send', 200, '<p>page</p>'],
  ['/json', 201, '{"page":1}'],
  ['/pieces', 200, 'one two three'],
  ['/flat', 200, 'page'],
  ['/stream', 200, `a${LONG}z`],
  ['/file', 200, PAGE],
  ['/page.html', 200, PAGE],
  ['/twice', 200, 'page'],
];

test.each(MADE)('%s arrives whole once it is paid, and says that it is one reader’s', async (path, status, body) => {
  const answer = await get(`/held${path}`);
  expect([answer.status, await answer.text()]).toEqual([status, body]);
  expect(finished).toEqual([{ status, bytes: body.length, whole: body }]);
  const { headers } = answer;
  expect([headers.get('cache-control'), headers.get('x-licence'), headers.get('accept-ranges')]).toEqual([
    'private, no-store',
    'a.b.c',
    'none',
  ]);
  expect(OF_CACHES.filter((name) => headers.has(name))).toEqual([]);
  expect(headers.get('vary')).toBe(
    'Accept-Encoding, PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Authorization, User-Agent, Accept',
  );
  expect([headers.get('x-before'), headers.get('crawler-charged')]).toEqual(['kept', 'USD 0.001']);
});

test.each(MADE)('nothing of %s is sent when its payment is refused, not even its headers', async (path) => {
  refuses = true;
  const answer = await get(`/held${path}`);
  expect([answer.status, await answer.text(), answer.headers.get('payment-required')]).toEqual([402, 'pay', 'offer']);
  for (const name of ['x-own', 'etag', 'last-modified', 'content-encoding']) expect(answer.headers.get(name)).toBeNull();
  expect(answer.headers.get('x-before')).toBe('kept');
});

test.each(['/outer', '/inner'])(
  'a middleware that compresses, %s of the gate, does so for the page and for a refusal',
  async (place) => {
    for (const [path, status, body] of MADE.filter(([one]) => one !== '/twice' && one !== '/flat' && one !== '/pieces')) {
      const answer = await get(`${place}${path}`, { 'accept-encoding': 'gzip' });
      expect([path, answer.status, answer.headers.get('content-encoding'), await answer.text()]).toEqual([
        path,
        status,
        'gzip',
        body,
      ]);
    }
    refuses = true;
    const refused = await get(`${place}/send`);
    expect([refused.status, await refused.text()]).toEqual([402, 'pay']);
  },
);

test.each([
  ['/throws', 500],
  ['/half', 500],
  ['/moved', 302],
  ['/nothing', 204],
  ['/missing', 404],
])('%s is sent as it is, with status %i, and may not be sold', async (path, status) => {
  const answer = await get(`/held${path}`);
  expect([answer.status, answer.headers.get('x-licence'), answer.headers.get('cache-control')]).toEqual([
    status,
    null,
    'private, no-store',
  ]);
  expect(finished.map((page) => isServable(page.status, page.bytes))).toEqual([false]);
});

test('a page whose connection the server ends, and one that its buyer no longer waits for, is never settled', async () => {
  await expect(get('/held/dies')).rejects.toThrow();
  const gone = send(`${base}/held/never`);
  gone.on('error', () => undefined).end();
  const [socket] = (await once(gone, 'socket')) as [import('node:net').Socket];
  if (socket.connecting) await once(socket, 'connect');
  await expect.poll(async () => connections()).toBeGreaterThan(0);
  gone.destroy();
  await expect.poll(() => abandoned + finished.length).toBe(2); // of a page that is settled it is not waited for that it is not
  expect([abandoned, finished]).toEqual([2, []]);
});

test('a page whose buyer leaves while his payment is looked at is no longer kept', async () => {
  waitsForEver = true;
  const gone = send(`${base}/held/stream`);
  gone.on('error', () => undefined).end();
  await expect.poll(() => finished.length).toBe(1);
  gone.destroy();
  await expect.poll(() => abandoned).toBe(1);
});

test('a page whose server writes on while its payment is looked at finds an end where the room for all pages ends', async () => {
  waitsForEver = true;
  room = 3 * MAX;
  const answer = await fetch(`${base}/held/pours`, { signal: AbortSignal.timeout(20_000) });
  expect([answer.status, await answer.text(), answer.headers.get('payment-required')]).toEqual([
    503,
    expect.not.stringContaining('x'.repeat(100)),
    null,
  ]);
  expect([finished.length, abandoned > 0]).toEqual([1, true]);
});

test('answers that are looked at share the room of 64 MiB, and give it back', () => {
  const looks = openLooks({ now: () => 0 });
  const open = () => {
    const page = { resource: 'https://a.example/x', path: '/x' } as Page;
    const look = looks.open({ page, method: 'POST', isAside: true, instead: async () => null, onOwn: () => undefined });
    return look?.sale as Sale;
  };
  const [one, another] = [open(), open()];
  const half = 32 * 1_024 * 1_024;
  expect([one.hold(half), another.hold(half), another.hold(1)]).toEqual([true, true, false]);
  one.abandon();
  expect(another.hold(1)).toBe(true);
});

const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

test('a page longer than what is kept is paid first and then sent as it is made; refused, nothing of it is sent', async () => {
  const answer = await get('/held/large');
  expect((await answer.text()).length).toBe(10 * LONG.length);
  expect([finished.length, larger]).toEqual([1, 1]);
  expect(finished[0]?.bytes).toBeGreaterThan(MAX);
  expect(finished[0]?.whole).toBeNull();
  refuses = true;
  const refused = await get('/held/large');
  expect([refused.status, await refused.text()]).toEqual([402, 'pay']);
});

test('whoever pays gets all of the page, whatever he holds of it or asks for', async () => {
  const etag = (await get('/page.html')).headers.get('etag') ?? '';
  expect(etag).not.toBe('');
  for (const headers of [{ 'if-none-match': etag }, { range: 'bytes=0-3' }, { range: 'bytes=0-3', 'if-range': etag }]) {
    const answer = await get('/held/page.html', headers);
    expect([answer.status, (await answer.text()).length]).toEqual([200, PAGE.length]);
  }
});

test('the headers of a page read again by its licence win over those of the page', async () => {
  for (const path of ['/page.html', '/pieces', '/stream', '/flat']) {
    const { headers } = await get(`/forced${path}`);
    expect([path, headers.get('cache-control'), headers.get('accept-ranges')]).toEqual([path, 'private, no-store', 'none']);
    expect(OF_CACHES.filter((name) => headers.has(name))).toEqual([]);
  }
});

test('what compresses is not undone: bytes are those of the middleware', async () => {
  const raw = await new Promise<Buffer>((resolve) => {
    send(`${base}/inner/send`, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
    }).end();
  });
  expect(gunzipSync(raw).toString()).toBe('<p>page</p>');
});
