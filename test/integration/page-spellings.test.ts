import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { ALPHA_PRICING, startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import { newAccount, signPayment } from '../support/payments.ts';
import { SPELLINGS_OF_SOLO } from '../support/spellings.ts';
import { base64Of } from '../support/verify.ts';

let api: TestApi;
let site: Awaited<ReturnType<TestApi['site']>>;
let buyer: { accountId: string; token: string };
const asked: SettleRequest[] = [];
beforeAll(async () => {
  api = await startTestApi({
    settle: async (request) => {
      asked.push(request);
      const { from } = request.payment.authorization;
      const reference = { settlementRef: null, settlementRefKind: 'none', payer: from } as const;
      return { ...reference, responseHeader: 'eA==', licenseJws: 'a.b.c', chargedMicro: request.terms.priceMicro };
    },
  });
  site = await api.site();
  buyer = await createBuyerAccount(api.deps);
});
afterAll(() => api.stop());

const SPELLINGS = [
  ...SPELLINGS_OF_SOLO,
  // Steps, which clients resolve before they ask; a gate leaves them to its server.
  '/articles/.//solo',
  '/x/..//articles/%73olo',
  '/articles/x%2f..%2fsolo',
];
const urlOf = (path: string): string => `https://${site.host}${path}`;
const quote = (path: string) => api.request(`/_svc/quote?resource=${encodeURIComponent(urlOf(path))}`, { key: site.key });

test.each(SPELLINGS)('%s is quoted and settled as /articles/solo', async (path) => {
  const { body } = await quote(path);
  expect(body).toMatchObject({ price: 1_000, slug: 'solo' });
  const account = newAccount();
  const network = api.deps.networks.first;
  const to = body.payTo.toLowerCase() as Address;
  const { authorization, signature } = await signPayment(network, account, { to, value: 1_000n });
  const text = Object.fromEntries(Object.entries(authorization).map(([name, part]) => [name, String(part)]));
  const accepted = { scheme: 'exact', network: network.id, amount: '1000', asset: network.asset, payTo: body.payTo };
  const payment = base64Of({ x402Version: 2, accepted, payload: { signature, authorization: text } });
  const plain = (await quote('/articles/solo')).body;
  for (const [shown, resource] of [
    [body, '/articles/solo'],
    [plain, path],
    [{ price: 1_000 }, path],
  ] as const) {
    const paid = { payment, quote: shown, legs: body.legs, resource: urlOf(resource) };
    expect((await api.post('/_svc/verify', site.key, paid)).body).toMatchObject({ ok: true });
    expect(asked.at(-1)?.terms).toMatchObject({ slug: 'solo', resourceKey: `${site.host}/articles/solo` });
  }
});

test.each(SPELLINGS)('a licence for /articles/solo entitles to %s, one for another page does not', async (path) => {
  const tokenFor = async (scope: string): Promise<string> => {
    const wanted = { host: site.host, scope: [scope], terms: ['search'], periodDays: 1, kind: 'read' } as const;
    const { jti } = await sellLicence(api, buyer.accountId, wanted);
    return (await api.post(`/_svc/licenses/${jti}/access`, buyer.token, { paths: [scope] })).body.license;
  };
  const check = async (license: string, slug: string) =>
    (await api.post('/_svc/license/check', site.key, { license, resource: urlOf(path), slug })).body.entitled;
  const token = await tokenFor('/articles//solo');
  expect([await check(token, 'solo'), await check(token, '/solo'), await check(token, 'trio')]).toEqual([true, true, false]);
  expect(await check(await tokenFor('/articles/duo'), 'solo')).toBe(false);
});

test('prices, free pages and imported pages that are written with repeated slashes are those of the plain path', async () => {
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  const own = await api.site({
    pricing: {
      ...ALPHA_PRICING,
      articlePrefixes: ['//news//daily/'],
      creditsInline: { 'a//b': credits, '/c': credits, free: credits },
      creditsFreeSlugs: ['/free'],
    },
  });
  await importPages(api.deps, { tenantId: own.tenantId, pages: [{ slug: 'n', path: '/notes//n', credits }] });
  const ask = async (path: string) =>
    (await api.request(`/_svc/quote?resource=${encodeURIComponent(`https://${own.host}${path}`)}`, { key: own.key })).status;
  expect([await ask('/news/daily/a/b'), await ask('/news//daily//c'), await ask('/news/daily//free')]).toEqual([200, 200, 204]);
  expect((await api.request('/_svc/quote?slug=a//b', { key: own.key })).body.slug).toBe('a/b');
  const body = { host: own.host, scope: ['/notes/n$', '/news/daily/a/*'], terms: ['search'], periodDays: 1 };
  expect((await api.post('/_svc/licenses/quote', null, body)).body).toMatchObject({ resourceCount: 2 });
});

test('a gate on a server that takes repeated slashes for one gives no page away', async () => {
  const gate = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  for (const path of [
    '/articles/solo',
    '/articles//solo',
    '//articles/solo',
    '/articles/%2fsolo',
    '//articles//solo//',
    '/articles/x%2f..%2fsolo',
  ]) {
    const answered = await fetch(`${base}${path}`);
    expect([answered.status, await answered.text()], path).toEqual([402, '']);
  }
  expect(await (await fetch(`${base}/articles//free`)).text()).toBe('free');
  await close(gate);
});

/** A gate as a publisher writes it: the page the server finds, once the service says that it is free. */
async function answer({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const quoted = await quote(url);
  const page = decodeURIComponent(url).split('/').filter(Boolean).at(-1) ?? '';
  if (quoted.status === 204) response.end(page);
  else response.writeHead(402).end();
}

function close(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}
