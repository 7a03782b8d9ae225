import { decodePaymentRequiredHeader } from '@x402/core/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { setPricing, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { payToOf, routerAddress } from '../../platform/chain/router/split.ts';
import { ALPHA_PRICING, startTestApi, WALLETS } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const [A, B, C, D] = WALLETS as [Address, Address, Address, Address];

function quote(key: string, query: Record<string, string>) {
  return api.request(`/_svc/quote?${new URLSearchParams(query)}`, { key });
}

test('a page of one author is quoted to that wallet, with every member of the decided body and no other', async () => {
  const site = await api.site({ hosts: ['one.example'] });
  const { status, body, headers } = await quote(site.key, { resource: 'https://one.example/articles/solo' });
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(body).toEqual({
    price: 1000,
    currency: 'USDC',
    kind: 'read',
    slug: 'solo',
    title: 'Alone',
    host: 'one.example',
    resource: 'https://one.example/articles/solo',
    payTo: expect.stringMatching(/^0x/),
    payees: [{ authorId: 'ann', wallet: expect.any(String), share: 1 }],
    legs: [{ toAddress: expect.any(String), amountMicro: 1000, role: 'author', authorId: 'ann' }],
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    extra: { name: 'USDC', version: '2' },
    maxTimeoutSeconds: 300,
    quoteId: expect.any(String),
    issuedAt: expect.any(Number),
    expiresAt: body.issuedAt + 600_000,
    quoteToken: expect.any(String),
  });
  expect(body.payTo.toLowerCase()).toBe(A);
});

test('several authors are paid at the address of their split, whose legs sum to the price', async () => {
  const site = await api.site();
  const trio = (await quote(site.key, { slug: 'trio', kind: 'citation' })).body;
  expect(trio.price).toBe(5000);
  expect(trio.legs.map((leg: { amountMicro: number }) => leg.amountMicro)).toEqual([2500, 1500, 1000]);
  expect(trio.payees.map((payee: { share: number }) => payee.share)).toEqual([0.5, 0.3, 0.2]);
  const split = payToOf([
    { wallet: A, weight: 5n },
    { wallet: B, weight: 3n },
    { wallet: C, weight: 2n },
  ]);
  expect(trio.payTo.toLowerCase()).toBe(split.payTo);
  const duo = (await quote(site.key, { slug: 'duo' })).body;
  expect(
    duo.legs.map((leg: { toAddress: string; amountMicro: number; role: string }) => [
      leg.toAddress.toLowerCase(),
      leg.amountMicro,
      leg.role,
    ]),
  ).toEqual([
    [D, 500, 'author'],
    [B, 250, 'coauthor'],
    [C, 250, 'coauthor'],
  ]);
});

test('what is free is 204 without a body, and says why: free slugs, pages without credits, paths that are no article, a pending site', async () => {
  const site = await api.site({ hosts: ['free.example'] });
  const because = async (key: string, query: Record<string, string>) => {
    const { status, body, headers } = await quote(key, query);
    return [status, body, headers.get('x-svc-free-because')];
  };
  const free = [
    [{ slug: 'free' }, 'free_slug'],
    [{ slug: 'unknown' }, 'no_credits'],
    [{ resource: 'https://free.example/about' }, 'out_of_scope'],
    [{ resource: 'https://free.example/articles/' }, 'out_of_scope'],
  ] as const;
  // Twice: the second answer comes from memory.
  for (const [query, reason] of [...free, ...free]) expect(await because(site.key, query)).toEqual([204, '', reason]);
  const unpriced = await api.site({ pricing: { ...ALPHA_PRICING, priceUsdc: '0' } });
  expect(await because(unpriced.key, { slug: 'solo' })).toEqual([204, '', 'no_price']);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'pending' });
  await expect.poll(() => because(site.key, { slug: 'solo' })).toEqual([204, '', 'out_of_scope']);
});

test('an offer says the error it is asked to say, in header and body, as printable text of at most 200 characters', async () => {
  const site = await api.site();
  const error = 'insufficient_funds: 12 µ$ – “too little”';
  const { x402 } = (await quote(site.key, { slug: 'trio', build: '402', error })).body;
  expect([decodePaymentRequiredHeader(x402.header).error, x402.body.error]).toEqual([error, error]);
  for (const wrong of ['', 'x'.repeat(201), 'two\nlines']) {
    expect((await quote(site.key, { slug: 'trio', build: '402', error: wrong })).status).toBe(400);
  }
});

