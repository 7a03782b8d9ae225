/** A crawler gets from robots.txt to a page that it pays for, by the Open License Protocol and x402 alone. */
import { decodePaymentResponseHeader } from '@x402/fetch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WALLETS } from '../support/api.ts';
import { stockFetch } from '../support/licences.ts';
import { askForToken, tokenForm } from '../support/olp.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { TEST_ISSUER, useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
let shop: Shop;
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  shop = await openShop(service, site);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});

/** The addresses of the service and of the site, as they are to be had here. The site has no robots.txt of its own. */
const at = (url: string): string => url.replace(TEST_ISSUER, service.baseUrl).replace(`https://${site.host}`, shop.url);

async function newClient() {
  const wallet = await service.payer(1_000_000n);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${service.baseUrl}/_svc/oauth/register`, { method: 'POST', headers, body: '{}' });
  const { client_id: clientId, client_secret: clientSecret } = await answer.json();
  return { wallet, clientId, clientSecret };
}

test('a stock x402 client buys its token in the call that asks for it, the authors are paid, and the page opens', async () => {
  const { wallet, ...client } = await newClient();
  const page = `https://${site.host}/articles/trio`;
  const unpaid = await askForToken(page, { ...client, send: fetch, at });
  expect([unpaid.status, (await unpaid.json()).error]).toEqual([402, 'unauthorized_client']);
  expect(unpaid.headers.get('payment-required')).not.toBeNull();
  expect(unpaid.headers.get('link')).toContain(`/_svc/discovery/${site.host}/license.xml>; rel="license"`);

  const before = await balancesOf(service, WALLETS);
  const bought = await askForToken(page, { ...client, send: stockFetch(wallet), at });
  const token = await bought.json();
  expect([bought.status, token.token_type]).toEqual([200, 'License']);
  expect(token.expires_in).toBeGreaterThan(0);
  expect(decodePaymentResponseHeader(bought.headers.get('payment-response') ?? '')).toMatchObject({
    success: true,
    amount: '3000',
  });
  const after = await balancesOf(service, WALLETS);
  const paid = after.map((balance, index) => balance - (before[index] ?? 0n));
  expect([paid.reduce((sum, one) => sum + one, 0n), paid.every((one) => one > 0n)]).toEqual([3_000n, true]);

  const opened = await fetch(at(page), { headers: { authorization: `License ${token.access_token}` } });
  expect([opened.status, await opened.text()]).toEqual([200, '<p>trio</p>']);
});

test('who holds the licence gets another token, and no more money moves; to cite is another licence', async () => {
  const { wallet, ...client } = await newClient();
  const page = `https://${site.host}/articles/solo`;
  const paying = { ...client, send: stockFetch(wallet), at };
  expect((await askForToken(page, paying)).status).toBe(200);
  const left = await balancesOf(service, [wallet.address]);
  const again = await Promise.all([askForToken(page, paying), askForToken(page, { ...client, send: fetch, at })]);
  expect(again.map(({ status }) => status)).toEqual([200, 200]);
  expect(again.map(({ headers }) => headers.get('payment-response'))).toEqual([null, null]);
  expect(await balancesOf(service, [wallet.address])).toEqual(left);

  const document = await (await fetch(at(`https://${site.host}/license.xml`))).text();
  const url = `https://${site.host}/articles/*`;
  const license = document.match(/<license>[\s\S]*?<\/license>/g)?.find((one) => one.includes('type="use"')) ?? '';
  const headers = { authorization: `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}` };
  const cited = await fetch(`${service.baseUrl}/_svc/olp/token`, { method: 'POST', headers, body: tokenForm({ url, license }) });
  expect([cited.status, (await cited.json()).licence?.priceMicro]).toEqual([402, 15_000]);
});

test('one payment sent fifty times at once to the token endpoint is charged once, and each call that has an answer has a token', async () => {
  const { wallet, ...client } = await newClient();
  const page = `https://${site.host}/articles/duo`;
  let paid: RequestInit | undefined;
  const keeping: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has('payment-signature')) return fetch(request);
    paid = { method: 'POST', headers: Object.fromEntries(request.headers), body: await request.text() };
    return new Response(null, { status: 503 });
  };
  const { wrapFetchWithPayment, x402Client } = await import('@x402/fetch');
  const { ExactEvmScheme } = await import('@x402/evm');
  const send = wrapFetchWithPayment(keeping, new x402Client().register('eip155:*', new ExactEvmScheme(wallet)));
  expect((await askForToken(page, { ...client, send, at })).status).toBe(503);
  const sendPaid = (): Promise<Response> => fetch(`${service.baseUrl}/_svc/olp/token`, paid ?? {});
  const answers = await Promise.all(Array.from({ length: 50 }, sendPaid));
  const statuses = answers.map(({ status }) => status);
  // A 503 says to send the same payment again: the turns of one account are all taken.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses).toContain(200);
  expect((await sendPaid()).status).toBe(200);
  expect(await balancesOf(service, [wallet.address])).toEqual([1_000_000n - 3_000n]);
});

test('a client that signs anew instead of sending its payment again pays once, however many payments it sends', async () => {
  const { wallet, ...client } = await newClient();
  const page = `https://${site.host}/articles/duo`;
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => askForToken(page, { ...client, send: stockFetch(wallet), at })),
  );
  const statuses = answers.map(({ status }) => status);
  // A 503 says that the turns of one account are all taken, or that the first payment is not decided yet.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses).toContain(200);
  expect((await askForToken(page, { ...client, send: stockFetch(wallet), at })).status).toBe(200);
  expect(await balancesOf(service, [wallet.address])).toEqual([1_000_000n - 3_000n]);
});

test('a page that no license opens says in the words of RSL what is wanting, beside its price and where its terms stand', async () => {
  const { wallet } = await newClient();
  const page = (slug: string): string => at(`https://${site.host}/articles/${slug}`);
  const agent = { 'user-agent': 'GPTBot/1.3' };
  const wanting = async (slug: string, authorization?: string) => {
    const answer = await fetch(page(slug), { headers: { ...agent, ...(authorization === undefined ? {} : { authorization }) } });
    expect(answer.headers.get('link')).toMatch(/<https:[^>]*\/license\.xml>; rel="license"; type="application\/rsl\+xml"/);
    expect(answer.headers.get('payment-required')).not.toBeNull();
    return [
      answer.status,
      /^License error="(\w+)", error_description="[^"]+"$/.exec(answer.headers.get('www-authenticate') ?? '')?.[1],
    ];
  };
  expect(await wanting('solo')).toEqual([402, 'invalid_request']);
  expect(await wanting('solo', 'License not-a-license')).toEqual([402, 'invalid_token']);
  const bought = await stockFetch(wallet)(page('trio'), { headers: agent });
  const licence = bought.headers.get('x-licence');
  expect([bought.status, bought.headers.get('www-authenticate')]).toEqual([200, null]);
  expect(await wanting('solo', `License ${licence}`)).toEqual([402, 'insufficient_scope']);
  expect((await fetch(page('trio'), { headers: { ...agent, authorization: `License ${licence}` } })).status).toBe(200);
});
