import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
let postgres: CutProxy;
let temporal: CutProxy;
let chain: CutProxy;

beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  const databaseUrl = new URL(service.urls.appUrl);
  [postgres, temporal, chain] = await Promise.all([
    startProxy(Number(databaseUrl.port)),
    startProxy(Number(new URL(`tcp://${service.temporal.address}`).port)),
    startProxy(service.chain.port),
  ]);
  databaseUrl.port = String(postgres.port);
  const network = {
    id: 'eip155:84532',
    rpcUrls: [`http://127.0.0.1:${chain.port}`],
    router: service.chain.router,
    blockTimeMs: 1_000,
  };
  const environment = {
    DATABASE_URL: databaseUrl.href,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    NETWORKS: JSON.stringify([network]),
    ...limits({ settleWaitMs: 3_000 }),
  };
  await Promise.all([service.startApi(environment), service.startWorker(environment)]);
  site = await service.site();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([postgres.close(), temporal.close(), chain.close()]);
});
afterEach(() => checkService(service));

const settledOnce = async (payer: `0x${string}`, price: number): Promise<void> => {
  expect(await balancesOf(service, [payer])).toEqual([1_000_000n - BigInt(price)]);
  const rows = await service.database.query<{ count: string }>('select count(*) from crossing where payer = $1', [
    payer.toLowerCase(),
  ]);
  expect(rows).toEqual([{ count: '1' }]);
  const failures = await service.database.query(
    "select 1 from observation join payment using (tenant_id, payment_id) where payer = $1 and verdict = 'payment-failed'",
    [payer.toLowerCase()],
  );
  expect(failures).toEqual([]);
};

test('while Temporal is away a payment settles all the same: workers take it from its row, and send it without a workflow', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const payment = await payFor(payer, quote);
  temporal.cut();
  try {
    const answer = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
    expect(answer.body).toMatchObject({ ok: true });
  } finally {
    temporal.mend();
  }
  await settledOnce(payer.address, quote.price);
});

test('while Postgres is away verify answers 503 with ok false and Retry-After, counts nothing, and works again by itself', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'duo');
  const payment = await payFor(payer, quote);
  postgres.cut();
  const answer = await sell(service.baseUrl, site.key, quote, payment);
  expect(answer.status).toBe(503);
  expect(answer.body).toMatchObject({ ok: false, error: expect.stringMatching(/^database_unavailable: /) });
  expect(answer.headers.get('retry-after')).not.toBeNull();
  expect(answer.headers.get('payment-required')).toBeNull();
  postgres.mend();
  const later = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
  expect(later.body).toMatchObject({ ok: true });
  await settledOnce(payer.address, quote.price);
});

test('while the chain is away a stored payment stays pending, nothing is counted as failed, and it settles when it is back', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'solo');
  const payment = await payFor(payer, quote);
  chain.cut();
  const answer = await sell(service.baseUrl, site.key, quote, payment);
  expect([402, 503]).toContain(answer.status);
  expect(answer.body.ok).toBe(false);
  expect(answer.headers.get('payment-required')).toBeNull();
  chain.mend();
  const later = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
  expect(later.body).toMatchObject({ ok: true });
  await settledOnce(payer.address, quote.price);
});
