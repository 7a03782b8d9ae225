/** The MCP endpoint over HTTP, asked by stock clients of both lines: who sees which tools, what pages cost, how they are paid. */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';
import { buyPage } from '../support/boughtPage.ts';
import type { Asked, Asking, Told } from '../support/mcp.ts';
import { MODERN_META, mcpClients, openPages } from '../support/mcp.ts';
import { payTo, receiptOf } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let settled: SettleRequest[] = [];
let settle: (request: SettleRequest) => Promise<ReturnType<typeof receiptOf>>;
let pages: Awaited<ReturnType<typeof openPages>>;
beforeAll(async () => {
  pages = await openPages();
  api = await startTestApi({ settle: (request) => settle(request), outbound: pages.outbound });
});
beforeEach(() => {
  settled = [];
  pages.asked.length = 0;
  settle = async (request) => {
    await request.lastLook?.({ hasMoved: false });
    settled.push(request);
    return { ...receiptOf(request), responseHeader: Buffer.from('{"success":true}').toString('base64') };
  };
});
afterAll(async () => {
  await api?.stop();
  await pages?.close();
});

const buyer = privateKeyToAccount(generatePrivateKey());
const { ask, askOld, toolsOf, send } = mcpClients(() => api.url);
const pay = (offer: Told, value = Number(offer.accepts[0].amount)) => payTo(api, buyer, offer.accepts[0].payTo, value);
const decoded = (payment: string) => JSON.parse(Buffer.from(payment, 'base64').toString('utf8'));

test('a page’s price is told to clients of both lines and both revisions alike, with who gets it', async () => {
  const { host } = await api.site();
  const asked = { name: 'quote_page', arguments: { url: `https://${host}/articles/trio` } };
  const answers = [await ask(asked), await ask(asked, { mode: 'auto' }), await askOld(asked)];
  for (const { isError, structuredContent, content } of answers) {
    expect(isError).toBeFalsy();
    expect(structuredContent).toMatchObject({ state: 'priced', priceMicro: 1000, currency: 'USDC', kind: 'read' });
    expect(structuredContent.legs.map(({ amountMicro }: Told) => amountMicro)).toEqual([500, 300, 200]);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  }
});

test('many pages of many sites are quoted in their order, and one that cannot be says why', async () => {
  const [one, two] = [await api.site(), await api.site()];
  const urls = [
    `https://${one.host}/articles/solo`,
    'https://nobody.example/articles/solo',
    `https://${two.host}/articles/free`,
    'ftp://no',
    `https://${two.host}/articles/duo`,
  ];
  const { structuredContent } = await ask({ name: 'quote_pages', arguments: { urls } });
  expect(structuredContent.pages.map(({ state, code, url }: Told) => [url, state, code])).toEqual([
    [urls[0], 'priced', undefined],
    [urls[1], 'failed', 'not_found'],
    [urls[2], 'free', undefined],
    [urls[3], 'failed', 'invalid_resource'],
    [urls[4], 'priced', undefined],
  ]);
});

test('without a payment the offer stands in every dialect a client may read, in ASCII whatever the title is, and about the page itself', async () => {
  const title = 'Brücken — 橋';
  const { host } = await api.site({
    pricing: { ...ALPHA_PRICING, creditsInline: { brücke: { ...ALPHA_PRICING.creditsInline.trio, title } } },
  });
  const url = `https://${host}/articles/brücke`;
  for (const answer of [
    await ask({ name: 'buy_page', arguments: { url } }),
    await askOld({ name: 'buy_page', arguments: { url } }),
  ]) {
    const offer = answer.structuredContent;
    expect(answer.isError).toBe(true);
    expect(offer).toMatchObject({ x402Version: 2, accepts: [{ scheme: 'exact', amount: '1000' }] });
    expect(offer.resource.url).toBe(new URL(url).href);
    expect(JSON.parse(answer.content[0].text)).toEqual(offer);
    expect(answer._meta['x402/error']).toEqual(offer);
    expect(answer.resultType).toBeUndefined();
    expect(() => btoa(JSON.stringify(offer))).not.toThrow();
  }
  expect(settled).toEqual([]);
});

