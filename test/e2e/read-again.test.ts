/** Pay once, read again: the stock `sign-in-with-x` clients at sites that sell through the publisher's package, on the whole service. */

import { decodePaymentRequiredHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm';
import { createSIWxClientHook, encodeSIWxHeader, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { PublisherSite } from '../support/publisher-site.ts';
import { openExpressSite, openFetchSite, UA } from '../support/publisher-site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

let service: TestService;
beforeAll(async () => {
  service = await useTestService();
});
afterAll(() => service?.stop());

/** How often money of a wallet moved. */
async function paymentsOf({ address }: { readonly address: string }): Promise<number> {
  const from = `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const asked = { address: service.chain.usdc, topics: [TRANSFER, from], fromBlock: '0x0', toBlock: 'latest' };
  return (await callChain<unknown[]>(service.chain.rpcUrl, 'eth_getLogs', [asked])).length;
}

describe.each([
  ['Express', openExpressSite],
  ['a fetch handler', openFetchSite],
])('%s', (_name, open) => {
  let site: TestSite;
  let shop: PublisherSite;
  let seen: Request[];
  beforeAll(async () => {
    site = await service.site();
    shop = await open({ serviceUrl: service.baseUrl, apiKey: site.key });
  });
  afterAll(() => shop?.close());

  /** A fetch that knows where the site's name leads, as a name server would say it. */
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    seen.push(request);
    const { pathname, search } = new URL(request.url);
    const headers = { ...Object.fromEntries(request.headers), 'user-agent': UA.agent };
    const { status, headers: told, body } = await shop.raw(pathname + search, headers, request.method);
    return new Response(body, { status, headers: Object.entries(told).map(([name, value]) => [name, String(value)]) });
  };
  const page = (slug: string): string => `https://${site.host}/articles/${slug}`;
  const paying = (signer: PrivateKeyAccount): x402Client => new x402Client().register('eip155:*', new ExactEvmScheme(signer));
  /** New clients each time: nothing is remembered between two reads but the key. */
  const clients = {
    wrapFetchWithSIWx: (signer: PrivateKeyAccount) => wrapFetchWithPayment(wrapFetchWithSIWx(send, signer), paying(signer)),
    createSIWxClientHook: (signer: PrivateKeyAccount) =>
      wrapFetchWithPayment(send, new x402HTTPClient(paying(signer)).onPaymentRequired(createSIWxClientHook(signer))),
  };

  test.each(Object.entries(clients))(
    'stock %s pays the first time; a fresh client of the same key reads again and no money moves; another key pays',
    async (_client, clientOf) => {
      seen = [];
      const [buyer, other] = [await service.payer(10_000n), await service.payer(10_000n)];
      const first = await clientOf(buyer)(page('trio'));
      expect([first.status, await first.text(), await paymentsOf(buyer)]).toEqual([200, '<p>trio</p>', 1]);
      expect(first.headers.get('payment-response')).not.toBeNull();
      for (let again = 0; again < 3; again++) {
        const read = await clientOf(buyer)(page('trio'));
        expect([read.status, await read.text(), await paymentsOf(buyer)]).toEqual([200, '<p>trio</p>', 1]);
        expect(read.headers.get('payment-response')).toBeNull();
        expect(seen.filter(({ headers }) => headers.has('payment-signature'))).toHaveLength(1);
        const licence = read.headers.get('x-licence') ?? '';
        const byLicence = await shop.get('/articles/trio', { 'user-agent': UA.agent, authorization: `License ${licence}` });
        expect(byLicence.status).toBe(200);
      }
      expect((await wrapFetchWithSIWx(send, other)(page('trio'))).status).toBe(402);
      expect((await wrapFetchWithSIWx(send, buyer)(page('solo'))).status).toBe(402);
      const paid = await clientOf(other)(page('trio'));
      expect([paid.status, await paymentsOf(other), await paymentsOf(buyer)]).toEqual([200, 1, 1]);
    },
  );

  test('ten fresh clients of one key read at once from one cached offer, and none of them pays', async () => {
    seen = [];
    const buyer = await service.payer(10_000n);
    await clients.wrapFetchWithSIWx(buyer)(page('duo'));
    const reads = await Promise.all(Array.from({ length: 10 }, () => clients.wrapFetchWithSIWx(buyer)(page('duo'))));
    expect([reads.map(({ status }) => status), await paymentsOf(buyer)]).toEqual([Array(10).fill(200), 1]);
    // Not even asked to: a payment for a page whose licence lives is answered without moving anything.
    expect(seen.filter(({ headers }) => headers.has('payment-signature'))).toHaveLength(1);
  });

  test('what was signed once opens the page once: seen on its way, it is of no use to anybody else', async () => {
    seen = [];
    const buyer = await service.payer(10_000n);
    await clients.wrapFetchWithSIWx(buyer)(page('trio'));
    seen = [];
    expect((await wrapFetchWithSIWx(send, buyer)(page('trio'))).status).toBe(200);
    const stolen = seen.map(({ headers }) => headers.get('sign-in-with-x')).find((value) => value !== null) ?? '';
    const again = await shop.raw('/articles/trio', { 'user-agent': UA.agent, 'sign-in-with-x': stolen });
    expect([again.status, JSON.parse(again.body).error]).toEqual([402, 'unknown_credential: the nonce was used']);
    const offer = decodePaymentRequiredHeader(String(again.headers['payment-required']));
    expect(offer).toMatchObject({ error: 'unknown_credential: the nonce was used', extensions: { 'sign-in-with-x': {} } });
  });

  test.each([
    ['no base64', '%%%', 'SIGN-IN-WITH-X is not readable'],
    ['no JSON', Buffer.from('not json').toString('base64'), 'SIGN-IN-WITH-X is not readable'],
    ['null', Buffer.from('null').toString('base64'), 'SIGN-IN-WITH-X is not readable'],
    ['no message in many octets', 'a'.repeat(12_000), 'SIGN-IN-WITH-X is not readable'],
    ['half of it', Buffer.from('{"domain":"x","nonce":"y"}').toString('base64'), 'SIGN-IN-WITH-X is not readable'],
  ])('a header with %s is refused by a sentence in the ordinary offer, and nobody is asked', async (_what, header, sentence) => {
    const answer = await shop.raw('/articles/trio', { 'user-agent': UA.agent, 'sign-in-with-x': header });
    const error = `unknown_credential: ${sentence}`;
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([402, error]);
    expect(decodePaymentRequiredHeader(String(answer.headers['payment-required'])).error).toBe(error);
  });

  test('the stock encoder of a message for another site is refused there, and every answer asks for words of its own', async () => {
    const one = async () => {
      const answer = await shop.raw('/articles/trio', { 'user-agent': UA.agent });
      return decodePaymentRequiredHeader(String(answer.headers['payment-required'])).extensions?.['sign-in-with-x'] as {
        info: { domain: string; nonce: string; uri: string; version: string; issuedAt: string };
      };
    };
    const [{ info }, { info: next }] = [await one(), await one()];
    expect(info).toMatchObject({ domain: site.host, uri: page('trio'), version: '1' });
    expect(info.nonce).not.toBe(next.nonce);
    const foreign = encodeSIWxHeader({
      ...info,
      domain: 'evil.example',
      address: '0x',
      chainId: 'eip155:84532',
      type: 'eip191',
      signature: '0x00',
    });
    const answer = await shop.raw('/articles/trio', { 'user-agent': UA.agent, 'sign-in-with-x': foreign });
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([402, 'unknown_credential: the message is for another site']);
  });
});
