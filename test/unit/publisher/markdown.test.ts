/** Markdown that is made of sold pages: what it costs a site's process, and that a buyer gets the page in any case. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openMarkdown } from '../../../packages/publisher/src/selling/markdown.ts';
import type { FinishedPage } from '../../../packages/publisher/src/selling/sale.ts';
import { openSales } from '../../../packages/publisher/src/selling/sale.ts';

const ADDRESS = 'https://alpha.example/articles/';
const pageOf = (text: string, more: Partial<FinishedPage> = {}): FinishedPage => {
  const bytes = Buffer.from(`<main><h1>${text}</h1></main>`);
  return { status: 200, bytes: bytes.length, type: 'text/html', chunks: [bytes], ...more };
};
const textOf = (made: unknown): string =>
  made !== null && typeof made === 'object' && 'body' in made ? Buffer.from(made.body as Uint8Array).toString() : String(made);

test('two pages a second are made into Markdown, and one that was made is given again without being made', async () => {
  let now = 0;
  const asMarkdown = openMarkdown(() => now);
  const of = async (name: string) => textOf(await asMarkdown(pageOf(name), ADDRESS + name));
  expect([await of('a'), await of('b'), await of('c')]).toEqual(['# a\n', '# b\n', 'busy']);
  expect([await of('a'), await of('b')]).toEqual(['# a\n', '# b\n']);
  // Other bytes, or the same at another address, are another page.
  expect(textOf(await asMarkdown(pageOf('a'), `${ADDRESS}z`))).toBe('busy');
  now += 1_000;
  expect([await of('c'), await of('d'), await of('e'), await of('c')]).toEqual(['# c\n', '# d\n', 'busy', '# c\n']);
});

test('what was made is kept up to eight mebibytes, and what was used longest ago is forgotten', async () => {
  let now = 0;
  const asMarkdown = openMarkdown(() => now);
  const make = async (n: number) => {
    now += 1_000;
    await asMarkdown(pageOf('x'.repeat(200_000) + n), ADDRESS + n);
  };
  for (let n = 0; n < 45; n += 1) await make(n);
  now += 1_000;
  await asMarkdown(pageOf('one'), ADDRESS);
  await asMarkdown(pageOf('two'), ADDRESS);
  const [last, first] = [44, 0].map((n) => asMarkdown(pageOf('x'.repeat(200_000) + n), ADDRESS + n));
  expect([textOf(await last).length > 200_000, await first]).toEqual([true, 'busy']);
});

test.each([
  ['HTML', {}],
  ['the site’s own Markdown', { type: 'text/markdown' }],
])('%s of more than 256 KiB is given as it is, also in a coding, and so is what finds no room', async (_name, more) => {
  const asMarkdown = openMarkdown(() => 0);
  const long = Buffer.from(`<main>${'<p>x</p>'.repeat(40_000)}</main>`);
  const coded = { ...more, chunks: [gzipSync(long)], encoding: 'gzip' };
  expect(await asMarkdown(pageOf('', { ...more, chunks: [long] }), ADDRESS)).toBe(null);
  expect(await asMarkdown(pageOf('', coded), ADDRESS)).toBe(null);
  let asked = 0;
  const isFull = (bytes: number): boolean => {
    asked += bytes;
    return false;
  };
  const small = Buffer.from('<main><p>short</p></main>');
  expect(await asMarkdown(pageOf('', { ...more, chunks: [gzipSync(small)], encoding: 'gzip' }), ADDRESS, isFull)).toBe(null);
  expect(asked).toBe(small.length);
});

test('while others are made into Markdown a licence is asked to come back, and who has just paid gets the page', async () => {
  const receipt = { ok: true, status: 200, headers: new Headers(), body: { licenseJws: 'a.b.c', chargedMicro: 1_000 } };
  const sales = openSales({
    client: { verify: async () => receipt },
    now: () => 0,
    failures: { note: () => undefined, counts: () => ({}) },
    pages: {},
    maxPageBytes: 1_024 * 1_024,
    unservable: () => undefined,
    bodies: null,
    receiptName: 'service',
  } as unknown as Parameters<typeof openSales>[0]);
  const page = (name: string) => ({ resource: ADDRESS + name, userAgent: 'bot', signed: {} });
  const reread = (name: string) => sales.deliver(page(name) as never, {})?.finish(pageOf(name));
  const bodies = [await reread('a'), await reread('b')];
  expect(bodies).toMatchObject([{ act: 'page' }, { act: 'page' }]);
  expect(bodies.map(textOf)).toEqual(['# a\n', '# b\n']);
  expect(await reread('c')).toMatchObject({ act: 'answer', answer: { status: 503, headers: { 'retry-after': '1' } } });
  const bought = await sales
    .open({
      page: page('c'),
      quote: { price: 1_000 },
      caller: { reason: 'x' },
      payment: 'p',
      accept: '',
      isMarkdown: true,
    } as never)
    ?.finish(pageOf('c'));
  expect(bought).toMatchObject({ act: 'page' });
  expect(bought).not.toHaveProperty('body');
});
