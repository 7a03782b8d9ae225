/** Pages that a site's own filters encode, empty or stream: what is sold is what a client holds in the end. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { paidHeaders } from '../../../packages/publisher/src/answers.ts';
import { contentSettlement } from '../../../packages/publisher/src/fetch.ts';
import { decodedPage, hasContent } from '../../../packages/publisher/src/selling/decoded.ts';
import { serviceThat } from '../../support/lying-service.ts';
import { openExpressSite, UA } from '../../support/publisher-site.ts';

const CODINGS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;
const MOST = 16 * 1_024 * 1_024;
const PAYING = { 'user-agent': UA.agent, 'x-payment': 'junk' };
const options = { serviceUrl: 'https://svc.example', apiKey: 'k', log: () => undefined, fetch: serviceThat({}) };

test.each(Object.entries(CODINGS))('a page in %s is judged and hashed by what a client reads', async (encoding, encode) => {
  const page = Buffer.from('<p>page</p>'.repeat(50));
  expect(await hasContent([encode(page)], encoding)).toBe(true);
  const decoded = Buffer.concat((await decodedPage([encode(page)], encoding, MOST)) ?? []);
  expect(createHash('sha256').update(decoded).digest('hex')).toBe(createHash('sha256').update(page).digest('hex'));
  expect(await hasContent([encode(Buffer.alloc(0))], encoding)).toBe(false);
  expect(await hasContent([Buffer.from('no such coding')], encoding)).toBe(false);
});

test('a page in a coding that is unknown here is sold, and has no hash; so is one that would be too long', async () => {
  expect([await hasContent([Buffer.from('x')], 'dcz'), await decodedPage([Buffer.from('x')], 'dcz', MOST)]).toEqual([true, null]);
  const bomb = gzipSync(Buffer.alloc(33 * 1_024 * 1_024));
  expect([await hasContent([bomb], 'gzip'), await decodedPage([bomb], 'gzip', MOST)]).toEqual([true, null]);
});

/** What the gate gives a buyer of a page that a handler makes like this. */
function sold(make: () => Response): Promise<Response> {
  return contentSettlement(options)(make)(new Request('http://a.example/articles/solo', { headers: PAYING }));
}
const streamed = (headers: Readonly<Record<string, string>>) => (): Response =>
  new Response(new Blob(['<p>page</p>']).stream(), { headers: { 'content-type': 'text/html', ...headers } });

test.each([
  ['streamText', { 'transfer-encoding': 'chunked', 'x-content-type-options': 'nosniff' }],
  ['streamSSE', { 'transfer-encoding': 'chunked', 'cache-control': 'no-cache', connection: 'keep-alive' }],
  [
    'a proxy',
    { connection: 'close, X-Hop', 'x-hop': '1', 'keep-alive': 'timeout=5', trailer: 'x-end', te: 'trailers', upgrade: 'h2c' },
  ],
])('a page that comes as %s sends it is sold whole, without headers of its connection', async (_name, headers) => {
  const bought = await sold(streamed(headers));
  expect([bought.status, bought.headers.get('x-licence'), await bought.text()]).toEqual([200, 'a.b.c', '<p>page</p>']);
  const ofConnection = ['transfer-encoding', 'connection', 'keep-alive', 'trailer', 'te', 'upgrade', 'x-hop'];
  expect(ofConnection.filter((name) => bought.headers.has(name))).toEqual([]);
});

test.each(Object.entries(CODINGS))('a page that a filter emptied into %s is not sold', async (encoding, encode) => {
  const made = (text: string) => () => new Response(encode(Buffer.from(text)), { headers: { 'content-encoding': encoding } });
  expect((await sold(made(''))).headers.has('x-licence')).toBe(false);
  expect((await sold(made('<p>page</p>'))).headers.get('x-licence')).toBe('a.b.c');
});

test('an Express page with a length and chunks besides goes out with one of them', async () => {
  const site = await openExpressSite(options, (app) =>
    app.get('/articles/two', (_request, response) => void response.set('Transfer-Encoding', 'chunked').end('<p>page</p>')),
  );
  try {
    const bought = await site.raw('/articles/two', PAYING);
    expect([bought.status, bought.body, bought.headers['transfer-encoding']]).toEqual([200, '<p>page</p>', undefined]);
  } finally {
    await site.close();
  }
});

test.each([
  ['eip155:84532', 'payment-response'],
  ['base-sepolia', 'x-payment-response'],
])('a payment on %s is answered under one name, %s', (network, name) => {
  const value = btoa(JSON.stringify({ success: true, network }));
  const both = new Headers({ 'payment-response': value, 'x-payment-response': value });
  const names = Object.keys(paidHeaders({ headers: both })).filter((one) => one.endsWith('payment-response'));
  expect(names).toEqual([name]);
});
