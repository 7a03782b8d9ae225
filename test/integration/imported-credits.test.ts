/** Pages whose authors came with their import: who is paid for them, and what an import, a removal and an outage change. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { removeImportedPages } from '../../modules/licences/store/offering.ts';
import { openCreditsBook } from '../../modules/quotes/use/credits/book.ts';
import { openImports } from '../../modules/quotes/use/credits/imports.ts';
import { readPriceEffect, readPriceList } from '../../modules/reports/use/priceList.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../modules/settlement/use/answer/receipt.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { rerouteToSandbox } from '../../process/sandboxWeb.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import { newAccount } from '../support/payments.ts';
import { query } from '../support/sql.ts';
import { payTo, receiptOf } from '../support/verifyApi.ts';

const [A, B, C] = WALLETS as [string, string, string];
const by = (wallet: string) => ({ contributors: [{ authorId: `author of ${wallet.slice(0, 6)}`, wallet }] });
const buyer = newAccount();

let web: SandboxWeb;
let outbound: Outbound;
let api: Awaited<ReturnType<typeof startTestApi>>;

beforeAll(async () => {
  web = await startSandboxWeb(0);
  outbound = createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) });
  api = await startTestApi({ outbound, settle: async (request) => settled(request) });
});
beforeEach(() => {
  Object.assign(api.time, { offsetMs: 0, stoppedAtMs: null });
});
afterAll(async () => {
  await api.stop();
  await web.close();
});

/** As the settlement service does: only what was signed for the recipient of the terms is taken. */
function settled(request: SettleRequest): SettleReceipt {
  if (request.payment.authorization.to === request.terms.payTo) return receiptOf(request);
  throw new PaymentError('authorization_invalid', 'the signed recipient is another one', 'cmVmdXNlZA==');
}

async function site(pricing: object = {}) {
  const base = { priceUsdc: '0.001', articlePrefixes: ['/articles/'] };
  const own = await api.site({ pricing: { ...base, ...pricing } as never });
  const { tenantId, key } = own;
  const ask = (slug: string) => api.request(`/_svc/quote?slug=${slug}`, { key });
  /** Who is paid for a page, or why nobody is asked to pay. */
  const paid = async (slug: string): Promise<string> => {
    const { status, body, headers } = await ask(slug);
    return status === 200 ? body.legs[0].toAddress.toLowerCase() : `${status} ${headers.get('x-svc-free-because')}`;
  };
  const bring = (
    pages: readonly { readonly slug: string; readonly path?: string; readonly title?: string; readonly credits?: object }[],
  ) => importPages(api.deps, { tenantId, pages: pages.map((page) => ({ path: `/articles/${page.slug}`, ...page })) });
  return { ...own, ask, paid, bring };
}

const NOBODY = '204 no_credits';

test('a page that is imported with authors is sold for them, wherever it was imported; one without authors stays free', async () => {
  const { ask, paid, bring } = await site();
  expect(await paid('told')).toBe(NOBODY);
  await bring([
    { slug: 'told', title: 'Told', credits: by(A) },
    { slug: 'silent' },
    { slug: 'n-7', path: '/articles/by-path', credits: by(B) },
  ]);
  await expect.poll(() => paid('told')).toBe(A);
  expect((await ask('told')).body.title).toBe('Told');
  expect([await paid('silent'), await paid('n-7'), await paid('by-path'), await paid('never')]).toEqual([
    NOBODY,
    NOBODY,
    B,
    NOBODY,
  ]);
});

test('inline credits come before those of an import, these before the credits API, and the default payee last', async () => {
  const creditsApiUrl = 'https://credits.sandbox.example/v1';
  const says = { host: 'credits.sandbox.example', path: '/v1/credits/asked', body: JSON.stringify(by(C)) };
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify(says) });
  const house = { authorId: 'house', wallet: WALLETS[3] };
  const { paid, bring } = await site({ creditsInline: { named: by(A) }, creditsApiUrl, defaultPayee: house });
  await bring([{ slug: 'named', credits: by(B) }, { slug: 'told', credits: by(B) }, { slug: 'asked' }, { slug: 'silent' }]);
  await expect.poll(() => paid('told')).toBe(B);
  expect([await paid('named'), await paid('asked'), await paid('silent')]).toEqual([A, C, WALLETS[3]]);
});

test('after an import or a removal a payment to the former authors is theirs for ten minutes, and no longer', async () => {
  const { tenantId, host, key, ask, paid, bring } = await site({ defaultPayee: { authorId: 'house', wallet: C } });
  const verify = async (to: string) => {
    const quote = (await ask('told')).body;
    const payment = await payTo(api, buyer, to, 1_000);
    return (await api.post('/_svc/verify', key, { payment, quote, legs: quote.legs, resource: `https://${host}/articles/told` }))
      .status;
  };
  const house = (await ask('told')).body.payTo;
  await bring([{ slug: 'told', credits: by(A) }]);
  await expect.poll(() => paid('told')).toBe(A);
  expect(await verify(house)).toBe(200);
  const first = (await ask('told')).body.payTo;
  await bring([{ slug: 'told', credits: by(B) }]);
  await expect.poll(() => paid('told')).toBe(B);
  expect(await verify(first)).toBe(200);
  const second = (await ask('told')).body.payTo;
  expect(await removeImportedPages(api.deps.database, tenantId, ['told', 'never'])).toBe(1);
  await expect.poll(() => paid('told')).toBe(C);
  expect([await verify(second), await verify(first)]).toEqual([200, 402]);
  api.time.offsetMs = 601_000;
  expect([await verify(second), await verify(house)]).toEqual([402, 200]);
});

