/** Published clients, unmodified and as their own documentation uses them, buy pages of three authors at a gate; the chain says that each author was paid. */

import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Address } from '../../domain/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
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

async function newBuyer() {
  const privateKey = newPrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  await mintUsdc(service.chain.rpcUrl, address, 10n * PRICE);
  return { privateKey, address };
}

describe.each(runnable(PAGE_BUYERS))('$name $version', (client) => {
  test('buys a page, and one whose title and address are Japanese: on chain, each of three authors has their share of both', async () => {
    const buyer = await newBuyer();
    for (const slug of ['trio', TOKYO]) {
      const before = await balancesOf(service, [buyer.address, ...WALLETS]);
      const said = await buyWith(client, buyer.privateKey, `${shop.url}/articles/${encodeURIComponent(slug)}`);
      expect(said).toMatchObject({ status: 200, page: `<p>${slug}</p>` });
      const after = await balancesOf(service, [buyer.address, ...WALLETS]);
      expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([-PRICE, 500n, 300n, 200n, 0n]);
      const receipt = JSON.parse(Buffer.from(said.receipt ?? '', 'base64').toString('utf8'));
      expect(receipt).toMatchObject({ success: true, payer: buyer.address });
      const mined = await callChain<{ status: string }>(service.chain.rpcUrl, 'eth_getTransactionReceipt', [receipt.transaction]);
      expect(mined.status).toBe('0x1');
    }
    noteBought(client);
  });
});

test('every payment of these clients was settled once, and none is left open', async () => {
  const verdicts = await moneyVerdicts(service, site);
  expect(verdicts).toEqual(Array.from({ length: 2 * runnable(PAGE_BUYERS).length }, () => 'paid'));
});
