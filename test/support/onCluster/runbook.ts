/**
 * The breakages of docs/runbook.md, on a cluster: figures, trace and recovery are seen as they are described. Which alert fires on which
 * figures is test/repo/promtool.test.ts's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceProcess } from '../../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../buying.ts';
import type { TestCluster } from '../cluster.ts';
import { checkService } from '../invariants.ts';
import { scaled } from '../patience.ts';
import type { Receiver } from '../receiver.ts';
import type { TestSite } from '../service.ts';
import { balancesOf } from '../shop.ts';
import { readMetrics, spansOf } from '../telemetry.ts';

let cluster: TestCluster;
let site: TestSite;
let collector: Receiver;

async function newPurchase() {
  const payer = await cluster.service.payer(1_000_000n);
  const quote = await askQuote(cluster.proxy.url, site.key, 'trio');
  return { payer, quote, payment: await payFor(payer, quote) };
}
type Purchase = Awaited<ReturnType<typeof newPurchase>>;

/** Told to ask again with the same payment, and offered nothing. */
async function expectPending({ quote, payment }: Purchase): Promise<void> {
  const answer = await sell(cluster.proxy.url, site.key, quote, payment);
  expect([answer.status, answer.headers.get('payment-required')]).toEqual([402, null]);
  expect(answer.body.error).toMatch(/^settlement_pending: /);
}

async function expectSettledOnce({ payer, quote, payment }: Purchase): Promise<void> {
  const answer = await sellUntilDecided(cluster.proxy.url, site.key, quote, payment);
  expect(answer.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
  expect(await balancesOf(cluster.service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
}

/** The figure of every process that shows it; a process that does not answer shows none. */
async function metric(name: string): Promise<number[]> {
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm');
  const texts = await Promise.all(processes().map((one) => readMetrics(one).catch(() => '')));
  return texts.flatMap((text) => [...text.matchAll(line)].map(([, value]) => Number(value)));
}

const processes = (): readonly ServiceProcess[] => [...cluster.service.apis, ...cluster.service.workers];
/** As the rules judge it: seconds since the newest figure of the database was read; null when no process shows one. */
async function gaugesAge(): Promise<number | null> {
  const read = await metric('svc_gauges_read_at');
  return read.length === 0 ? null : Date.now() / 1_000 - Math.max(...read);
}
/** How many API processes serve metrics. */
async function apisUp(): Promise<number> {
  const texts = await Promise.all(cluster.service.apis.map((one) => readMetrics(one).catch(() => '')));
  return texts.filter((text) => text !== '').length;
}

/** The spans of every trace that has one of that name, as `process name`. */
function traces(name: string): string[][] {
  const byTrace = Map.groupBy(spansOf(collector), ({ traceId }) => traceId);
  return [...byTrace.values()]
    .map((spans) => spans.map((span) => `${span.service} ${span.name}`))
    .filter((spans) => spans.some((span) => span.includes(name)));
}

async function readiness(): Promise<number[]> {
  return Promise.all(cluster.liveApis().map(async ({ url }) => (await fetch(`${url}/readyz`)).status));
}

/** The runbook, as tests of the suite that calls it; all processes are back when they have run. */
export function testRunbook(
  given: () => { readonly cluster: TestCluster; readonly site: TestSite; readonly collector: Receiver },
): void {
  beforeAll(() => {
    ({ cluster, site, collector } = given());
  });
  afterAll(async () => {
    await cluster.addApi();
  });

  test('both workers killed: the payment waits, no process shows figures of the database, and once a worker is back it settles, and the trace of the next purchase ends on the chain', {
    timeout: scaled(480_000),
  }, async () => {
    const workers = cluster.liveWorkers();
    await Promise.all(workers.map((worker) => worker.kill()));
    const purchase = await newPurchase();
    await expectPending(purchase);
    expect(await gaugesAge()).toBeNull();
    await Promise.all(workers.map(() => cluster.service.startWorker()));
    await expectSettledOnce(purchase);
    await expect.poll(gaugesAge).toBeLessThan(30);
    await expectSettledOnce(await newPurchase()); // announced with its trace, which what waited for the start is not
    const whole = [/^svc-api POST \/_svc\/verify$/, /^svc-worker sendAtOnce$/, / rpc eth_sendRawTransaction$/];
    const isWhole = (spans: readonly string[]): boolean => whole.every((step) => spans.some((span) => step.test(span)));
    await expect.poll(() => traces('sendAtOnce').some(isWhole)).toBe(true);
    await checkService(cluster.service);
  });

  test('Temporal killed: not ready, workers settle the payment all the same, and all is ready once Temporal is back', {
    timeout: scaled(480_000),
  }, async () => {
    await cluster.killTemporal();
    const purchase = await newPurchase();
    await expectSettledOnce(purchase);
    await expect.poll(readiness).toEqual([503, 503]);
    await cluster.startTemporal();
    await expect.poll(readiness).toEqual([200, 200]);
    await expect.poll(async () => Math.max(0, ...(await metric('svc_settle_pending_age')))).toBeLessThan(60);
    await checkService(cluster.service);
  });

  test('Postgres killed: payments are an outage without an offer, the figures of the database stand still, and all goes on by itself once Postgres is back', {
    timeout: scaled(480_000),
  }, async () => {
    const purchase = await newPurchase();
    await cluster.killPostgres();
    const goneAt = Date.now() / 1_000;
    try {
      await sleep(500);
      const answer = await sell(cluster.proxy.url, site.key, purchase.quote, purchase.payment);
      expect([answer.status, answer.headers.get('payment-required')]).toEqual([503, null]);
      expect(answer.headers.get('retry-after')).not.toBeNull();
      await expect.poll(readiness).toEqual([503, 503]);
      await sleep(3_000);
      // Judged by when Postgres went, not by an earlier look: a process that is busy shows nothing at one look and its figure at the next.
      expect(Math.max(...(await metric('svc_gauges_read_at')))).toBeLessThanOrEqual(goneAt);
    } finally {
      await cluster.startPostgres(); // what runs on this cluster next is not to fail for what failed here
    }
    await expectSettledOnce(purchase);
    await expect.poll(readiness).toEqual([200, 200]);
    const listening = "select 1 from pg_stat_activity where query = 'listen svc_tenant' and datname = current_database()";
    await expect.poll(() => cluster.service.database.query(listening)).toHaveLength(cluster.liveApis().length);
    await expect.poll(gaugesAge).toBeLessThan(5);
    await checkService(cluster.service);
  });

  test('both APIs killed and held: none serves metrics, which ApiDown is about, and workers still do; one is back', {
    timeout: scaled(480_000),
  }, async () => {
    expect(await apisUp()).toBeGreaterThan(0);
    await Promise.all(cluster.liveApis().map((api) => api.kill()));
    await expect.poll(apisUp).toBe(0);
    expect((await metric('svc_process_loop_delay')).length).toBeGreaterThan(0);
    await cluster.addApi();
    await expect.poll(apisUp).toBe(1);
    await checkService(cluster.service);
  });
}
