/**
 * What the publisher's package promises, seen from outside of apps as newcomers make them: stock buyers, people, search engines, and a
 * service that is away.
 */

import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { createClient } from '../../packages/publisher/src/client.ts';
import { ALPHA_PRICING, WALLETS } from '../support/api.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';
import type { App, StarterName } from './apps.ts';
import { FOLDER, NAMES, PLAIN_NAMES, startApp } from './apps.ts';
import type { Front, FrontMode } from './front.ts';
import { startFront } from './front.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)';
const PRICE = 1_000n;
const MOST_GZIPPED_BYTES = 35_840;
/** What people and search engines ask a site for. */
const REQUESTS = [
  ['GET', '/articles/trio', {}],
  ['GET', '/articles/trio?utm_source=x', { 'user-agent': GOOGLEBOT }],
  ['HEAD', '/articles/trio', {}],
  ['GET', '/articles/trio', { 'accept-encoding': 'gzip', 'accept-language': 'de' }],
  ['GET', '/articles/trio', { range: 'bytes=0-3' }],
  ['GET', '/articles/trio', { 'if-none-match': '"x"', 'if-modified-since': 'Sun, 29 Nov 2026 00:00:00 GMT' }],
  ['GET', '/articles/trio', { authorization: 'Basic YTpi', cookie: 'a=b' }],
  ['POST', '/articles/trio', {}],
  ['GET', '/missing', {}],
  ['GET', '/robots.txt', {}],
  ['GET', '/llms.txt', { 'user-agent': GOOGLEBOT }],
] as const satisfies readonly (readonly [method: string, path: string, headers: Readonly<Record<string, string>>])[];

let service: TestService;
let site: TestSite;
let front: Front;
/** What the owner of the site proves a host with. */
let token: string;
const apps = new Map<StarterName, App>();

beforeAll(async () => {
  service = await startTestService();
  const articlePrefixes = ['/articles/', '/stories/'];
  site = await service.site({ hosts: ['alpha.example'], pricing: { ...ALPHA_PRICING, articlePrefixes } });
  const opened = await createClient({ serviceUrl: service.baseUrl, apiKey: site.key }).openHost('proof-of-the.alpha.example');
  token = opened.ok ? opened.body.challenge.token : '';
  front = await startFront(() => service.apis.at(-1)?.url ?? '');
  for (const name of NAMES) apps.set(name, await startApp(name, { url: front.url, key: site.key }));
});
afterAll(async () => {
  await Promise.all([...apps.values()].map((app) => app.process.stop()));
  await front?.close();
  await service?.stop();
});

const urlOf = (name: StarterName, slug: string): string => `${apps.get(name)?.url}/articles/${slug}`;

