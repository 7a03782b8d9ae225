/** An API and a worker that start while a part is away: they stay up, the rest works, and what waited goes on when the part is back. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { Environment, TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

let service: TestService;
let site: TestSite;
let postgres: CutProxy;
let temporal: CutProxy;
let chain: CutProxy;
let behindProxies: Environment;

beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  const databaseUrl = new URL(service.urls.appUrl);
  [postgres, temporal, chain] = await Promise.all([
    startProxy(Number(databaseUrl.port)),
    startProxy(Number(new URL(`tcp://${service.temporal.address}`).port)),
    startProxy(service.chain.port),
  ]);
  databaseUrl.port = String(postgres.port);
  const rpcUrls = [`http://127.0.0.1:${chain.port}`];
  behindProxies = {
    DATABASE_URL: databaseUrl.href,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    NETWORKS: JSON.stringify([{ id: 'eip155:84532', rpcUrls, router: service.chain.router, blockTimeMs: 1_000 }]),
  };
  site = await service.site();
});
afterAll(async () => {
  await service.stop();
  await Promise.all([postgres.close(), temporal.close(), chain.close()]);
});
afterEach(async () => {
  for (const proxy of [postgres, temporal, chain]) proxy.mend();
  await Promise.all([...service.apis, ...service.workers].map((one) => one.stop()));
  await checkService(service);
});

interface Line {
  readonly level: string;
  readonly part?: string;
  readonly networkId?: string;
}
/** What a process wrote; each line is JSON. */
const linesOf = (logFile: string): Line[] =>
  readFileSync(logFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
/** Until a process that is starting has said of a part that it is away. */
async function untilSaid(name: 'api' | 'worker', part: string): Promise<void> {
  const { folder } = inject('parts');
  const said = (): boolean =>
    readdirSync(folder)
      .filter((file) => file.startsWith(`${name}-`) && !logsBefore.has(file))
      .some((file) => readFileSync(join(folder, file), 'utf8').includes(`"part":"${part}"`));
  await expect.poll(said).toBe(true);
}
let logsBefore: ReadonlySet<string> = new Set();
beforeEach(() => {
  logsBefore = new Set(readdirSync(inject('parts').folder));
});
const readinessOf = async (url: string) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { checks: Record<string, string> } };
};
const ask = (url: string, path: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' } });

async function newPurchase(url: string) {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(url, site.key, 'trio');
  return { url, payer, quote, payment: await payFor(payer, quote) };
}
async function expectSettledOnce({ url, payer, quote, payment }: Awaited<ReturnType<typeof newPurchase>>) {
  const answer = await sellUntilDecided(url, site.key, quote, payment);
  expect(answer.body).toMatchObject({ ok: true });
  expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
}

test('an API that starts without any node serves quotes and reports, gives payments 503, says so, and sells when a node is back', async () => {
  await service.startWorker();
  chain.cut();
  const api = await service.startApi(behindProxies);
  expect(await readinessOf(api.url)).toMatchObject({ status: 503, body: { checks: { chain: 'failed', database: 'ok' } } });
  expect((await ask(api.url, '/_svc/earnings?from=1')).status).toBe(200);
  const purchase = await newPurchase(api.url);
  const refused = await sell(api.url, site.key, purchase.quote, purchase.payment);
  expect([refused.status, refused.headers.get('x-svc-error-code')]).toEqual([503, 'chain_unavailable']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect(linesOf(api.process.logFile).filter(({ part }) => part === 'chain')).toHaveLength(1);
  chain.mend();
  await expect.poll(async () => (await readinessOf(api.url)).status).toBe(200);
  await expectSettledOnce(purchase);
});

test('an API that starts without Temporal sells, gives what needs a workflow 503, says so, and is ready when Temporal is back', async () => {
  await service.startWorker();
  temporal.cut();
  const api = await service.startApi(behindProxies);
  await expect.poll(async () => (await readinessOf(api.url)).body.checks['temporal']).toBe('failed');
  await expectSettledOnce(await newPurchase(api.url));
  const host = await ask(api.url, '/_svc/verify-host', { method: 'POST', body: '{"host":"elsewhere.example"}' });
  expect([host.status, host.headers.get('x-svc-error-code')]).toEqual([503, 'workflows_unavailable']);
  expect(host.headers.get('retry-after')).not.toBeNull();
  expect(linesOf(api.process.logFile).filter(({ part }) => part === 'temporal')).toMatchObject([{ level: 'warn' }]);
  temporal.mend();
  await expect.poll(async () => (await readinessOf(api.url)).status).toBe(200);
});

test('an API that starts without Postgres waits, and opens when Postgres is back', async () => {
  await service.startWorker();
  postgres.cut();
  const starting = service.startApi(behindProxies);
  await untilSaid('api', 'database');
  postgres.mend();
  const api = await starting;
  expect(linesOf(api.process.logFile).filter(({ part }) => part === 'database')).toMatchObject([
    { level: 'warn' },
    { level: 'info' },
  ]);
  await expectSettledOnce(await newPurchase(api.url));
});

test('a worker that starts without any node stays up, and sends what waited when a node is back', async () => {
  const api = await service.startApi();
  chain.cut();
  const worker = await service.startWorker(behindProxies);
  expect(linesOf(worker.process.logFile)).toContainEqual(expect.objectContaining({ level: 'warn', networkId: 'eip155:84532' }));
  const purchase = await newPurchase(api.url);
  const selling = sell(api.url, site.key, purchase.quote, purchase.payment);
  await expect
    .poll(() => service.database.query('select state from payment where payer = $1', [purchase.payer.address.toLowerCase()]))
    .toEqual([{ state: 'accepted' }]);
  chain.mend();
  await selling;
  await expectSettledOnce(purchase);
  expect(worker.process.isRunning()).toBe(true);
});

test('a worker that starts without Temporal settles payments all the same, says so, and takes up workflows when Temporal is back', async () => {
  const api = await service.startApi();
  temporal.cut();
  const starting = service.startWorker(behindProxies);
  await expectSettledOnce(await newPurchase(api.url));
  await untilSaid('worker', 'temporal');
  temporal.mend();
  const worker = await starting;
  const told = linesOf(worker.process.logFile).filter(({ part }) => part === 'temporal');
  expect(told).toMatchObject([{ level: 'warn' }, { level: 'info' }]);
});

test('a worker that starts without Postgres waits, and works when Postgres is back', async () => {
  const api = await service.startApi();
  postgres.cut();
  const starting = service.startWorker(behindProxies);
  await untilSaid('worker', 'database');
  const purchase = await newPurchase(api.url);
  postgres.mend();
  await expectSettledOnce(purchase);
  const worker = await starting;
  expect(linesOf(worker.process.logFile).filter(({ part }) => part === 'database')).toMatchObject([
    { level: 'warn' },
    { level: 'info' },
  ]);
});

test('a worker that starts with neither nodes nor Temporal settles as soon as a node is there', async () => {
  const api = await service.startApi();
  chain.cut();
  temporal.cut();
  const starting = service.startWorker(behindProxies);
  const purchase = await newPurchase(api.url);
  const selling = sell(api.url, site.key, purchase.quote, purchase.payment);
  chain.mend();
  await selling;
  await expectSettledOnce(purchase);
  temporal.mend();
  await starting;
});
