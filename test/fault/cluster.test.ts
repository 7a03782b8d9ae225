/**
 * Everything that needs a Temporal server on Postgres and processes behind a proxy, on one cluster: it takes longer to start than most of
 * these tests.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import type { TestCluster } from '../support/cluster.ts';
import { CLUSTER_LIMIT_MS, startTestCluster, whyNoCluster } from '../support/cluster.ts';
import { startReports } from '../support/clusterFaults.ts';
import { testPurchases } from '../support/onCluster/purchases.ts';
import { testRunbook } from '../support/onCluster/runbook.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestSite } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';

let cluster: TestCluster;
let collector: Receiver;
let site: TestSite;

beforeAll(async () => {
  if (whyNoCluster !== null) return;
  collector = await startReceiver();
  cluster = await startTestCluster({
    environment: {
      METRICS_PORT: '0',
      ...limits({ settleWaitMs: 5_000, metricsIntervalMs: 500 }),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
  });
  site = await cluster.service.site();
}, CLUSTER_LIMIT_MS);
afterAll(async () => {
  await cluster?.stop();
  await collector?.stop();
});

/** A payer, a quote and his payment for it. */
async function newPurchase(slug = 'trio') {
  const payer = await cluster.service.payer(1_000_000n);
  const quote = await askQuote(cluster.proxy.url, site.key, slug);
  return { payer, quote, payment: await payFor(payer, quote) };
}

/** Sent again until decided: one charge, one crossing. */
async function expectSettledOnce({ payer, quote, payment }: Awaited<ReturnType<typeof newPurchase>>): Promise<void> {
  const answer = await sellUntilDecided(cluster.proxy.url, site.key, quote, payment);
  expect(answer.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
  expect(await balancesOf(cluster.service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  const rows = await cluster.service.database.query('select 1 from crossing where payer = $1', [payer.address.toLowerCase()]);
  expect(rows).toHaveLength(1);
}

/** Postgres goes in the given way in the middle of reports and payments, and comes back. */
async function loseDatabase(end: () => Promise<void>): Promise<void> {
  const purchases = await Promise.all([newPurchase(), newPurchase('duo'), newPurchase('solo')]);
  const load = startReports(cluster.proxy.url, site);
  await expect.poll(() => load.acknowledged.size).toBeGreaterThan(50);
  const answers = purchases.map(({ quote, payment }) => sell(cluster.proxy.url, site.key, quote, payment).catch(() => null));
  await sleep(30);
  await end();
  await expect.poll(() => load.refusals.length).toBeGreaterThan(0);
  await cluster.startPostgres();
  const before = load.acknowledged.size;
  await expect.poll(() => load.acknowledged.size).toBeGreaterThan(before + 20);
  await load.stop();
  await Promise.all(answers);
  for (const purchase of purchases) await expectSettledOnce(purchase);
  // 502 and a lost connection: the proxy's caller cannot know; all others know that nothing was taken.
  expect(load.refusals.filter((status) => ![0, 502, 503].includes(status))).toEqual([]);
  const rows = await cluster.service.database.query<{ slug: string }>('select slug from observation where tenant_id = $1', [
    site.tenantId,
  ]);
  const written = new Set(rows.map(({ slug }) => slug));
  expect([...load.acknowledged].filter((slug) => !written.has(slug))).toEqual([]);
}

const skipped = whyNoCluster === null ? '' : ` (skipped: ${whyNoCluster})`;
const on = describe.skipIf(whyNoCluster !== null);

on(`the runbook${skipped}`, () => testRunbook(() => ({ cluster, site, collector })));
on(`a cluster and its buyers${skipped}`, () => testPurchases(() => ({ cluster, site })));
/** Parts killed under load: what was acknowledged stays, nothing is charged twice, all comes back by itself. */
on(`a cluster${skipped}`, () => {
  afterEach(() => cluster.checkInvariants());

  test('loses no acknowledged row and charges nobody twice when Postgres is killed under load, and goes on by itself', () =>
    loseDatabase(() => cluster.killPostgres()));

  test('loses no acknowledged row and charges nobody twice when Postgres is restarted under load', () =>
    loseDatabase(() => cluster.stopPostgres()));

  test('settles payments while Temporal is gone, and again when it is back', async () => {
    const purchases = await Promise.all([newPurchase(), newPurchase('duo')]);
    await cluster.killTemporal();
    await Promise.all(purchases.map(expectSettledOnce));
    await cluster.startTemporal();
    await expectSettledOnce(await newPurchase('solo'));
  });

  test('goes on with a payment whose workflow was running when Temporal was killed', async () => {
    const purchase = await newPurchase();
    const answer = sell(cluster.proxy.url, site.key, purchase.quote, purchase.payment).catch(() => null);
    const { payer } = purchase;
    await expect
      .poll(() => cluster.service.database.query('select 1 from payment where payer = $1', [payer.address.toLowerCase()]))
      .toHaveLength(1);
    await cluster.killTemporal();
    await cluster.startTemporal();
    await answer;
    await expectSettledOnce(purchase);
  });

  test('keeps a payment that no worker takes, and the first worker that comes settles it', async () => {
    const workers = cluster.liveWorkers();
    await Promise.all(workers.map((worker) => worker.kill()));
    const purchase = await newPurchase();
    const answer = await sell(cluster.proxy.url, site.key, purchase.quote, purchase.payment);
    expect([answer.status, answer.headers.get('payment-required')]).toEqual([402, null]);
    expect(answer.body.error).toMatch(/^settlement_pending: /);
    await Promise.all(workers.map(() => cluster.service.startWorker()));
    await expectSettledOnce(purchase);
  });

  test('runs each standing workflow once however many workers start it, and skips a check asked for while one runs', async () => {
    const client = await cluster.temporalClient();
    // A run is named by its schedule and its time. The list is a moment behind: what ends or continues may stand in it twice for that long.
    const standing = async (): Promise<string[]> => {
      const running: string[] = [];
      for await (const { workflowId, type } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
        if (type !== 'settlePayments') running.push(workflowId.replace(/-\d{4}-\d\d-\d\dT.*$/, ''));
      }
      return running;
    };
    await expect.poll(standing).toEqual(expect.arrayContaining(['sweepPayments:eip155:84532', 'closeEventWindows']));
    const twice = async () => (await standing()).filter((id, at, all) => all.indexOf(id) !== at);
    await expect.poll(twice).toEqual([]);
    const schedule = client.schedule.getHandle('checkRollups');
    await Promise.all([schedule.trigger(), schedule.trigger()]);
    expect((await schedule.describe()).policies.overlap).toBe('SKIP');
    await expect.poll(async () => (await schedule.describe()).info.numActionsTaken).toBeGreaterThan(0);
    await client.close();
  });
});
