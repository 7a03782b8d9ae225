import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { SettleBody, TestFacilitator } from '../support/facilitator.ts';
import { startFacilitator } from '../support/facilitator.ts';
import { checkService } from '../support/invariants.ts';
import { addressOf, testNetwork } from '../support/payments.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { moneyVerdicts, payloadFor, quoteOf, verify } from '../support/verify.ts';

let service: TestService;
let server: TestFacilitator;
let site: TestSite;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  server = await startFacilitator();
  service = await startTestService({ apis: 0, worker: false });
  const { rpcUrl, router } = service.chain;
  const network = {
    id: 'eip155:84532',
    rpcUrls: [rpcUrl],
    router,
    blockTimeMs: 1_000,
    nativePriceMicro: '0',
    settler: 'facilitator',
  };
  settings = { NETWORKS: JSON.stringify([network]), FACILITATOR_URL: server.url, FACILITATOR_TOKEN: 'of-the-test' };
  await service.startApi(settings);
  site = await service.site();
});
afterAll(async () => {
  await service?.stop();
  await server.stop();
});
afterEach(async () => {
  await paidOut();
  await checkService(service);
});

/** The facilitator pays splits; the sweeper pays them out in one of its next rounds. */
const paidOut = async (): Promise<void> => {
  const rpc = createRpc(testNetwork(service.chain));
  const held = async () => {
    const splits = await service.database.query<{ pay_to: Hex }>('select pay_to from split');
    const payTos = splits.map((split) => split.pay_to);
    return (await listBalances(rpc, testNetwork(service.chain), payTos)).filter((balance) => balance > 0n);
  };
  try {
    await expect.poll(held).toEqual([]);
  } finally {
    await rpc.close();
  }
};

const submit = async ({ paymentPayload: { payload } }: SettleBody): Promise<Hex> => {
  const { authorization: a, signature } = payload;
  const [value, validAfter, validBefore] = [BigInt(a.value), BigInt(a.validAfter), BigInt(a.validBefore)];
  const data = transferCall({ authorization: { ...a, value, validAfter, validBefore }, signature });
  const [stranger] = await callChain<string[]>(service.chain.rpcUrl, 'eth_accounts', []);
  return callChain<Hex>(service.chain.rpcUrl, 'eth_sendTransaction', [{ from: stranger, to: service.chain.usdc, data }]);
};

/** Buys the page; whatever happens to workers meanwhile, the buyer pays once and gets a receipt. */
const buy = async (slug: string, meanwhile: () => Promise<void>): Promise<void> => {
  const payer = await service.payer(1_000_000n);
  const quote = await quoteOf(service, site, slug);
  const payload = await payloadFor(service, quote, payer);
  const first = verify(service, site, quote, payload);
  await meanwhile();
  let answer = await first;
  while (answer.status === 402 && /^settlement_pending/.test(answer.body.error)) {
    answer = await verify(service, site, quote, payload);
  }
  expect(answer).toMatchObject({ status: 200, body: { ok: true, chargedMicro: String(quote.price) } });
  const rpc = createRpc(testNetwork(service.chain));
  const [left] = await listBalances(rpc, testNetwork(service.chain), [addressOf(payer)]);
  expect(left).toBe(1_000_000n - BigInt(quote.price));
  await rpc.close();
};

test('the worker dies between the answer of the facilitator and writing it down: the next one settles, nothing is charged twice', async () => {
  server.settle = async (body) => ({ json: { success: true, transaction: await submit(body) } });
  const worker = await service.startWorker({ ...settings, CRASH_AT: 'after_broadcast' });
  await buy('solo', async () => {
    await worker.process.exited;
    await service.startWorker(settings);
  });
  expect(await moneyVerdicts(service, site)).toEqual(['paid']);
  expect(server.authorizations).toContain('Bearer of-the-test');
}, 300_000);

test('the worker dies while the facilitator works: the chain tells the next worker', async () => {
  const asked = Promise.withResolvers<SettleBody>();
  server.settle = (body) => {
    asked.resolve(body);
    return 'silence';
  };
  await buy('duo', async () => {
    const body = await asked.promise;
    for (const worker of service.workers) await worker.kill();
    await submit(body);
    await service.startWorker(settings);
  });
  expect(await moneyVerdicts(service, site)).toEqual(['paid', 'paid']);
}, 300_000);
