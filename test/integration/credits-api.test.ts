import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openCreditsBook } from '../../modules/quotes/use/credits/book.ts';
import { setCreditsToken } from '../../modules/quotes/use/credits/token.ts';
import { quotePages } from '../../modules/storefront/use/pages/quotes.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { rerouteToSandbox } from '../../process/sandboxWeb.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import { listAuditEntries } from '../support/auditEntries.ts';

const [A, B] = WALLETS as [string, string];
const PAGE = { title: 'From the API', contributors: [{ authorId: 'ann', wallet: A }] };
const PRICING = { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsApiUrl: 'https://credits.sandbox.example/v1' };

let web: SandboxWeb;
let api: Awaited<ReturnType<typeof startTestApi>>;

beforeAll(async () => {
  web = await startSandboxWeb(0);
  api = await startTestApi({ outbound: createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) }) });
});
beforeEach(() => {
  Object.assign(api.time, { offsetMs: 0, stoppedAtMs: Date.now() });
});
afterAll(async () => {
  await api.stop();
  await web.close();
});

async function answerWith(slug: string, body: unknown, more: object = {}): Promise<void> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const page = { host: 'credits.sandbox.example', path: `/v1/credits/${slug}`, body: text, ...more };
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify(page) });
}

/** A page as the book looks it up at a site that imported none. */
const lookedUp = (tenantId: string, slug: string, apiUrl = PRICING.creditsApiUrl) => ({
  ...{ tenantId, slug, apiUrl, path: `/articles/${slug}` },
  catalogueVersion: null,
});

async function site(pricing: object = PRICING) {
  const { key, tenantId } = await api.site({ pricing: pricing as typeof PRICING });
  return { tenantId, key, quote: (slug: string) => api.request(`/_svc/quote?slug=${encodeURIComponent(slug)}`, { key }) };
}

test('a page is priced by the authors its credits API names, and the answer is kept for five minutes', async () => {
  const { quote } = await site();
  await answerWith('one', PAGE);
  const first = await quote('one');
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({ title: 'From the API', price: 1_000 });
  expect(first.body.legs[0].toAddress.toLowerCase()).toBe(A);
  await answerWith('one', { contributors: [{ authorId: 'bob', wallet: B }] });
  api.time.offsetMs = 299_000;
  expect((await quote('one')).body.legs[0].toAddress.toLowerCase()).toBe(A);
  api.time.offsetMs = 301_000;
  expect((await quote('one')).body.legs[0].toAddress.toLowerCase()).toBe(B);
});

test('a quote does not wait for a slow credits API longer than gates wait for a quote, and has its answer the next time', async () => {
  const { quote } = await site();
  await answerWith('slow', PAGE, { delayMs: 2_600 });
  const startedAt = performance.now();
  const first = await quote('slow');
  expect([first.status, first.headers.get('x-svc-error-code'), first.headers.get('retry-after')]).toEqual([
    503,
    'credits_unavailable',
    '3',
  ]);
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  await expect.poll(async () => (await quote('slow')).status).toBe(200);
});

test('404 of the credits API is a page that is free for want of authors, `free` one that its owner named free', async () => {
  const { quote } = await site();
  const because = async (slug: string) => {
    const { status, headers } = await quote(slug);
    return [status, headers.get('x-svc-free-because')];
  };
  expect(await because('nobody')).toEqual([204, 'no_credits']);
  await answerWith('gift', { free: true });
  expect(await because('gift')).toEqual([204, 'free_slug']);
  await answerWith('not-free', { free: false });
  expect((await quote('not-free')).status).toBe(503);
});

test('where the credits API names nobody the default payee is paid, until it names somebody; its `free` stays free', async () => {
  const { tenantId, quote } = await site({ ...PRICING, defaultPayee: { authorId: 'house', wallet: B } });
  const paid = async (slug: string) => (await quote(slug)).body.legs?.[0].toAddress.toLowerCase();
  expect(await paid('unsigned')).toBe(B);
  await answerWith('given', { free: true });
  expect((await quote('given')).status).toBe(204);
  await answerWith('unwell', 'oops', { status: 500 });
  expect((await quote('unwell')).status).toBe(503);
  await answerWith('unsigned', PAGE);
  api.time.offsetMs = 301_000;
  expect(await paid('unsigned')).toBe(A);
  const key = lookedUp(tenantId, 'unsigned');
  expect(api.deps.credits.findPrevious(key)).toBe('none'); // a buyer who was offered the page for the default payee may still pay that one
});

