import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let site: TestSite;
let first: RpcProxy;
let second: RpcProxy;

beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  [first, second] = await Promise.all([startRpcProxy(service.chain.rpcUrl), startRpcProxy(service.chain.rpcUrl)]);
  first.set('*', { kind: 'freeze', block: Number(await callChain(service.chain.rpcUrl, 'eth_blockNumber', [])) });
  await callChain(service.chain.rpcUrl, 'anvil_mine', ['0x4']);
  const { router } = service.chain;
  const rpcUrls = ['http://127.0.0.1:1', first.url, second.url];
  const network = { id: 'eip155:84532', rpcUrls, router, blockTimeMs: 1_000, nativePriceMicro: '0' };
  const environment = { NETWORKS: JSON.stringify([network]), ...limits({ settleWaitMs: 20_000 }) };
  await Promise.all([service.startApi(environment), service.startWorker(environment)]);
  site = await service.site();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([first.close(), second.close()]);
});
afterEach(async () => {
  for (const proxy of [first, second]) proxy.set('*', null);
  await checkService(service);
});

test('with a dead URL and a frozen one before it, a buyer funded since is sold to; with the frozen one alone nobody says he has no money', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const sold = await sell(service.baseUrl, site.key, quote, await payFor(payer, quote));
  expect(sold.body).toMatchObject({ ok: true });

  const other = await service.payer(1_000_000n);
  const next = await askQuote(service.baseUrl, site.key, 'duo');
  const payment = await payFor(other, next);
  second.set('*', { kind: 'cut' });
  const answer = await sell(service.baseUrl, site.key, next, payment);
  expect([answer.status, answer.body]).toMatchObject([503, { ok: false, error: expect.stringMatching(/^chain_unavailable: /) }]);
  second.set('*', null);
  expect((await sellUntilDecided(service.baseUrl, site.key, next, payment)).body).toMatchObject({ ok: true });
});

test('while the first URL hangs payments are answered as ever, and the API is ready', async () => {
  const payers = await Promise.all([service.payer(1_000_000n), service.payer(1_000_000n), service.payer(1_000_000n)]);
  first.set('*', { kind: 'delay', ms: 600_000 });
  for (const payer of payers) {
    const quote = await askQuote(service.baseUrl, site.key, 'solo');
    const startedMs = performance.now();
    const sold = await sell(service.baseUrl, site.key, quote, await payFor(payer, quote));
    expect(sold.body).toMatchObject({ ok: true });
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
  }
});
