/** Published clients, unmodified and as their own documentation uses them, buy pages of three authors at a gate; the chain says that each author was paid. */

import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { limits } from '../../sandbox/limits.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { ALPHA_PRICING, WALLETS } from '../support/api.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';
import { buyWith, noteBought, runnable } from './program.ts';
import { PAGE_BUYERS } from './table.ts';

/** A page whose title and address are not in Latin-1, which some clients take no care of. */
const TOKYO = '東京の「パン屋」—café';
const CREDITS = { ...ALPHA_PRICING.creditsInline, [TOKYO]: { title: TOKYO, ...ALPHA_PRICING.creditsInline.trio } };
const PRICE = 1_000n;

let service: TestService;
let site: TestSite;
let shop: Shop;

beforeAll(async () => {
  service = await startTestService();
  site = await service.site({ hosts: ['alpha.example'], pricing: { ...ALPHA_PRICING, creditsInline: CREDITS } });
  shop = await openShop(service, site);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});

/** A key with money for `pages` pages. */
async function newBuyer(pages: bigint) {
  const privateKey = newPrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  await mintUsdc(service.chain.rpcUrl, address, pages * PRICE);
  return { privateKey, address };
}

/** Payments that a wallet sent to a shop, as their headers carried them. */
function paymentsOf(seller: Shop, payer: string): { readonly path: string; readonly headers: Record<string, string> }[] {
  return seller.requests.flatMap(({ path, headers }) =>
    (['payment-signature', 'x-payment'] as const).flatMap((name) => {
      const value = headers[name];
      if (typeof value !== 'string') return [];
      const { payload } = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
      return payload.authorization.from.toLowerCase() === payer ? [{ path, headers: { [name]: value } }] : [];
    }),
  );
}

async function expectReceipt(receipt: string | null, payer: string): Promise<void> {
  const settled = JSON.parse(Buffer.from(receipt ?? '', 'base64').toString('utf8'));
  expect(settled).toMatchObject({ success: true, payer });
  const mined = await callChain<{ status: string }>(service.chain.rpcUrl, 'eth_getTransactionReceipt', [settled.transaction]);
  expect(mined.status).toBe('0x1');
}

describe.each(runnable(PAGE_BUYERS))('$name $version', (client) => {
  test('pays three authors of a page, and of one whose title and address are Japanese; out of money, it is refused and signs nothing anew', async () => {
    const buyer = await newBuyer(2n);
    const parties = [buyer.address, ...WALLETS];
    const before = await balancesOf(service, parties);
    const urls = ['trio', TOKYO, 'duo'].map((slug) => `${shop.url}/articles/${encodeURIComponent(slug)}`);
    const [trio, tokyo, refused] = await buyWith(client, buyer, ...urls);
    expect([trio, tokyo]).toMatchObject([
      { status: 200, page: '<p>trio</p>' },
      { status: 200, page: `<p>${TOKYO}</p>` },
    ]);
    for (const said of [trio, tokyo]) await expectReceipt(said?.receipt ?? null, buyer.address);
    const after = await balancesOf(service, parties);
    expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([-2n * PRICE, 1_000n, 600n, 400n, 0n]);
    expect(refused?.status).not.toBe(200);
    expect(paymentsOf(shop, buyer.address).length).toBe(3);
    noteBought(client);
  });
});

test('an undecided payment is not signed anew: each client sends one, and the same sent again is charged once', async () => {
  await Promise.all(service.workers.map((worker) => worker.stop()));
  const hasty = await openShop({ baseUrl: (await service.startApi(limits({ settleWaitMs: 500 }))).url }, site);
  const url = `${hasty.url}/articles/trio`;
  await expect.poll(async () => (await fetch(url)).status).toBe(402); // the gate knows its price from now on
  const buyers: Awaited<ReturnType<typeof newBuyer>>[] = [];
  for (const client of runnable(PAGE_BUYERS)) {
    const buyer = await newBuyer(2n);
    buyers.push(buyer);
    const [said] = await buyWith(client, buyer, url);
    expect(said?.status).not.toBe(200);
  }
  const sent = buyers.map(({ address }) => paymentsOf(hasty, address));
  expect(sent.map((payments) => payments.length)).toEqual(buyers.map(() => 1));
  await service.startWorker();
  for (const [{ path, headers } = { path: '', headers: {} }] of sent) {
    await expect.poll(async () => (await fetch(`${hasty.url}${path}`, { headers })).status).toBe(200);
  }
  const left = await balancesOf(
    service,
    buyers.map(({ address }) => address),
  );
  expect(left).toEqual(buyers.map(() => PRICE));
  await hasty.close();
});

test('of each client, two pages and the one that was undecided are settled once, and the one without money is not', async () => {
  const verdicts = await moneyVerdicts(service, site);
  const expected = runnable(PAGE_BUYERS).flatMap(() => ['paid', 'paid', 'paid', 'payment-failed insufficient_funds']);
  expect(verdicts.toSorted()).toEqual(expected.toSorted());
});