test('an API is asked with its site’s token, which no redirect, no other origin, no row and no log gets to see', async () => {
  const seen: (readonly [host: string, token: string])[] = [];
  const server = createServer(({ headers, url }, response) => {
    seen.push([headers.host ?? '', headers.authorization ?? 'none']);
    if (url === '/v1/credits/moved') return response.writeHead(302, { location: 'https://thief.sandbox.example/' }).end();
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(PAGE));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outbound = createOutbound({
    allowLoopback: true,
    reroute: rerouteToSandbox(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  });
  const warned: object[] = [];
  const { database, clock } = api.deps;
  const log = { ...api.deps.log, warn: (fields: object) => warned.push(fields) };
  const { secretBox } = api;
  const book = openCreditsBook({ database, outbound, secretBox, clock, log, forbidden: [] });
  const { tenantId } = await site();
  const call = { tenantId, actor: operatorNamed('ops') };
  const token = 'a-token-of-this-site';
  expect(await setCreditsToken({ database, secretBox }, call, token)).toEqual({ origin: 'https://credits.sandbox.example' });
  const ask = async (slug: string, apiUrl = PRICING.creditsApiUrl) => {
    await book.load(lookedUp(tenantId, slug, apiUrl));
    return book.find(lookedUp(tenantId, slug, apiUrl));
  };
  expect(await ask('one')).toMatchObject({ title: 'From the API' });
  expect(await ask('moved')).toBe('failed');
  await ask('one', 'https://elsewhere.sandbox.example/v1');
  expect(seen).toEqual([
    ['credits.sandbox.example', `Bearer ${token}`],
    ['credits.sandbox.example', `Bearer ${token}`],
    ['elsewhere.sandbox.example', 'none'],
  ]);
  const rows = await database.query('select encode(sealed, $2) as sealed, origin from credits_token where tenant_id = $1', [
    tenantId,
    'escape',
  ]);
  const entries = await listAuditEntries(database, tenantId);
  expect([rows, warned, entries].map((list) => list.length)).toEqual([1, 1, 1]);
  expect(JSON.stringify([rows, warned, entries])).not.toContain(token);
  await setCreditsToken({ database, secretBox }, call, null);
  await ask('two');
  expect(seen.at(-1)).toEqual(['credits.sandbox.example', 'none']);
  await outbound.close();
  server.close();
});

test('a failing credits API is 503 with Retry-After, never a guess, until it answers', async () => {
  const { quote } = await site();
  await answerWith('broken', 'oops', { status: 500 });
  const failed = await quote('broken');
  expect(failed.status).toBe(503);
  expect(failed.headers.get('retry-after')).toBe('30');
  expect(failed.body).toMatchObject({ error: expect.stringMatching(/^credits_unavailable: /) });
  await answerWith('broken', PAGE);
  expect((await quote('broken')).status).toBe(503); // it is left alone for ten seconds
  api.time.offsetMs = 11_000;
  expect((await quote('broken')).status).toBe(200);
});

test('the last answer serves for a day while the API fails, also in a process that never asked it', async () => {
  const { tenantId, quote } = await site();
  await answerWith('stale', PAGE);
  expect((await quote('stale')).status).toBe(200);
  await answerWith('stale', '', { status: 502 });
  api.time.offsetMs = 23 * 3_600_000;
  expect((await quote('stale')).status).toBe(200);
  const { database, clock, log } = api.deps;
  const outbound = createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) });
  const other = openCreditsBook({ database, outbound, clock, log, forbidden: [], secretBox: api.secretBox });
  const key = lookedUp(tenantId, 'stale');
  await other.load(key);
  expect(other.find(key)).toMatchObject({ title: 'From the API' });
  await outbound.close();
  api.time.offsetMs = 25 * 3_600_000;
  expect((await quote('stale')).status).toBe(503);
});