test('an import that cannot be read makes its page an outage, neither free nor the default payee’s', async () => {
  const { tenantId, bring } = await site({ defaultPayee: { authorId: 'house', wallet: C } });
  await bring([{ slug: 'told', credits: by(A) }]);
  const { database, log } = api.deps;
  const time = { nowMs: 0 };
  const book = openCreditsBook({ database, outbound, secretBox: api.secretBox, clock: () => time.nowMs, log, forbidden: [] });
  const page = { tenantId, slug: 'told', path: '/articles/told', apiUrl: null, catalogueVersion: 2 };
  await query(api.urls.ownerUrl, 'alter table imported_page rename to away');
  await book.load(page);
  await query(api.urls.ownerUrl, 'alter table away rename to imported_page');
  expect(book.find(page)).toBe('failed');
  time.nowMs = 10_000;
  expect(book.find(page)).toBeUndefined();
  await book.load(page);
  expect(book.find(page)).toMatchObject({ authors: [{ wallet: A }] });
});

test('paths that addresses invent are refused after a hundred of each, and keep nobody else from imported credits', async () => {
  const { tenantId, bring } = await site();
  await bring([{ slug: 'told', credits: by(A) }]);
  const { database, log } = api.deps;
  const book = openCreditsBook({ database, outbound, secretBox: api.secretBox, clock: () => 0, log, forbidden: [] });
  const page = (slug: string) => ({ tenantId, slug, path: `/articles/${slug}`, apiUrl: null, catalogueVersion: 2 });
  const invent = (at: number) => book.load(page(`invented-${at}`), { address: `192.0.2.${10 + (at % 6)}` });
  const outcomes = await Promise.allSettled(Array.from({ length: 780 }, (_, at) => invent(at)));
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused).toHaveLength(180);
  expect(refused[0]?.reason).toMatchObject({ code: 'credits_unavailable' });
  await book.load(page('told'), { address: '192.0.2.2' });
  expect(book.find(page('told'))).toMatchObject({ authors: [{ wallet: A }] });
  await book.load(page('invented-779')); // its own gate
  expect(book.find(page('invented-779'))).toBe('none');
});

test('paths that name nobody, however many are invented at one site, take no imported page of another out of memory', async () => {
  const [seller, flooded] = [await site(), await site()];
  await seller.bring([{ slug: 'kept', credits: by(A) }]);
  await flooded.bring([{ slug: 'own', credits: by(B) }]);
  let reads = 0;
  const counted = (...given: Parameters<Database['query']>) => {
    reads += 1;
    return api.deps.database.query(...given);
  };
  const database = { ...api.deps.database, query: counted as Database['query'] };
  const imports = openImports({ database, clock: Date.now, log: api.deps.log, pauseMs: 1_000, mostHeld: 20 });
  const at = ({ tenantId }: { readonly tenantId: string }, slug: string) => ({
    ...{ tenantId, path: `/articles/${slug}`, catalogueVersion: 1 },
  });
  const load = (page: ReturnType<typeof at>) => imports.load(page, () => undefined);
  await load(at(seller, 'kept'));
  for (let n = 0; n < 40; n += 1) await load(at(flooded, `invented-${n}`));
  expect(imports.find(at(seller, 'kept'))).toMatchObject({ authors: [{ wallet: A }] });
  const before = reads;
  await load(at(seller, 'kept'));
  await load(at(flooded, 'invented-39'));
  expect(reads).toBe(before);
  await load(at(flooded, 'invented-0')); // forgotten, and read again
  expect(reads).toBe(before + 1);
});

test('the price list and the effect of a price say that imported pages with authors cost something', async () => {
  const { tenantId, bring } = await site();
  await bring([{ slug: 'told', credits: by(A) }, { slug: 'silent' }]);
  const deps = { ...api.deps, reading: api.deps.database };
  const { pages } = await readPriceList(deps, tenantId);
  expect(pages.map(({ slug, price }) => [slug, price.state, price.readMicro])).toEqual([
    ['silent', 'free', null],
    ['told', 'priced', 1_000n],
  ]);
  const { steps } = await readPriceEffect(deps, tenantId, { pricing: { priceUsdc: '0.002' } });
  expect(steps.map(({ before, after, paths }) => [before.readMicro, after.readMicro, paths])).toEqual([
    [null, null, ['/articles/silent']],
    [1_000n, 2_000n, ['/articles/told']],
  ]);
});