test('parameters that are missing, wrong, repeated or disagree are 400, and a foreign host is 403', async () => {
  const site = await api.site({ hosts: ['mine.example', 'second.example'] });
  const other = await api.site({ hosts: ['other.example'] });
  const bad: Record<string, string>[] = [
    {},
    { slug: '' },
    { resource: '/articles/solo' },
    { resource: 'ftp://mine.example/articles/solo' },
    { resource: 'https://user:pw@mine.example/articles/solo' },
    { slug: 'solo', resource: 'https://mine.example/articles/trio' },
    { slug: 'solo', kind: 'write' },
    { slug: 'solo', build: '200' },
  ];
  for (const query of bad) expect((await quote(site.key, query)).status).toBe(400);
  expect((await api.request('/_svc/quote?slug=solo&slug=trio', { key: site.key })).status).toBe(400);
  const foreign = await quote(site.key, { resource: 'https://other.example/articles/solo' });
  expect([foreign.status, foreign.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
  expect((await quote(other.key, { resource: 'https://other.example/articles/solo' })).status).toBe(200);
  expect((await quote(site.key, { resource: 'https://SECOND.example:443/articles/solo?utm=1#x' })).body.host).toBe(
    'second.example',
  );
});

test('a new price is quoted within moments of its edit', async () => {
  const site = await api.site();
  expect((await quote(site.key, { slug: 'solo' })).body.price).toBe(1000);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.0305' } });
  await expect.poll(async () => (await quote(site.key, { slug: 'solo' })).body.price).toBe(30_500);
});

test('a price above 0 and below the floor is refused by name; one that was stored before is charged the floor, and shown so', async () => {
  const site = await api.site();
  const { tenantId } = site;
  const set = (pricing: { priceUsdc?: string; citationMultiplier?: string; creditsFreeSlugs?: string[] }) =>
    setPricing(api.deps, { tenantId, pricing });
  const refused = { code: 'invalid_parameter', message: expect.stringContaining('the lowest price is 0.001000 USDC') };
  await expect(set({ priceUsdc: '0.000999' })).rejects.toMatchObject(refused);
  await expect(set({ citationMultiplier: '0.5' })).rejects.toMatchObject(refused);
  await set({ priceUsdc: '0' });
  await setPricing({ database: api.deps.database }, { tenantId, pricing: { priceUsdc: '0.0005', citationMultiplier: '3' } });
  await expect.poll(async () => (await quote(site.key, { slug: 'solo', kind: 'citation' })).body.price).toBe(1_500);
  expect((await quote(site.key, { slug: 'solo' })).body.price).toBe(1_000);
  const [shown] = (await api.request('/_svc/tenants/self', { key: site.key })).body.tenants;
  expect([shown.price_usdc, shown.citation_multiplier]).toEqual([0.001, 1.5]);
  await set({ creditsFreeSlugs: ['about'] });
});

test('with a default payee every page of the scope that names nobody is sold for him; what is named free stays free', async () => {
  const site = await api.site();
  const defaultPayee = { authorId: 'house', wallet: D };
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { defaultPayee } });
  await expect.poll(async () => (await quote(site.key, { slug: 'unknown' })).status).toBe(200);
  const { body } = await quote(site.key, { slug: 'unknown' });
  expect(body).toMatchObject({ price: 1000, payees: [{ authorId: 'house', share: 1 }], legs: [{ authorId: 'house' }] });
  expect(body.payTo.toLowerCase()).toBe(D);
  expect((await quote(site.key, { slug: 'solo' })).body.payees[0].authorId).toBe('ann');
  expect((await quote(site.key, { slug: 'free' })).headers.get('x-svc-free-because')).toBe('free_slug');
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { defaultPayee: null } });
  await expect.poll(async () => (await quote(site.key, { slug: 'unknown' })).status).toBe(204);
});