test('callers at once share one request', async () => {
  const { quote } = await site();
  await answerWith('shared', PAGE, { delayMs: 100 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => quote('shared')));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  const outbound = createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) });
  const book = openCreditsBook({ ...api.deps, outbound, secretBox: api.secretBox, forbidden: [] });
  const key = lookedUp((await site()).tenantId, 'x/../y', 'https://none.sandbox.example');
  await book.load(key);
  expect(book.find(key)).toBe('none');
  await outbound.close();
});

const zero = `0x${'0'.repeat(40)}`;
const mixed = checksumAddress('0x52908400098527886e0f7030069857d2e4169ee7');
const nested = (depth: number): object =>
  depth === 1 ? { authorId: 'leaf', wallet: A } : { authorId: `d${depth}`, members: [nested(depth - 1)] };

test.each([
  ['no JSON', '<html>'],
  ['a list', [PAGE]],
  ['no contributors', {}],
  ['an empty list', { contributors: [] }],
  ['the zero address', { contributors: [{ authorId: 'a', wallet: zero }] }],
  ['a short wallet', { contributors: [{ authorId: 'a', wallet: '0x1' }] }],
  ['a wrong checksum', { contributors: [{ authorId: 'a', wallet: mixed.replace('E', 'e') }] }],
  ['the token as author', { contributors: [{ authorId: 'a', wallet: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }] }],
  ['leaf and composite at once', { contributors: [{ authorId: 'a', wallet: A, members: [{ authorId: 'b', wallet: B }] }] }],
  ['an author within himself', { contributors: [{ authorId: 'a', members: [{ authorId: 'a', wallet: A }] }] }],
  ['nine levels', { contributors: [nested(9)] }],
  [
    '51 wallets',
    {
      contributors: Array.from({ length: 51 }, (_, n) => ({ authorId: `${n}`, wallet: `0x${String(n + 1).padStart(40, '0')}` })),
    },
  ],
  ['more than 256 KB', { contributors: [{ authorId: 'a', wallet: A }], padding: 'a'.repeat(300_000) }],
  ['a weight of 0', { contributors: [{ authorId: 'a', wallet: A, weight: 0 }] }],
])('an answer with %s breaks the contract and prices nothing', async (name, body) => {
  const { quote } = await site();
  const slug = name.replaceAll(' ', '-');
  await answerWith(slug, body);
  expect((await quote(slug)).status).toBe(503);
});

test.each([
  ['a right checksum', { contributors: [{ authorId: 'a', wallet: mixed }] }],
  ['eight levels', { contributors: [nested(8)] }],
])('an answer with %s is good', async (name, body) => {
  const { quote } = await site();
  const slug = name.replaceAll(' ', '-');
  await answerWith(slug, body);
  expect((await quote(slug)).status).toBe(200);
});

/** A site whose API is counted, and a book that asks it. */
async function countedSite(answer: (slug: string) => { readonly status: number; readonly body?: unknown }) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const slug = decodeURIComponent(url.slice('/v1/credits/'.length));
    asked.push(slug);
    const { status, body } = answer(slug);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? null));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outbound = createOutbound({
    allowLoopback: true,
    reroute: rerouteToSandbox(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  });
  const { database, clock, log } = api.deps;
  const newBook = () => openCreditsBook({ database, outbound, secretBox: api.secretBox, clock, log, forbidden: [] });
  const { tenantId } = await site();
  const rows = async (): Promise<readonly string[]> =>
    (await database.query<{ slug: string }>('select slug from credits_copy where tenant_id = $1 order by slug', [tenantId])).map(
      ({ slug }) => slug,
    );
  const keyOf = (slug: string) => lookedUp(tenantId, slug);
  const close = async (): Promise<void> => {
    await outbound.close();
    server.close();
  };
  return { tenantId, asked, newBook, rows, keyOf, close };
}

test('pages that strangers invent leave no row, and take no more questions than are strangers’: a page of the site’s gate is still asked about', async () => {
  const { asked, newBook, rows, keyOf, close } = await countedSite((slug) =>
    slug === 'real' ? { status: 200, body: PAGE } : { status: 404 },
  );
  const book = newBook();
  const invent = (at: number) => book.load(keyOf(`invented-${at}`), { address: `192.0.2.${at % 3}` });
  for (let at = 0; at < 3; at += 1) await invent(at);
  const outcomes = await Promise.allSettled(Array.from({ length: 130 }, (_, at) => invent(3 + at)));
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect([asked.length, refused.length]).toEqual([103, 30]);
  expect(refused[0]?.reason).toMatchObject({ code: 'credits_unavailable' });
  expect(book.find(keyOf('invented-0'))).toBe('none');
  await book.load(keyOf('real'));
  expect(book.find(keyOf('real'))).toMatchObject({ title: 'From the API' });
  expect(await rows()).toEqual(['real']);
  api.time.offsetMs = 1_000;
  await book.load(keyOf('invented-132'), { address: '192.0.2.1' }); // five more a second
  await close();
});

