import { decodePaymentResponseHeader } from '@x402/fetch';
import { decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buyPage } from '../../examples/buyer/buyer.ts';
import { newPrivateKey } from '../../sandbox/secrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { createOutbound } from '../../adapters/outbound.ts';
import { createSecretBox } from '../../adapters/secretBox.ts';
import { createEndpoint } from '../../services/webhooks/endpoints.ts';
import { WALLETS } from '../support/api.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

const [A, B, C, D] = WALLETS as [string, string, string, string];
/** What each page of alpha pays whom for one read, in micro (decisions: Leg order and rounding). */
const LEGS: Record<string, Record<string, bigint>> = {
  solo: { [A]: 1_000n },
  trio: { [A]: 500n, [B]: 300n, [C]: 200n },
  duo: { [B]: 250n, [C]: 250n, [D]: 500n },
};

let service: TestService;
let site: TestSite;
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  service = await startTestService();
  site = await service.site({ hosts: ['alpha.example'] });
  shop = await openShop(service, site);
  receiver = await startReceiver();
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url'));
  await createEndpoint({ database: service.database, secretBox, outbound }, site.tenantId, { url: receiver.url });
  await outbound.close();
});

afterAll(async () => {
  await shop?.close();
  await receiver?.stop();
  await service?.stop();
});

async function newBuyer(): Promise<{ privateKey: `0x${string}`; account: PrivateKeyAccount }> {
  const privateKey = newPrivateKey();
  const account = privateKeyToAccount(privateKey);
  await mintUsdc(service.chain.rpcUrl, account.address.toLowerCase() as `0x${string}`, 10_000n);
  return { privateKey, account };
}

test.each(['solo', 'trio', 'duo'])('the stock v2 client buys %s', async (slug) => {
  const { privateKey } = await newBuyer();
  const bought = await buyPage(`${shop.url}/articles/${slug}`, privateKey);
  expect(bought.status).toBe(200);
});
