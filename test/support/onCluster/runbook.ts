/** The breakages of docs/operations.md, on a cluster: alert, metric, trace and recovery are seen as they are described. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertRule } from '../../../sandbox/cluster/alerts.ts';
import { readAlertRules } from '../../../sandbox/cluster/alerts.ts';
import { metricsUrlOf } from '../../../sandbox/cluster/replicas.ts';
import type { Watch, WatchTarget } from '../../../sandbox/cluster/watch.ts';
import { startWatch } from '../../../sandbox/cluster/watch.ts';
import type { ServiceProcess } from '../../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../buying.ts';
import type { TestCluster } from '../cluster.ts';
import { checkService } from '../invariants.ts';
import { scaled } from '../patience.ts';
import type { TestSite } from '../service.ts';
import { balancesOf } from '../shop.ts';

/** The rules as they are, told sooner: a test has no minutes. Those about processes are left as they are. */
const RULES: readonly AlertRule[] = readAlertRules(new URL('../../../deploy/alerts.yml', import.meta.url)).map((rule) => ({
  ...rule,
  for: rule.expr.includes('up') ? (rule.for ?? '0s') : '1s',
  expr: rule.expr.replace('svc_settle_pending_age) > 60', 'svc_settle_pending_age) > 2').replace('> 120 or', '> 4 or'),
}));

let cluster: TestCluster;
let watch: Watch;
let site: TestSite;
let said: readonly string[];

/** The watch of a cluster that starts after it. */
export interface ClusterWatch {
  readonly watch: Watch;
  /** What it said until now. */
  readonly said: readonly string[];
  /** From when on the cluster's processes are asked. */
  follow(cluster: TestCluster): void;
}

/** Starts a watch with those rules. The caller closes it. */
export async function watchCluster(): Promise<ClusterWatch> {
  const lines: string[] = [];
  let followed: TestCluster | null = null;
  // As Prometheus does, it goes on asking processes that have ended.
  const targets = (): Map<string, WatchTarget> =>
    followed === null
      ? new Map()
      : new Map([...targetsOf('api', followed.service.apis), ...targetsOf('worker', followed.service.workers)]);
  const started = await startWatch({ rules: RULES, targets, say: (line) => lines.push(line), everyMs: 500 });
  const follow = (one: TestCluster): void => {
    followed = one;
  };
  return { watch: started, said: lines, follow };
}

function targetsOf(job: WatchTarget['job'], processes: readonly ServiceProcess[]): [string, WatchTarget][] {
  return processes.flatMap((one) => {
    const url = metricsUrlOf(one);
    return url === null ? [] : [[String(one.process.pid), { job, url }]];
  });
}

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

const firing = (): string[] => watch.alerts().flatMap(({ alert, state }) => (state === 'firing' ? [alert] : []));
const quiet = (alert: string) => expect.poll(firing).not.toContain(alert);

async function metric(name: string): Promise<number[]> {
  const text = await (await fetch(`${watch.url}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
}

/** Every drawn trace with a span of that name. */
async function traces(name: string): Promise<string[]> {
  const found = (await (await fetch(`${watch.url}/traces?name=${encodeURIComponent(name)}`)).json()) as { traceId: string }[];
  return Promise.all(found.map(async ({ traceId }) => (await fetch(`${watch.url}/traces/${traceId}`)).text()));
}

async function readiness(): Promise<number[]> {
  return Promise.all(cluster.liveApis().map(async ({ url }) => (await fetch(`${url}/readyz`)).status));
}

/** The runbook, as tests of the suite that calls it; all processes are back and nobody asks their metrics any more when they have run. */
export function testRunbook(given: () => { readonly cluster: TestCluster; readonly site: TestSite } & ClusterWatch): void {
  beforeAll(() => {
    ({ cluster, site, watch, said } = given());
  });
  afterAll(async () => {
    await cluster.addApi();
    await watch.close();
  });

  test('both workers killed: the payment waits, GaugesStale fires, and the trace of the request ends on the chain once a worker is back', {
    timeout: scaled(480_000),
  }, async () => {
    const workers = cluster.liveWorkers();
    await Promise.all(workers.map((worker) => worker.kill()));
    const purchase = await newPurchase();
    await expectPending(purchase);
    await expect.poll(firing).toContain('GaugesStale');
    expect(await metric('svc_gauges_read_at')).toEqual([]);
    await Promise.all(workers.map(() => cluster.service.startWorker()));
    await expectSettledOnce(purchase);
    await quiet('GaugesStale');
    expect(said).toEqual(
      expect.arrayContaining([expect.stringMatching(/^alert GaugesStale \(page\): /), 'alert GaugesStale is over']),
    );
    const whole = [/svc-api +POST \/_svc\/verify\n/, /svc-worker +RunActivity:sendSettlement\n/, / rpc eth_sendRawTransaction\n/];
    await expect
      .poll(async () => (await traces('sendSettlement')).some((drawn) => whole.every((step) => step.test(drawn))))
      .toBe(true);
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
    await quiet('PaymentsPendingTooLong');
    await checkService(cluster.service);
  });

  test('Postgres killed: payments are an outage without an offer, GaugesStale fires, and all goes on by itself once Postgres is back', {
    timeout: scaled(480_000),
  }, async () => {
    const purchase = await newPurchase();
    await cluster.killPostgres();
    await sleep(500);
    const answer = await sell(cluster.proxy.url, site.key, purchase.quote, purchase.payment);
    expect([answer.status, answer.headers.get('payment-required')]).toEqual([503, null]);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    await expect.poll(readiness).toEqual([503, 503]);
    await expect.poll(firing).toContain('GaugesStale');
    await cluster.startPostgres();
    await expectSettledOnce(purchase);
    await expect.poll(readiness).toEqual([200, 200]);
    const listening = "select 1 from pg_stat_activity where query = 'listen svc_tenant' and datname = current_database()";
    await expect.poll(() => cluster.service.database.query(listening)).toHaveLength(cluster.liveApis().length);
    await quiet('GaugesStale');
    await checkService(cluster.service);
  });

  test('both APIs killed and held: ApiDown pages within a minute and no other alert does; it is over once one is back', {
    timeout: scaled(480_000),
  }, async () => {
    expect(firing()).not.toContain('ApiDown');
    const startedMs = performance.now();
    await Promise.all(cluster.liveApis().map((api) => api.kill()));
    await expect.poll(firing).toEqual(['ApiDown']);
    expect(performance.now() - startedMs).toBeLessThan(60_000);
    expect(watch.alerts().find(({ alert }) => alert === 'ApiDown')?.severity).toBe('page');
    await cluster.addApi();
    await quiet('ApiDown');
    await checkService(cluster.service);
  });
}