test('one address that invents pages leaves half of what strangers may ask to the others', async () => {
  const { asked, newBook, keyOf, close } = await countedSite(() => ({ status: 404 }));
  const book = newBook();
  const ask = (address: string) =>
    Promise.allSettled(Array.from({ length: 130 }, (_, at) => book.load(keyOf(`${address}-${at}`), { address })));
  await ask('192.0.2.1');
  expect(asked).toHaveLength(50);
  const outcomes = await ask('2001:db8::/64');
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
  expect(asked).toHaveLength(100);
  await close();
});

test('addresses that invent pages keep no other from the pages that are there, however many these are', async () => {
  const { asked, newBook, keyOf, close } = await countedSite((slug) =>
    slug.startsWith('real') ? { status: 200, body: PAGE } : { status: 404 },
  );
  const book = newBook();
  const invent = (at: number) => book.load(keyOf(`invented-${at}`), { address: `192.0.2.${at % 5}` });
  for (let at = 0; at < 5; at += 1) await invent(at);
  await Promise.allSettled(Array.from({ length: 245 }, (_, at) => invent(5 + at)));
  expect(asked, 'what inventors may have asked').toHaveLength(105);
  for (let at = 0; at < 120; at += 1) await book.load(keyOf(`real-${at}`), { address: `198.51.100.${at % 3}` });
  expect(book.find(keyOf('real-119'))).toMatchObject({ title: 'From the API' });
  await close();
});

test('a page that several addresses and its gate ask about at once costs its API one request', async () => {
  const { asked, newBook, keyOf, close } = await countedSite(() => ({ status: 200, body: PAGE }));
  const book = newBook();
  const ask = () =>
    Promise.all([
      ...Array.from({ length: 9 }, (_, at) => book.load(keyOf('wanted'), { address: `192.0.2.${at}` })),
      book.load(keyOf('wanted')),
    ]);
  await ask();
  expect(asked).toEqual(['wanted']);
  api.time.offsetMs = 301_000;
  await ask();
  expect(asked).toEqual(['wanted', 'wanted']);
  await close();
});

