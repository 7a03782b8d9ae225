/** One price for every form of a page: what the service says of an address that is a form of an article, over REST and over MCP. */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { setEnforcement } from '../../modules/gate/use/enforcement.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING, startTestApi, WALLETS } from '../support/api.ts';
import { sellLicence } from '../support/buyers.ts';
import { mcpClients, openPages } from '../support/mcp.ts';
import { ruleOf } from '../support/rules/arbitrary.ts';
import { payTo, receiptOf } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let pages: Awaited<ReturnType<typeof openPages>>;
let site: Awaited<ReturnType<typeof api.site>>;
const settled: SettleRequest[] = [];
beforeAll(async () => {
  pages = await openPages();
  api = await startTestApi({
    outbound: pages.outbound,
    settle: async (request) => {
      await request.lastLook?.({ hasMoved: false });
      settled.push(request);
      return { ...receiptOf(request), responseHeader: Buffer.from('{"success":true}').toString('base64') };
    },
  });
  site = await api.site();
});
afterAll(async () => {
  await api?.stop();
  await pages?.close();
});

const ENDINGS = ['', '/', '.md', '.txt', '.json', '.html', '.htm', '/index.html', '/amp', '/print', '/feed', '?amp=1'];
const buyer = privateKeyToAccount(generatePrivateKey());
const { ask } = mcpClients(() => api.url);
const quoteOn = async (of: { readonly host: string; readonly key: string }, path: string) =>
  api.request(`/_svc/quote?resource=${encodeURIComponent(`https://${of.host}${path}`)}`, { key: of.key });
const slugOn = async (of: { readonly host: string; readonly key: string }, path: string) => {
  const { status, body } = await quoteOn(of, path);
  return status === 204 ? 'free' : body.slug;
};
/** A token of a licence that covers one path. */
const licenceFor = async (path: string): Promise<string> => {
  const { token, accountId } = await createBuyerAccount(api.deps);
  const wanted = { host: site.host, scope: [path], terms: ['search'], periodDays: 1, kind: 'read' as const };
  const { jti } = await sellLicence(api, accountId, wanted);
  return (await api.post(`/_svc/licenses/${jti}/access`, token, { paths: [path] })).body.license;
};

describe.each(ENDINGS)('as /articles/trio%s', (ending) => {
  const path = `/articles/trio${ending}`;
  const url = () => `https://${site.host}${path}`;
  const plain = () => `https://${site.host}/articles/trio`;

  test('a page is quoted as the article, by REST and by MCP', async () => {
    const { body } = await quoteOn(site, path);
    expect(body).toMatchObject({ price: 1_000, slug: 'trio' });
    expect(new URL(body.resource).pathname.replace(/\/$/, '')).toBe('/articles/trio');
    const told = (await ask({ name: 'quote_page', arguments: { url: url() } })).structuredContent;
    expect(told).toMatchObject({ state: 'priced', priceMicro: 1_000, url: body.resource });
  });

  test('a payment for it is taken with either address, and is one for the article', async () => {
    const { body } = await quoteOn(site, path);
    for (const resource of [body.resource, url()]) {
      const payment = await payTo(api, privateKeyToAccount(generatePrivateKey()), body.payTo, 1_000);
      const paid = await api.post('/_svc/verify', site.key, { payment, quote: body, legs: body.legs, resource });
      expect(paid.body).toMatchObject({ ok: true });
      expect(settled.at(-1)?.terms).toMatchObject({ slug: 'trio', resourceKey: `${site.host}/articles/trio` });
    }
  });

  test('a licence of the article covers it, named with its own slug or the article’s; another licence does not', async () => {
    const [own, other] = [await licenceFor('/articles/trio'), await licenceFor('/articles/solo')];
    const check = async (license: string, slug: string) =>
      (await api.post('/_svc/license/check', site.key, { license, resource: url(), slug })).body.entitled;
    const named = decodeURIComponent(new URL(url()).pathname.slice('/articles/'.length)).replace(/\/$/, '');
    expect([await check(own, 'trio'), await check(own, named), await check(own, 'solo')]).toEqual([true, true, false]);
    expect([await check(other, 'trio'), await check(other, named)]).toEqual([false, false]);
  });

  test('over MCP it is offered unpaid, bought as the article, and read again by a licence of it', async () => {
    const args = { url: url(), kind: 'read' };
    const offered = await ask({ name: 'buy_page', arguments: args });
    expect(offered.structuredContent.accepts[0].amount).toBe('1000');
    expect(offered.structuredContent.resource.url.replace(/\/$|\?.*/, '')).toBe(plain());
    const payment = await payTo(api, buyer, offered.structuredContent.accepts[0].payTo, 1_000);
    const bought = await ask({ name: 'buy_page', arguments: args, _meta: { 'x402/payment': payment } });
    expect(bought.structuredContent).toMatchObject({ state: 'bought', chargedMicro: 1_000 });
    expect(settled.at(-1)?.terms).toMatchObject({ slug: 'trio', resourceKey: `${site.host}/articles/trio` });
    const license = await licenceFor('/articles/trio');
    const held = await ask({ name: 'read_held', arguments: { url: url(), license } });
    expect(held.structuredContent).toMatchObject({ state: 'held' });
    const foreign = await ask({ name: 'read_held', arguments: { url: url(), license: await licenceFor('/articles/solo') } });
    expect(foreign.structuredContent).toMatchObject({ state: 'not_held' });
  });
});

test('a form may be named with the slug of its article, and with none of another', async () => {
  const resource = encodeURIComponent(`https://${site.host}/articles/trio.md`);
  const ask = (slug: string) => api.request(`/_svc/quote?resource=${resource}&slug=${slug}`, { key: site.key });
  expect([(await ask('trio')).body.slug, (await ask('trio.md')).body.slug, (await ask('solo')).status]).toEqual([
    'trio',
    'trio',
    400,
  ]);
});

test('an address that the site names is a page of its own: with authors, free or imported; a price rule may free or close a form', async () => {
  const contributors = [{ authorId: 'ann', wallet: WALLETS[0] as string }];
  const own = await api.site({
    pricing: {
      ...ALPHA_PRICING,
      creditsInline: { ...ALPHA_PRICING.creditsInline, 'trio.md': { contributors }, 'page.html': { contributors } },
      creditsFreeSlugs: ['free', 'trio.txt'],
      rules: [
        ruleOf({ id: 'data', path: '/articles/duo.json$', effect: { price: '0.5' } }),
        ruleOf({ id: 'given', path: '/articles/duo.txt$', effect: 'free' }),
        ruleOf({ id: 'closed', path: '/articles/duo/amp$', effect: 'refuse' }),
        ruleOf({ id: 'operator', path: '/articles/duo.md$', operators: ['friend.example'], effect: 'free' }),
      ],
    },
  });
  expect(await slugOn(own, '/articles/trio.md')).toBe('trio.md');
  expect(await slugOn(own, '/articles/trio.txt')).toBe('free');
  expect(await slugOn(own, '/articles/trio.json')).toBe('trio');
  // A rule may give a form away, or to nobody; a price of its own no form of a named article has.
  expect([await slugOn(own, '/articles/duo.txt'), await slugOn(own, '/articles/duo.md')]).toEqual(['free', 'duo']);
  expect((await quoteOn(own, '/articles/duo.json')).body).toMatchObject({ slug: 'duo', price: 1_000 });
  expect((await quoteOn(own, '/articles/duo/amp')).headers.get('x-svc-error-code')).toBe('agent_refused');
  // A site with .html in its addresses has its Markdown beside them.
  expect(await slugOn(own, '/articles/page.md')).toBe('page.html');
  expect(await slugOn(own, '/articles/page.html.md')).toBe('page.html');
  await importPages(api.deps, {
    tenantId: own.tenantId,
    pages: [{ path: '/articles/solo.md', slug: 'solo.md', credits: { contributors } }],
  });
  await expect.poll(() => slugOn(own, '/articles/solo.md')).toBe('solo.md');
  expect(await slugOn(own, '/articles/solo.txt')).toBe('solo');
});

test('a free page is free in every form, and so is one that nobody is named for', async () => {
  for (const ending of ENDINGS) {
    expect([ending, await slugOn(site, `/articles/free${ending}`)]).toEqual([ending, 'free']);
    expect([ending, await slugOn(site, `/articles/unknown${ending}`)]).toEqual([ending, 'free']);
  }
});

test('where a default payee sells what nobody is named for, the sure forms share a price; .html and /feed may be the page’s one address', async () => {
  const own = await api.site();
  const pricing = { ...ALPHA_PRICING, defaultPayee: { authorId: 'house', wallet: WALLETS[0] as string } };
  await setPricing(api.deps, { tenantId: own.tenantId, pricing });
  const slugs = ['', '.md', '/amp', '/print', '.html', '/feed'].map((ending) => slugOn(own, `/articles/other${ending}`));
  expect(await Promise.all(slugs)).toEqual(['other', 'other', 'other', 'other', 'other.html', 'other/feed']);
  expect(await slugOn(own, '/articles/trio.html')).toBe('trio');
});

test('a form of a form has the price that a rule gives the form, where nobody is named for it', async () => {
  const own = await api.site();
  const pricing = {
    ...ALPHA_PRICING,
    defaultPayee: { authorId: 'house', wallet: WALLETS[0] as string },
    rules: [ruleOf({ id: 'print', path: '/articles/other/print$', effect: { price: '5' } })],
  };
  await setPricing(api.deps, { tenantId: own.tenantId, pricing });
  for (const ending of ['', '/index.html', '.md']) {
    const { body } = await quoteOn(own, `/articles/other/print${ending}`);
    expect([ending, body.slug, body.price]).toEqual([ending, 'other/print', 5_000_000]);
  }
  expect(await slugOn(own, '/articles/other/amp/index.html')).toBe('other');
});

test('the site changes its forms, sees them in enforce-config, and every price follows', async () => {
  const own = await api.site();
  const change = (forms: readonly string[]) =>
    setEnforcement(api.deps, { tenantId: own.tenantId, settings: { ...DEFAULT_ENFORCEMENT, forms } });
  const formsNow = async () => (await api.request('/_svc/enforce-config', { key: own.key })).body.enforcement.forms;
  expect(await formsNow()).toEqual(DEFAULT_ENFORCEMENT.forms);
  await change(['.MD', '/embed']);
  expect(await formsNow()).toEqual(['.md', '/embed']);
  await expect.poll(() => slugOn(own, '/articles/trio/embed')).toBe('trio');
  expect([await slugOn(own, '/articles/trio.md'), await slugOn(own, '/articles/trio.txt')]).toEqual(['trio', 'free']);
  await change([]);
  await expect.poll(() => slugOn(own, '/articles/trio.md')).toBe('free');
  await expect(change(['md'])).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('what an agent reads for its price is told with the price, once the service has handed the page on', async () => {
  const own = await api.site();
  const actor = { userId: 'owner', via: 'token' as const };
  await setSiteDiscovery(api.deps, { actor, tenantId: own.tenantId }, { summary: 'Articles', tags: [], relays: true });
  const url = `https://${own.host}/articles/duo`;
  const quote = async () => (await ask({ name: 'quote_page', arguments: { url } })).structuredContent;
  expect(await quote()).not.toHaveProperty('tokens');
  const offer = (await ask({ name: 'buy_page', arguments: { url } })).structuredContent;
  const payment = await payTo(api, privateKeyToAccount(generatePrivateKey()), offer.accepts[0].payTo, 1_000);
  const bought = await ask({ name: 'buy_page', arguments: { url }, _meta: { 'x402/payment': payment } });
  const { text } = bought.content[1].resource;
  expect((await quote()).tokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
});