async function read(name: StarterName, slug: string, userAgent: string, headers: Record<string, string> = {}) {
  const answer = await fetch(urlOf(name, slug), { headers: { 'user-agent': userAgent, ...headers } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** The page as its starter makes it. */
const pageOf = (slug: string) => expect.stringContaining(`<h1>${slug}</h1>`);

/** A buyer with money for ten pages; `last` is the newest request that carried a payment, to be sent again as it was. */
async function newBuyer(client: 'v1' | 'v2') {
  const account: PrivateKeyAccount = await service.payer(10n * PRICE);
  let last: Request | null = null;
  let headers = new Headers();
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has('x-payment') || request.headers.has('payment-signature')) last = request.clone();
    const answer = await fetch(request);
    headers = answer.headers;
    return answer;
  };
  const clients = {
    v1: () => wrapFetchV1(send, account),
    v2: () => wrapFetchWithPayment(send, new x402Client().register('eip155:*', new ExactEvmScheme(account))),
  };
  return {
    get: async (url: string) => {
      const answer = await clients[client]()(url);
      return { status: answer.status, text: await answer.text(), headers };
    },
    again: async () => {
      const answer = await fetch((last as unknown as Request).clone());
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    spent: async () => 10n * PRICE - ((await balancesOf(service, [account.address]))[0] ?? 0n),
  };
}

/** What is used of esbuild, which is installed beside the starters alone. */
type Build = (options: object) => Promise<{
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array }[];
  readonly metafile: {
    readonly outputs: Readonly<
      Record<string, { readonly entryPoint?: string; readonly imports: readonly { path: string; kind: string }[] }>
    >;
  };
}>;

type Buyer = Awaited<ReturnType<typeof newBuyer>>;

describe.each(NAMES)('%s', (name) => {
  test('people and search engines read the page as it was, and no call is made for them', async () => {
    const calls = front.count('/_svc/quote');
    for (const userAgent of [CHROME, GOOGLEBOT]) {
      expect(await read(name, 'trio', userAgent)).toMatchObject({ status: 200, text: pageOf('trio') });
    }
    expect(front.count('/_svc/quote')).toBe(calls);
  });

  test.each(['v2', 'v1'] as const)(
    'the stock client of x402 %s buys a page of three authors, each gets their share, and reads it again',
    async (version) => {
      const buyer = await newBuyer(version);
      const before = await balancesOf(service, WALLETS);
      const bought = await buyer.get(urlOf(name, 'trio'));
      expect(bought).toMatchObject({ status: 200, text: pageOf('trio') });
      expect(bought.headers.get('cache-control')).toBe('private, no-store');
      const after = await balancesOf(service, WALLETS);
      expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([500n, 300n, 200n, 0n]);
      expect(await buyer.spent()).toBe(PRICE);
      const licence = bought.headers.get('x-licence') ?? '';
      expect(await read(name, 'trio', GPTBOT, { authorization: `License ${licence}` })).toMatchObject({ status: 200 });
      expect(await buyer.again()).toMatchObject({ status: 200 });
      expect(await buyer.spent()).toBe(PRICE);
    },
  );

  test('an agent that does not pay gets an offer that no cache may keep, and a page for nobody is free', async () => {
    const refused = await read(name, 'trio', GPTBOT);
    expect(refused.status).toBe(402);
    expect(refused.headers.get('cache-control')).toBe('private, no-store');
    expect(refused.headers.get('crawler-price')).toBe('USD 0.001');
    expect(refused.text).not.toContain('<h1>trio</h1>');
    expect(await read(name, 'free', GPTBOT)).toMatchObject({ status: 200, text: pageOf('free') });
  });
});

describe.each(NAMES)('%s', (name) => {
  test('the host is proven by its file, and a token of nobody is not repeated', async () => {
    const ask = (what: string) =>
      fetch(`${apps.get(name)?.url}/.well-known/svc-challenge/${what}`, { headers: { 'user-agent': CHROME } });
    // Where the gate stands in front of pages alone, their server has to be told of this path: as Next is by its matcher.
    expect(token).not.toBe('');
    await expect.poll(async () => (await ask(token)).text()).toBe(token);
    expect((await ask('abcdefghijklmnop')).status).toBe(404);
  });
});

test.each(NAMES)(
  '%s: documents about the site stand where it has none of its own, and nothing in its name that nobody asked for',
  async (name) => {
    const ask = (path: string) => fetch(`${apps.get(name)?.url}${path}`, { headers: { 'user-agent': CHROME } });
    // Nobody waits long for a first copy.
    await expect.poll(async () => (await ask('/.well-known/x402.json')).status).toBe(200);
    expect(await (await ask('/.well-known/x402.json')).json()).toMatchObject({ x402Version: 2 });
    expect((await ask('/llms.txt')).status).toBe(404);
  },
);

describe.each(PLAIN_NAMES)('%s, beside the same app without a gate', (name) => {
  const as = async (url: string, [method, path, headers]: (typeof REQUESTS)[number]) => {
    const answer = await fetch(`${url}${path}`, { method, redirect: 'manual', headers: { 'user-agent': CHROME, ...headers } });
    const kept = [...answer.headers].filter(([one]) => one !== 'date' && one !== 'set-cookie');
    return { status: answer.status, headers: Object.fromEntries(kept), body: await answer.text() };
  };
  test('people and search engines get the same status, headers and body', async () => {
    const plain = await startApp(name, null);
    for (const request of REQUESTS)
      expect([request, await as(apps.get(name)?.url ?? '', request)]).toEqual([request, await as(plain.url, request)]);
    await plain.process.stop();
  });
});

test('what SvelteKit and Astro take for the page costs what the page costs: its data, and an address that is encoded twice', async () => {
  for (const [name, path] of [
    ['SvelteKit 3', '/articles/trio/__data.json'],
    ['Astro 7', '/articles/%2574rio'],
  ] as const) {
    const ask = async (userAgent: string) => {
      const answer = await fetch(`${apps.get(name)?.url}${path}`, { headers: { 'user-agent': userAgent } });
      return [answer.status, (await answer.text()).includes('trio')];
    };
    expect([name, await ask(CHROME)]).toEqual([name, [200, true]]);
    expect([name, (await ask(GPTBOT))[0]]).toEqual([name, 402]);
  }
});

test('what a site loads at first of the package, and of all that it needs, is small', async () => {
  const { build } = (await import(join(FOLDER, 'node_modules/esbuild/lib/main.js'))) as { readonly build: Build };
  const contents = "export { contentSettlement } from '@content-settlement/publisher/fetch';";
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: FOLDER },
    outdir: '.',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
  });
  // What is loaded when it is needed waits in files of its own.
  const first = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === '<stdin>')?.[0] ?? '';
  const loaded = new Set([first]);
  for (const name of loaded)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? []) if (kind === 'import-statement') loaded.add(path);
  const code = outputFiles.filter(({ path }) => [...loaded].some((name) => path.endsWith(`/${name}`)));
  expect(code.length).toBe(loaded.size);
  expect(gzipSync(Buffer.concat(code.map(({ contents: bytes }) => bytes))).length).toBeLessThanOrEqual(MOST_GZIPPED_BYTES);
});