test('stale copies that one address has refreshed are two hundred at once; the gate has every one', async () => {
  const { tenantId, asked, newBook, keyOf, close } = await countedSite(() => ({ status: 200, body: PAGE }));
  const book = newBook();
  await api.deps.database.query(
    `insert into credits_copy (tenant_id, api_url, slug, credits, fetched_at)
     select $1, $2, 'page-' || n, '{}', now() - interval '10 minutes' from generate_series(0, 219) as n`,
    [tenantId, PRICING.creditsApiUrl],
  );
  const loads = (by: 'site' | { readonly address: string }) =>
    Promise.allSettled(Array.from({ length: 220 }, (_, at) => book.load(keyOf(`page-${at}`), by)));
  const outcomes = await loads({ address: '192.0.2.1' });
  expect([asked.length, outcomes.filter(({ status }) => status === 'rejected').length]).toEqual([200, 20]);
  expect((await loads('site')).every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(asked).toHaveLength(220);
  await close();
});

test('who asks the service itself for prices is a stranger to the site', async () => {
  const { tenantId } = await site();
  const [host] = await api.deps.database.query<{ host: string }>('select host from tenant_host where tenant_id = $1', [tenantId]);
  const keyOf = (slug: string) => lookedUp(tenantId, slug);
  // What strangers may ask at once; five more a second.
  await Promise.allSettled(
    Array.from({ length: 100 }, (_, at) => api.deps.credits.load(keyOf(`drained-${at}`), { address: `192.0.2.${at % 2}` })),
  );
  const urls = Array.from({ length: 100 }, (_, at) => `https://${host?.host}/articles/asked-${at}`);
  const outcomes = await quotePages(api.deps, urls, 'read', '192.0.2.9');
  expect(outcomes).toContainEqual(expect.objectContaining({ state: 'failed', code: 'credits_unavailable' }));
  await expect(api.deps.credits.load(keyOf('own'))).resolves.toBeUndefined();
});

test('a page that names nobody any more keeps who was paid before; nobody named in one process is remembered there through an outage', async () => {
  let answer: { status: number; body?: unknown } = { status: 200, body: PAGE };
  const { newBook, rows, keyOf, close } = await countedSite(() => answer);
  const book = newBook();
  await book.load(keyOf('left'));
  answer = { status: 404 };
  api.time.offsetMs = 301_000;
  await book.load(keyOf('left'));
  await book.load(keyOf('never'));
  expect(book.find(keyOf('left'))).toBe('none');
  expect(book.findPrevious(keyOf('left'))).toMatchObject({ title: 'From the API' });
  expect(await rows()).toEqual(['left']);
  answer = { status: 500 };
  api.time.offsetMs = 602_000;
  await book.load(keyOf('never'));
  expect(book.find(keyOf('never'))).toBe('none');
  await close();
});

test('a site has 20,000 copies of 32 KiB at most; what its API names beyond them a process knows by itself', async () => {
  const { tenantId, newBook, rows, keyOf, close } = await countedSite((slug) => ({
    status: 200,
    body: slug === 'long' ? { ...PAGE, padding: 'a'.repeat(40_000) } : PAGE,
  }));
  const book = newBook();
  await book.load(keyOf('long'));
  expect(book.find(keyOf('long'))).toMatchObject({ title: 'From the API' });
  expect(await rows()).toEqual([]);
  await api.deps.database.query(
    `insert into credits_copy (tenant_id, api_url, slug, credits, fetched_at)
     select $1, $2, 'page-' || n, '{}', now() from generate_series(1, 20000) as n`,
    [tenantId, PRICING.creditsApiUrl],
  );
  await book.load(keyOf('one-more'));
  expect(book.find(keyOf('one-more'))).toMatchObject({ title: 'From the API' });
  expect(await rows()).toHaveLength(20_000);
  api.time.offsetMs = 301_000;
  await book.load(keyOf('page-7'));
  expect(book.find(keyOf('page-7')), 'one that is there is kept up to date').toMatchObject({ title: 'From the API' });
  await close();
});

test('inline credits come first, and a page with them asks nobody', async () => {
  const { quote } = await site({
    ...PRICING,
    creditsInline: { mine: PAGE },
    creditsApiUrl: 'https://nowhere.invalid-host.example',
  });
  expect((await quote('mine')).status).toBe(200);
  expect((await quote('other')).status).toBe(503);
});

test.each(['.', '..', 'a/../b'])('the slug %s cannot lead out of the API', async (slug) => {
  const { tenantId } = await site();
  const outbound = createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) });
  const book = openCreditsBook({ ...api.deps, outbound, secretBox: api.secretBox, forbidden: [] });
  const key = lookedUp(tenantId, slug);
  await book.load(key);
  expect(['failed', 'none']).toContain(book.find(key));
  await outbound.close();
});

test('after a change of credits the answer before counts for ten minutes more', async () => {
  const { tenantId, quote } = await site();
  await answerWith('edited', PAGE);
  await quote('edited');
  await answerWith('edited', { contributors: [{ authorId: 'bob', wallet: B }] });
  api.time.offsetMs = 301_000;
  await quote('edited');
  const key = lookedUp(tenantId, 'edited');
  expect(api.deps.credits.findPrevious(key)).toMatchObject({ title: 'From the API' });
  api.time.offsetMs = 301_000 + 601_000;
  expect(api.deps.credits.findPrevious(key)).toBeUndefined();
});

test.each([
  'http://credits.example/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://localhost/',
  'https://credits.internal/',
  'https://user@credits.example/',
  'https://credits.example:8080/',
  'https://credits.example/?a=1',
  'nonsense',
])('%s is refused as credits API when it is saved', async (creditsApiUrl) => {
  await expect(site({ ...PRICING, creditsApiUrl })).rejects.toMatchObject({ code: 'invalid_parameter' });
});
