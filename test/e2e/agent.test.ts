/** The buyer's tool at gates of the whole service: within the envelope, and what is paid once is paid once, whatever dies when. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Budget } from '../../packages/agent/src/index.ts';
import { payingFetch } from '../../packages/agent/src/index.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { AgentHome } from '../support/agentHome.ts';
import { newAgentHome } from '../support/agentHome.ts';
import { addressOf } from '../support/payments.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
let shop: Shop;
let home: AgentHome;
const FUNDS = 100_000n;
/** Of every page of the site, in micro-USDC. */
const PRICE = 1_000n;

beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  shop = await openShop(service, site);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});
beforeEach(async () => {
  home = newAgentHome();
  await mintUsdc(service.chain.rpcUrl, addressOf(home.account), FUNDS);
  shop.requests.length = 0;
});
afterEach(() => home.remove());

const page = (slug: string): string => `${shop.url}/articles/${slug}`;
const budget = (more: Budget = {}): Budget => ({ home: home.folder, ...more });

async function paidMicro(): Promise<bigint> {
  const [left = 0n] = await balancesOf(service, [addressOf(home.account)]);
  return FUNDS - left;
}

/** Payments that reached the site. */
const sent = (): readonly unknown[] =>
  shop.requests.map(({ headers }) => headers['payment-signature']).filter((one) => one !== undefined);

test('a page of three authors is bought once and read again free; the ledger has what was signed and what came of it', async () => {
  const first = await payingFetch(budget())(page('trio'));
  expect([first.status, await first.text(), await paidMicro()]).toEqual([200, '<p>trio</p>', PRICE]);
  const again = await payingFetch(budget())(page('trio'));
  expect([again.status, await again.text(), await paidMicro(), sent().length]).toEqual([200, '<p>trio</p>', PRICE, 1]);
  expect(home.lines()).toMatchObject([
    { type: 'signed', url: page('trio'), amountMicro: String(PRICE) },
    { type: 'paid', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/), licence: expect.any(String) },
  ]);
  expect(home.ledgerText()).not.toContain(home.privateKey.slice(2));
});