test('a route handler of Next sells what it answers, and people read it', async () => {
  const url = `${apps.get('Next 16')?.url}/stories/trio`;
  const buyer = await newBuyer('v2');
  expect(await buyer.get(url)).toMatchObject({ status: 200, text: '<h1>trio</h1>' });
  expect(await buyer.spent()).toBe(PRICE);
  const person = await fetch(url, { headers: { 'user-agent': CHROME } });
  expect([person.status, await person.text()]).toEqual([200, '<h1>trio</h1>']);
});

/** What holds in each app however the service is away: readers have their pages, a licence opens, who pays waits without a new offer. */
async function expectReaders(name: StarterName): Promise<void> {
  const startedAt = performance.now();
  for (const userAgent of [CHROME, GOOGLEBOT]) {
    expect(await read(name, 'trio', userAgent)).toMatchObject({ status: 200, text: pageOf('trio') });
  }
  expect(performance.now() - startedAt).toBeLessThan(3_500); // a reader who waited for the service would wait for 2 s, each of the two
  // No quote was ever had for it: better read free than refused.
  expect(await read(name, 'duo', GPTBOT)).toMatchObject({ status: 200, text: pageOf('duo') });
  // Its quote is kept, so it is still for sale.
  expect((await read(name, 'trio', GPTBOT)).status).toBe(402);
}

async function expectPayerWaits(name: StarterName, buyer: Buyer): Promise<void> {
  const answer = await buyer.get(urlOf(name, 'trio'));
  expect([answer.status, answer.headers.get('payment-required')]).toEqual([503, null]);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(answer.text).not.toContain('accepts');
}

/** The service is away, and back: the payment that waited is taken once. */
async function playOutage(
  mode: Exclude<FrontMode, 'through'>,
  during: () => Promise<void> = async () => undefined,
): Promise<void> {
  const buyers = new Map<StarterName, Buyer>();
  for (const name of NAMES) {
    buyers.set(name, await newBuyer('v2'));
    expect((await read(name, 'trio', GPTBOT)).status).toBe(402); // a quote is kept from now on
  }
  front.mode = mode;
  await Promise.all(NAMES.map((name) => expectPayerWaits(name, buyers.get(name) as Buyer)));
  await Promise.all(NAMES.map(expectReaders));
  await during();
  front.mode = 'through';
  for (const name of NAMES) {
    const buyer = buyers.get(name) as Buyer;
    await expect.poll(async () => (await buyer.again()).status).toBe(200);
    expect((await buyer.again()).status).toBe(200);
    expect(await buyer.spent(), name).toBe(PRICE);
  }
}

describe('in each app at once', () => {
  test('the service hangs: readers have their pages at once, and a payment that it took in silence is charged once', () =>
    playOutage('hung'));

  test('the service answers 500: readers have their pages, and who pays is charged once, when it is back', () =>
    playOutage('broken'));

  test('the service is killed: readers have their pages, also of an app that starts now, and who pays is charged once, when it is back', () =>
    playOutage('killed', async () => {
      for (const api of service.apis) await api.kill();
      for (const name of NAMES) {
        const newcomer = await startApp(name, { url: front.url, key: site.key });
        const answer = await fetch(`${newcomer.url}/articles/trio`, { headers: { 'user-agent': CHROME } });
        expect([answer.status, await answer.text()]).toEqual([200, pageOf('trio')]);
        await newcomer.process.stop();
      }
      await service.startApi();
    }));

  test('the key is revoked: readers have their pages, and nobody is charged', async () => {
    const buyers = await Promise.all(NAMES.map(() => newBuyer('v1')));
    for (const name of NAMES) expect((await read(name, 'trio', GPTBOT)).status).toBe(402);
    const keys = await service.database.query<{ key_id: string }>('select key_id from api_key where tenant_id = $1', [
      site.tenantId,
    ]);
    for (const { key_id: keyId } of keys) await revokeKey(service, { tenantId: site.tenantId, keyId });
    await Promise.all(NAMES.map((name, at) => expectPayerWaits(name, buyers[at] as Buyer)));
    await Promise.all(NAMES.map(expectReaders));
    for (const buyer of buyers) expect(await buyer.spent()).toBe(0n);
  });

  test('every payment of these tests was settled once', async () => {
    const rows = await service.database.query<{ payer: string; paid: number }>(
      'select payer, count(*)::int as paid from crossing where tenant_id = $1 group by payer',
      [site.tenantId],
    );
    expect(rows.length).toBe(NAMES.length * (2 + 3) + 1);
    expect(rows.filter(({ paid }) => paid !== 1)).toEqual([]);
    expect(new Set(await moneyVerdicts(service, site))).toEqual(new Set(['paid']));
  });
});