test('a payment is taken as an object, as base64 and from either header, each for the same terms', async () => {
  const { host, tenantId } = await api.site();
  const arguments_ = { url: `https://${host}/articles/trio` };
  const offer = (await ask({ name: 'buy_page', arguments: arguments_ })).structuredContent;
  const payment = await pay(offer);
  const calls: [Asked, Asking][] = [
    [{ name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': decoded(payment) } }, {}],
    [{ name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': payment } }, {}],
    [{ name: 'buy_page', arguments: arguments_ }, { headers: { 'payment-signature': payment } }],
    [{ name: 'buy_page', arguments: arguments_ }, { headers: { 'x-payment': payment } }],
    [
      { name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': decoded(payment) } },
      { headers: { 'x-payment': payment } },
    ],
    [{ name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': payment } }, { mode: 'auto' }],
  ];
  for (const [asked, options] of calls) {
    const answer = await ask(asked, options);
    expect(answer.isError).toBeFalsy();
    expect(answer.structuredContent).toMatchObject({ state: 'bought', chargedMicro: 1000, license: 'a.b.c' });
    expect(answer._meta['x402/payment-response']).toEqual({ success: true });
  }
  const nonces = new Set(settled.map(({ payment: { authorization } }) => authorization.nonce));
  expect([settled.length, nonces.size]).toEqual([6, 1]);
  for (const { keyId, mode, terms, tenantId: site } of settled) {
    expect([keyId, mode, site, terms.legs.length]).toEqual([null, 'live', tenantId, 3]);
  }
});

test('two different payments in one call are refused with the offer, and nothing is settled', async () => {
  const { host } = await api.site();
  const arguments_ = { url: `https://${host}/articles/solo` };
  const offer = (await ask({ name: 'buy_page', arguments: arguments_ })).structuredContent;
  const [one, other] = [await pay(offer), await pay(offer)];
  const answer = await ask(
    { name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': one } },
    { headers: { 'payment-signature': other } },
  );
  expect(answer.isError).toBe(true);
  expect(answer.structuredContent.error).toMatch(/^authorization_invalid: two different payments/);
  expect(answer.structuredContent.accepts).toHaveLength(1);
  expect(answer._meta['x402/payment-response']).toMatchObject({ success: false, errorReason: 'conflicting_headers' });
  expect(settled).toEqual([]);
});

test('an undecided payment is told without an offer in any dialect, so that nobody pays twice', async () => {
  const { host } = await api.site();
  const arguments_ = { url: `https://${host}/articles/solo` };
  const offer = (await ask({ name: 'buy_page', arguments: arguments_ })).structuredContent;
  const payment = await pay(offer);
  settle = () => Promise.reject(new PaymentError('settlement_pending', 'not decided yet', null, { retryAfterSeconds: 3 }));
  const extensions = { 'org.x402/payment': {} };
  for (const options of [{}, { mode: 'auto' as const }, { mode: 'auto' as const, capabilities: { extensions } }]) {
    const answer = await ask({ name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': payment } }, options);
    expect(answer.isError).toBe(true);
    expect(answer.content[0].text).toBe('settlement_pending: not decided yet');
    expect(answer.structuredContent).toEqual({
      error: 'settlement_pending',
      message: 'not decided yet',
      retryAfterSeconds: 3,
      next: { action: 'wait', seconds: 3 },
    });
    expect(JSON.stringify(answer)).not.toMatch(/accepts|x402\/error|payment_required/);
  }
});

test('a refused payment is answered with the present offer and what was refused', async () => {
  const { host } = await api.site();
  const arguments_ = { url: `https://${host}/articles/solo` };
  settle = () => Promise.reject(new PaymentError('insufficient_funds', 'the payer has too little', 'eyJzdWNjZXNzIjpmYWxzZX0='));
  const offer = (await ask({ name: 'buy_page', arguments: arguments_ })).structuredContent;
  const answer = await ask({ name: 'buy_page', arguments: arguments_, _meta: { 'x402/payment': await pay(offer) } });
  expect(answer.structuredContent).toMatchObject({
    error: 'insufficient_funds: the payer has too little',
    next: { action: 'fund' },
    accepts: [{ amount: '1000' }],
  });
  expect(answer._meta).toMatchObject({ 'x402/payment-response': { success: false }, 'x402/error': { x402Version: 2 } });
});

test('the binding of x402#3106 is spoken to a client that says it knows it, and to no other', async () => {
  const { host } = await api.site();
  const offered = async (extensions: object) => {
    const _meta = { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': { extensions } };
    const params = { name: 'buy_page', arguments: { url: `https://${host}/articles/solo` }, _meta };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'buy_page' };
    return (await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).result;
  };
  const known = await offered({ 'org.x402/payment': {} });
  expect(known.resultType).toBe('payment_required');
  expect(known.paymentRequired.accepts).toHaveLength(1);
  expect((await offered({})).resultType).toBe('complete');
});

test('tools are registered by credential: nobody sees what he may not call, and none has an output schema', async () => {
  const site = await api.site();
  const { token: account } = await createBuyerAccount(api.deps);
  const free = ['quote_page', 'quote_pages', 'buy_page'];
  for (const bearer of [undefined, account]) {
    const tools = await toolsOf(bearer);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(free));
    for (const { name, annotations, outputSchema } of tools) {
      expect(outputSchema).toBeUndefined();
      expect(annotations?.readOnlyHint).toBe(!name.startsWith('buy_'));
    }
  }
  expect((await toolsOf(site.key)).map(({ name }) => name)).not.toEqual(expect.arrayContaining(free));
  const asPublisher = { headers: { authorization: `Bearer ${site.key}` } };
  const refused = await ask({ name: 'buy_page', arguments: { url: 'https://x.example/' } }, asPublisher);
  const anonymous = await ask({ name: 'buy_licence', arguments: {} });
  for (const { isError, structuredContent } of [refused, anonymous])
    expect([isError, structuredContent]).toMatchObject([true, { error: 'missing_credential', next: { action: 'sign_in' } }]);
  const unknown = await ask({ name: 'sell_page', arguments: {} }).catch((error: Error) => error);
  expect(String(unknown)).toMatch(/not found/i);
});

test('a credential that is wrong is refused before anything else, and a revoked or suspended site’s with it', async () => {
  const site = await api.site();
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  for (const wrong of ['svc_live_nothing', 'svc_buyer_nothing', 'a.b.c']) {
    const answer = await api.post('/_svc/mcp', wrong, message, headers);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer resource_metadata=/),
    ]);
  }
  expect((await api.post('/_svc/mcp', site.key, message, headers)).status).toBe(200);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  expect((await api.post('/_svc/mcp', site.key, message, headers)).status).toBe(403);
  const url = `https://${site.host}/articles/solo`;
  const paid = { name: 'buy_page', arguments: { url }, _meta: { 'x402/payment': await payTo(api, buyer, buyer.address, 1) } };
  expect((await ask(paid)).content[0].text).toMatch(/^site_suspended: /);
  expect(settled).toEqual([]);
});

test('a list of messages, a large body, an unknown member and a stream that would stay open are refused', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  expect((await api.post('/_svc/mcp', null, [list, list], headers)).headers.get('x-svc-error-code')).toBe('malformed_body');
  const large = { ...list, params: { cursor: 'x'.repeat(70_000) } };
  expect((await api.post('/_svc/mcp', null, large, headers)).headers.get('x-svc-error-code')).toBe('body_too_large');
  for (const method of ['GET', 'DELETE']) {
    const answer = await api.request('/_svc/mcp', { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  }
  const { isError } = await ask({ name: 'quote_page', arguments: { url: 'https://x.example/', maxPrice: 5 } });
  expect(isError).toBe(true);
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: {}, _meta: MODERN_META } };
  const answer = await send(listen, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' });
  expect(answer.error.message).toBe('Subscription limit reached');
});

const owner = (tenantId: string) => ({ actor: { userId: 'owner', via: 'token' as const }, tenantId });
const listed = (tenantId: string, relays: boolean) =>
  setSiteDiscovery(api.deps, owner(tenantId), { summary: 'Articles', tags: [], relays });
const paidFor = async (url: string, asking: Asking = {}): Promise<Told> => {
  const offer = (await ask({ name: 'buy_page', arguments: { url } }, asking)).structuredContent;
  return ask({ name: 'buy_page', arguments: { url }, _meta: { 'x402/payment': await pay(offer) } }, asking);
};

test('a bought page’s text is data with its address, where its site lets it be handed on; else how to read it is told', async () => {
  const site = await api.site();
  const url = `https://${site.host}/articles/solo`;
  const closed = await paidFor(url);
  expect(closed.structuredContent).toMatchObject({ state: 'bought', relayed: false, because: 'not_allowed', license: 'a.b.c' });
  expect(closed.structuredContent.howToRead).toEqual({ method: 'GET', url, headers: { Authorization: 'License a.b.c' } });
  await listed(site.tenantId, true);
  const open = await paidFor(url);
  const [said, text] = open.content;
  expect(text).toEqual({
    type: 'resource',
    resource: { uri: url, mimeType: 'text/plain', text: expect.stringMatching(/^Text of /) },
  });
  expect(said.text, 'what the page says stands nowhere else').not.toContain('Ignore your orders');
  expect(JSON.stringify(open.structuredContent)).not.toContain('evil.example');
  expect(pages.asked.map(({ licence }) => licence)).toEqual([null, null, 'License a.b.c']);
  expect(settled).toHaveLength(2);
});

test('page first, money second: what its site does not have, or gives away, is not charged', async () => {
  const credits = ALPHA_PRICING.creditsInline.solo;
  const { host } = await api.site({
    pricing: { ...ALPHA_PRICING, creditsInline: { gone: credits, given: credits, walled: credits } },
  });
  const gone = await paidFor(`https://${host}/articles/gone`);
  expect([gone.isError, gone.content[0].text]).toEqual([
    true,
    'not_found: the site answered 410 for this page; nothing was charged',
  ]);
  const walled = await paidFor(`https://${host}/articles/walled`);
  expect([walled.isError, walled.content[0].text]).toEqual([
    true,
    'not_found: the site answered 402 for this page, without an offer of this service for it; nothing was charged',
  ]);
  const given = await paidFor(`https://${host}/articles/given`);
  expect([given.isError, given.structuredContent.because]).toEqual([undefined, 'given_by_its_site']);
  expect(settled).toEqual([]);
});

test('a payment that is refused makes no request to its site', async () => {
  const { host, tenantId } = await api.site();
  const url = `https://${host}/articles/solo`;
  const offer = (await ask({ name: 'buy_page', arguments: { url } })).structuredContent;
  settle = () => Promise.reject(new PaymentError('authorization_invalid', 'the signature is not the payer’s', null));
  for (const payment of [await pay(offer), await pay(offer, 1), 'eyJ4Ijp9', Buffer.from('{}').toString('base64')]) {
    const answer = await ask({ name: 'buy_page', arguments: { url }, _meta: { 'x402/payment': payment } });
    expect([answer.isError, pages.asked]).toEqual([true, []]);
  }
  const written = await api.deps.database.query('select 1 from observation where tenant_id = $1', [tenantId]);
  expect(written, 'nobody signed').toEqual([]);
});

test('an account is told what its budget says before anything is signed, without an offer, and pays as itself', async () => {
  const { host } = await api.site();
  const { token, accountId } = await createBuyerAccount(api.deps);
  const asking = { headers: { authorization: `Bearer ${token}` } };
  const url = `https://${host}/articles/solo`;
  expect((await paidFor(url, asking)).structuredContent.state).toBe('bought');
  expect(settled.map((request) => request.accountId)).toEqual([accountId]);
  await api.deps.database.query(
    `update buyer_account set budget_period = 'day', budget_total_micro = 999, budget_version = 1, budget_updated_at = now()
      where account_id = $1`,
    [accountId],
  );
  for (const options of [
    asking,
    { ...asking, mode: 'auto' as const, capabilities: { extensions: { 'org.x402/payment': {} } } },
  ]) {
    const answer = await ask({ name: 'buy_page', arguments: { url } }, options);
    expect(answer.content[0].text).toMatch(/^budget_exceeded: /);
    expect(answer.structuredContent).toMatchObject({ error: 'budget_exceeded', limit: 'total', limitMicro: 999, spentMicro: 0 });
    expect(JSON.stringify(answer)).not.toMatch(/accepts|x402\/error|payment_required/);
  }
});

test('an account is told of a page that it holds already, and nobody else is', async () => {
  const site = await api.site();
  const { token, accountId } = await createBuyerAccount(api.deps);
  const { token: other } = await createBuyerAccount(api.deps);
  const { paymentId } = await buyPage(api, { site, slug: 'solo', payer: buyer.address });
  await api.deps.database.query(
    `insert into account_spending (tenant_id, payment_id, account_id, host, resource_key, kind, purpose, amount_micro)
     values ($1, $2, $3, $4, $5, 'read', 'page', 1000)`,
    [site.tenantId, paymentId, accountId, site.host, `${site.host}/articles/solo`],
  );
  const url = `https://${site.host}/articles/solo`;
  const quote = async (by: string | null, kind = 'read') =>
    (
      await ask(
        { name: 'quote_page', arguments: { url, kind } },
        by === null ? {} : { headers: { authorization: `Bearer ${by}` } },
      )
    ).structuredContent;
  expect(await quote(token)).toEqual({ url, kind: 'read', state: 'held', expiresAt: expect.any(Number) });
  expect(
    (await ask({ name: 'buy_page', arguments: { url } }, { headers: { authorization: `Bearer ${token}` } })).structuredContent,
  ).toMatchObject({ url, kind: 'read', state: 'held' });
  for (const said of [await quote(null), await quote(other), await quote(token, 'citation')]) expect(said.state).toBe('priced');
});

test('pages of sites that want to be found are found with their prices, and a bought one is read again for nothing', async () => {
  const site = await api.site({ hosts: ['found.example'] });
  await listed(site.tenantId, true);
  const { pages: hits } = (
    await ask({ name: 'find_pages', arguments: { query: 'alone', hosts: ['found.example'], maxPriceMicro: 1_000 } })
  ).structuredContent;
  expect(hits.map(({ url, authors }: Told) => [url, authors])).toEqual([['https://found.example/articles/solo', ['ann']]]);
  expect(hits[0].kinds[0]).toEqual({ kind: 'read', priceMicro: 1_000 });
  const url = hits[0].url;
  const unheld = await ask({ name: 'read_held', arguments: { url, license: 'a.b.c' } });
  expect(unheld.structuredContent).toEqual({ url, kind: 'read', state: 'not_held' });
  expect((await ask({ name: 'read_held', arguments: { url } })).content[0].text).toMatch(/^missing_credential: /);
  expect(settled).toEqual([]);
});

test('the manifest and the guide of a host say where its pages are bought by a tool, and what the tool is asked with', async () => {
  const { host } = await api.site();
  const { mcp } = (await api.request(`/_svc/discovery/${host}/x402.json`)).body;
  expect(mcp).toMatchObject({ type: 'mcp', resource: { url: 'https://svc.example/_svc/mcp' }, input: { toolName: 'buy_page' } });
  const tool = (await toolsOf()).find(({ name }) => name === mcp.input.toolName);
  expect(Object.keys(tool.inputSchema.properties)).toEqual(Object.keys(mcp.input.inputSchema.properties));
  expect(tool.inputSchema.required).toEqual(mcp.input.inputSchema.required);
  expect((await api.request(`/_svc/discovery/${host}/llms.txt`)).body).toContain('https://svc.example/_svc/mcp');
});

test('a page that is free costs nothing, and a closed site sells nothing', async () => {
  const site = await api.site();
  const url = `https://${site.host}/articles/free`;
  const { structuredContent, isError } = await ask({ name: 'buy_page', arguments: { url } });
  expect([isError, structuredContent.state, structuredContent.because]).toEqual([undefined, 'free', 'free_slug']);
  expect(structuredContent).toMatchObject({ howToRead: `GET ${url}, without a licence`, next: { action: 'get_it_free', url } });
  const unknown = `https://${site.host}/articles/nobody-wrote-this`;
  for (const name of ['quote_page', 'buy_page']) {
    const told = (await ask({ name, arguments: { url: unknown } })).structuredContent;
    expect(told).toMatchObject({ state: 'not_sold', because: 'no_credits', next: { action: 'get_it_free', url: unknown } });
  }
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'closed' });
  const payment = await payTo(api, buyer, buyer.address, 1);
  expect((await ask({ name: 'buy_page', arguments: { url }, _meta: { 'x402/payment': payment } })).content[0].text).toMatch(
    /^not_found: /,
  );
});

test('what a tool costs counts for its address, too: many accounts of one address search no more than it may', async () => {
  const much = 1_000;
  const rated = await startTestApi({
    rates: {
      perSecond: { address: much, refused: much, key: much, tenant: much, account: much, account_address: 0.001 },
      burstSeconds: 40_000,
    },
  });
  try {
    const clients = mcpClients(() => rated.url);
    const search = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'find_pages', arguments: { query: 'kelp' } } };
    const isFound = async (): Promise<boolean> => {
      const { token } = await createBuyerAccount(rated.deps);
      const bearer = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
      const body = JSON.stringify(search);
      const headers = { ...bearer, 'content-type': 'application/json' };
      const told = await (await fetch(clients.endpoint(), { method: 'POST', headers, body })).text();
      return !told.includes('throttled');
    };
    // Forty points: eleven for each search.
    const found: boolean[] = [];
    for (let account = 0; account < 5; account++) found.push(await isFound());
    expect(found).toEqual([true, true, true, false, false]);
  } finally {
    await rated.stop();
  }
});

test('a client that takes anything is answered, and a wrong token learns where tokens are granted', async () => {
  const listed = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const call = (headers: Readonly<Record<string, string>>) =>
    fetch(`${api.url}/_svc/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(listed),
    });
  expect((await call({ accept: '*/*' })).status).toBe(200);
  expect((await call({ accept: 'text/html' })).status).toBe(406);

  const refused = await call({ accept: '*/*', authorization: 'Bearer svc_buyer_nobody' });
  expect(refused.status).toBe(401);
  const [, named = ''] = /^Bearer resource_metadata="(.+)"$/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  const { body: metadata } = await api.request(new URL(named).pathname);
  const { issuer } = (await api.request('/.well-known/oauth-authorization-server')).body;
  expect(metadata).toMatchObject({
    resource: named.replace('/.well-known/oauth-protected-resource', ''),
    authorization_servers: [issuer],
  });
});