test.each([
  ['the zero address', `0x${'0'.repeat(40)}`],
  ['the token', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  ['a wrong checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
  ['no address', '0x1'],
])('%s cannot be the default payee', async (_, wallet) => {
  const { tenantId } = await api.site();
  const set = setPricing(api.deps, { tenantId, pricing: { defaultPayee: { authorId: 'house', wallet } } });
  await expect(set).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('a page whose authors only the credits API knows is 503 with Retry-After, never a guess', async () => {
  const pricing = { ...ALPHA_PRICING, creditsApiUrl: 'https://credits.example' };
  const site = await api.site({ pricing });
  const answer = await quote(site.key, { slug: 'elsewhere' });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([503, 'credits_unavailable']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await quote(site.key, { slug: 'solo' })).status).toBe(200);
});

test('a recipient that cannot be paid stops its quotes with 503 until it is lifted', async () => {
  const wallet = `0x${'e'.repeat(40)}`;
  const creditsInline = { solo: { contributors: [{ authorId: 'eve', wallet }] } };
  const site = await api.site({ pricing: { ...ALPHA_PRICING, creditsInline } });
  const { database, networks } = api.deps;
  const network = networks.first;
  await database.query('insert into blocked_payee (network, pay_to, detail) values ($1, $2, $3)', [
    network.id,
    wallet,
    'reverts',
  ]);
  await expect.poll(async () => (await quote(site.key, { slug: 'solo' })).headers.get('x-svc-error-code')).toBe('payee_blocked');
  await database.query('delete from blocked_payee');
  await expect.poll(async () => (await quote(site.key, { slug: 'solo' })).status).toBe(200);
});

test('a quote asks the database nothing once its key and site are known', async () => {
  // Without its background (poll, listener, liveness) and with its clock stopped, nothing but the quotes themselves asks.
  const still = await startTestApi();
  await still.deps.snapshots.close();
  await still.liveness.close();
  still.time.stoppedAtMs = Date.now();
  const { key } = await still.site();
  const ask = async (slug: string) => (await still.request(`/_svc/quote?slug=${slug}`, { key })).status;
  expect(await ask('solo')).toBe(200);
  const { pool } = still.deps.database;
  const original = pool.query.bind(pool);
  const statements: string[] = [];
  pool.query = ((...given: Parameters<typeof original>) => {
    statements.push(JSON.stringify(given[0]));
    return original(...given);
  }) as typeof pool.query;
  for (let n = 0; n < 20; n++) expect(await ask('trio')).toBe(200);
  pool.query = original;
  expect(statements).toEqual([]);
  await still.stop();
});

test('build=402 gives an offer that the reference v2 client decodes and a v1 body, checksummed and complete', async () => {
  const site = await api.site();
  const { body } = await quote(site.key, { slug: 'trio', build: '402' });
  const v2 = decodePaymentRequiredHeader(body.x402.header);
  expect(v2).toMatchObject({
    x402Version: 2,
    resource: { url: body.resource, mimeType: 'text/html' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: '1000',
        asset: body.asset,
        payTo: body.payTo,
        maxTimeoutSeconds: 300,
        extra: body.extra,
      },
    ],
  });
  const { info } = body.x402.body.extensions['svc-legs'] as {
    info: { router: string; count: number; legs: { weight: string }[] };
  };
  expect([info.router.toLowerCase(), info.count, info.legs.map(({ weight }) => weight)]).toEqual([
    routerAddress,
    3,
    ['5', '3', '2'],
  ]);
  expect(body.x402.body).toMatchObject({
    x402Version: 1,
    accepts: [
      {
        scheme: 'exact',
        network: 'base-sepolia',
        maxAmountRequired: '1000',
        payTo: body.payTo,
        resource: body.resource,
        description: 'trio',
      },
    ],
  });
});

test('credits that could not be paid are refused when they are saved', async () => {
  const save = (contributors: unknown) =>
    api.site({ pricing: { ...ALPHA_PRICING, creditsInline: { solo: { contributors } } } }).then(
      () => 'saved',
      (error: { code?: string }) => error.code,
    );
  const leaf = (wallet: string) => ({ authorId: 'x', wallet });
  const many = (count: number) => Array.from({ length: count }, (_, n) => leaf(`0x${(n + 1).toString(16).padStart(40, '0')}`));
  expect(await save(many(50))).toBe('saved');
  for (const wrong of [
    [],
    many(51),
    [leaf(`0x${'0'.repeat(40)}`)],
    [leaf('0x12')],
    [leaf(routerAddress)],
    [leaf(api.deps.networks.first.asset)],
    [{ ...leaf(A), weight: 0 }],
    [{ ...leaf(A), members: [leaf(B)] }],
    [{ authorId: 'x' }],
    [{ wallet: A }],
  ]) {
    expect(await save(wrong)).toBe('invalid_parameter');
  }
});
