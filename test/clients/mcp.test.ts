/** Published clients that pay inside MCP, unmodified, and one written by hand from the specification, buy pages of three authors through `POST /_svc/mcp`. */
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { AgentWeb } from '../support/agentWeb.ts';
import { gatedPages, openAgentWeb } from '../support/agentWeb.ts';
import { ALPHA_PRICING, WALLETS } from '../support/api.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';
import { buyWith, noteBought, runnable } from './program.ts';
import { MCP_BUYERS } from './table.ts';

/** A title outside Latin-1: Cloudflare's client encodes what it echoes by `btoa`, which throws on one. */
const TOKYO = '東京の「パン屋」—café';
const CREDITS = { ...ALPHA_PRICING.creditsInline, tokyo: { title: TOKYO, ...ALPHA_PRICING.creditsInline.trio } };
const PRICE = 1_000n;

let web: AgentWeb;
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  web = await openAgentWeb();
  service = await startTestService({ environment: { OUTBOUND_SANDBOX_WEB: web.url } });
  const hosts = ['alpha.sandbox.example'];
  site = await service.site({ hosts, pricing: { ...ALPHA_PRICING, creditsInline: CREDITS } });
  web.put(site.host, gatedPages(service, site));
});
afterAll(async () => {
  await service?.stop();
  await web?.close();
});

describe.each(runnable(MCP_BUYERS))('$name $version, $speaks', (client) => {
  test('pays three authors of a page and of one whose title is Japanese; out of money, it has no licence', async () => {
    const privateKey = newPrivateKey();
    const payer = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
    await mintUsdc(service.chain.rpcUrl, payer, 2n * PRICE);
    const parties = [payer, ...WALLETS];
    const before = await balancesOf(service, parties);
    const env = { MCP_URL: `${service.baseUrl}/_svc/mcp`, MCP_LINE: client.line ?? '' };
    const urls = ['trio', 'tokyo', 'duo'].map((slug) => `https://${site.host}/articles/${slug}`);
    const [trio, tokyo, refused] = await buyWith(client, { privateKey, env }, ...urls);
    expect([trio, tokyo]).toMatchObject([{ status: 200 }, { status: 200 }]);
    for (const said of [trio, tokyo]) {
      const receipt = JSON.parse(Buffer.from(said?.receipt ?? '', 'base64').toString('utf8'));
      expect(receipt).toMatchObject({ success: true, payer });
      const mined = await callChain<{ status: string }>(service.chain.rpcUrl, 'eth_getTransactionReceipt', [receipt.transaction]);
      expect(mined.status).toBe('0x1');
    }
    const after = await balancesOf(service, parties);
    expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([-2n * PRICE, 1_000n, 600n, 400n, 0n]);
    expect(refused).toMatchObject({ status: 402, page: expect.stringContaining('insufficient_funds') });
    noteBought(client);
  });
});

test('of each client, both pages are settled once, and the one without money leaves nothing in the site’s audit', async () => {
  const expected = runnable(MCP_BUYERS).flatMap(() => ['paid', 'paid']);
  expect((await moneyVerdicts(service, site)).toSorted()).toEqual(expected.toSorted());
});
