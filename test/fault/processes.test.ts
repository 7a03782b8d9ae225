/** Processes of the service ended, delayed and misled, with the chain as the judge. */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { createServiceSecrets } from '../../process/serviceSecrets.ts';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { blockable, wrongClock } from '../support/clusterFaults.ts';
import { askGraph } from '../support/graphql.ts';
import { checkService } from '../support/invariants.ts';
import { scaled } from '../support/patience.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { whileLocked } from '../support/sql.ts';
import { readMetrics, sumOf } from '../support/telemetry.ts';

const TEN_MINUTES_MS = 600_000;

let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({ environment: limits({ settleWaitMs: 5_000, databasePoolSize: 4 }) });
  site = await service.site();
});
afterAll(() => service?.stop());
afterEach(() => checkService(service));

async function newPurchase(baseUrl = service.baseUrl, slug = 'trio') {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(baseUrl, site.key, slug);
  return { payer, quote, payment: await payFor(payer, quote) };
}
/** Status of /readyz; 0 when nobody listens any more. */
async function readinessOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } }).catch(() => null);
  return answer?.status ?? 0;
}
type Purchase = Awaited<ReturnType<typeof newPurchase>>;

async function expectSettledOnce({ payer, quote, payment }: Purchase, baseUrl = service.baseUrl) {
  const answer = await sellUntilDecided(baseUrl, site.key, quote, payment);
  expect(answer.body).toMatchObject({ ok: true, chargedMicro: String(quote.price) });
  expect(await balancesOf(service, [payer.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  return answer;
}

test('with every connection of the pool held a payment is an outage, charges nothing, and settles when they are free', async () => {
  const api = await service.startApi();
  const purchase = await newPurchase(api.url);
  const blocker = new pg.Client({ connectionString: service.urls.superUrl });
  await blocker.connect();
  await blocker.query('begin; lock table member in access exclusive mode');
  const path = '/_svc/members';
  const held = Array.from({ length: 8 }, () =>
    fetch(api.url + path, { headers: { authorization: `Bearer ${site.key}` } })
      .then((answer) => answer.arrayBuffer())
      .catch(() => null),
  );
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and application_name like 'svc api %' and wait_event_type = 'Lock'`;
  await expect.poll(() => service.database.query(waiting)).toHaveLength(4);
  const answer = await sell(api.url, site.key, purchase.quote, purchase.payment);
  expect([402, 503]).toContain(answer.status);
  expect(answer.headers.get('payment-required')).toBeNull();
  expect(answer.headers.get('retry-after')).not.toBeNull();
  await blocker.query('rollback');
  await blocker.end();
  await Promise.all(held);
  await expectSettledOnce(purchase, api.url);
  await api.stop();
});

test('with every connection of reports held, payments go on as ever', async () => {
  const purchase = await newPurchase();
  // A site has one report at once on two cores.
  const others = await Promise.all([1, 2, 3, 4, 5].map(() => service.site()));
  const sites = [site, ...others];
  const audit = `${service.baseUrl}/_svc/audit?from=${Date.now() - 60 * 86_400_000}`;
  const held = await whileLocked(service.urls.superUrl, 'observation_default', async () => {
    const asked = sites.flatMap(({ key }) =>
      Array.from({ length: 4 }, () => fetch(audit, { headers: { authorization: `Bearer ${key}` } })),
    );
    await expect.poll(() => service.database.query(waitingOf('svc reports'))).toEqual([{ n: 6 }]);
    await expectSettledOnce(purchase);
    return asked;
  });
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
});

test("with every connection of GraphQL's pool held, payments and reports of the REST API go on as ever", async () => {
  const purchase = await newPurchase();
  const query = '{ tenant { anomalyRules { nodes { ruleId } } } }';
  // A site has half of the connections at most, and one piece of heavy work at once on two cores.
  const [sites, other] = [[site, await service.site()], await service.site()];
  const held = await whileLocked(service.urls.superUrl, 'anomaly_rule', async () => {
    const asked = sites.flatMap(({ key }) =>
      Array.from({ length: 6 }, () => askGraph(`${service.baseUrl}${GRAPHQL_PATH}`, key, query)),
    );
    await expect.poll(() => service.database.query(waitingOf('svc graphql'))).toEqual([{ n: 2 }]);
    await expectSettledOnce(purchase);
    const headers = { authorization: `Bearer ${other.key}` };
    expect((await fetch(`${service.baseUrl}/_svc/earnings?from=1`, { headers })).status).toBe(200);
    return asked;
  });
  await Promise.all(held);
});

/** How many connections of a pool wait for a lock. */
function waitingOf(pool: string): string {
  return `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and application_name = '${pool}' and wait_event_type = 'Lock'`;
}

test('a report with a character that no database takes is refused alone, at the same moment as others that are written', async () => {
  const slugs = Array.from({ length: 20 }, (_, at) => (at === 7 ? 'poison\u0000' : `beside-poison-${at}`));
  const answers = await Promise.all(
    slugs.map((slug) =>
      fetch(`${service.baseUrl}/_svc/observe`, {
        method: 'POST',
        headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ resource: `https://${site.host}/articles/x`, slug, verdict: 'denied', classifiedAs: 'agent' }),
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(slugs.map((_, at) => (at === 7 ? 400 : 202)));
  const rows = await service.database.query<{ slug: string }>(
    "select slug from observation where tenant_id = $1 and slug like '%poison%'",
    [site.tenantId],
  );
  expect(rows.map(({ slug }) => slug).sort()).toEqual(slugs.filter((_, at) => at !== 7).sort());
});

test('an API told to end while it sells says that it is not ready, finishes the sale, and only then ends', async () => {
  const api = await service.startApi();
  const purchase = await newPurchase(api.url);
  const workers = service.workers.filter((one) => one.process.isRunning()).map((one) => one.process.pid);
  for (const pid of workers) process.kill(pid, 'SIGSTOP');
  const selling = sell(api.url, site.key, purchase.quote, purchase.payment);
  try {
    await expect
      .poll(() => service.database.query('select 1 from payment where payer = $1', [purchase.payer.address.toLowerCase()]))
      .toHaveLength(1);
    process.kill(api.process.pid, 'SIGTERM');
    await expect.poll(() => readinessOf(api.url)).not.toBe(200);
  } finally {
    for (const pid of workers) process.kill(pid, 'SIGCONT');
  }
  const sold = await selling;
  if (sold.status !== 200) expect([sold.status, sold.body.error]).toEqual([402, expect.stringMatching(/^settlement_pending: /)]);
  expect(await api.process.exited).toEqual({ code: 0, signal: null });
  await expectSettledOnce(purchase);
});

test('an API told to end in the middle of an export sends it whole, or cuts the connection', async () => {
  const api = await service.startApi();
  await expectSettledOnce(await newPurchase(api.url), api.url);
  const answer = await fetch(`${api.url}/_svc/earnings/export.csv?from=1`, { headers: { authorization: `Bearer ${site.key}` } });
  process.kill(api.process.pid, 'SIGTERM');
  const rows = Number(answer.headers.get('x-svc-row-count'));
  const text = await answer.text().catch(() => null);
  if (text !== null) expect(text.trim().split('\r\n')).toHaveLength(rows + 1);
  expect(await api.process.exited).toEqual({ code: 0, signal: null });
});

test('a worker told to end in the middle of a payment loses nothing: another one takes it over', async () => {
  const purchase = await newPurchase();
  const selling = sell(service.baseUrl, site.key, purchase.quote, purchase.payment);
  await sleep(20);
  const worker = service.workers.find((one) => one.process.isRunning());
  process.kill(worker?.process.pid as number, 'SIGTERM');
  const next = await service.startWorker();
  await selling;
  await expectSettledOnce(purchase);
  expect(await worker?.process.exited).toEqual({ code: 0, signal: null });
  expect(next.process.isRunning()).toBe(true);
});

test.for([
  ['fast', TEN_MINUTES_MS],
  ['slow', -TEN_MINUTES_MS],
] as const)(
  'an API and a worker whose clocks are ten minutes %s charge nobody twice, and what they refuse the others sell',
  async ([, offsetMs]) => {
    const [api, worker] = await Promise.all([service.startApi(wrongClock(offsetMs)), service.startWorker(wrongClock(offsetMs))]);
    const purchase = await newPurchase();
    const first = await sell(api.url, site.key, purchase.quote, purchase.payment);
    expect([200, 402, 503], first.text).toContain(first.status);
    const again = await newPurchase(service.baseUrl, 'duo');
    await expectSettledOnce(again);
    const spent = 1_000_000n - ((await balancesOf(service, [purchase.payer.address]))[0] ?? 0n);
    expect([0n, BigInt(purchase.quote.price)]).toContain(spent);
    if (first.status === 200) expect(spent).toBe(BigInt(purchase.quote.price));
    await Promise.all([api.stop(), worker.stop()]);
  },
);

test('a licence outlives the rotation of the key that signed it, and the new key is published a day before it signs', async () => {
  const purchase = await newPurchase();
  const { body } = await expectSettledOnce(purchase);
  const next = createServiceSecrets().licenceKey;
  const keys = JSON.stringify({ keys: [next, service.secrets.licenceKey] });
  const rotated = await service.startApi({ LICENCE_KEYS: keys });
  const jwks = (await (await fetch(`${rotated.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  const { kid } = decodeProtectedHeader(body.licenseJws);
  expect(jwks.keys.map((key) => key.kid)).toContain(kid);
  expect(jwks.keys).toHaveLength(2);
  const checked = await fetch(`${rotated.url}/_svc/license/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ license: body.licenseJws, resource: purchase.quote.resource, slug: 'trio' }),
  });
  expect(await checked.json()).toMatchObject({ entitled: true });
  const later = await newPurchase(rotated.url, 'solo');
  const sold = await expectSettledOnce(later, rotated.url);
  expect(decodeProtectedHeader(sold.body.licenseJws).kid).toBe(kid);
  await rotated.stop();
});

test('two seconds without an event loop in API and worker delay a payment and lose nothing', async () => {
  const old = service.workers.filter((one) => one.process.isRunning());
  const environment = { ...blockable(2_000), METRICS_PORT: '0' };
  const [api, worker] = await Promise.all([service.startApi(environment), service.startWorker(environment)]);
  await Promise.all(old.map((one) => one.kill()));
  const purchase = await newPurchase(api.url);
  const selling = sell(api.url, site.key, purchase.quote, purchase.payment);
  await sleep(50);
  for (const { process: part } of [worker, api]) process.kill(part.pid, 'SIGUSR2');
  const health = await fetch(`${api.url}/healthz`, { signal: AbortSignal.timeout(scaled(60_000)) });
  expect(health.status).toBe(200);
  // The watchdog: the longest block since the last look, which EventLoopBlocked of deploy/alerts.yml judges.
  for (const part of [api, worker]) expect(sumOf(await readMetrics(part), 'svc.process.loop_delay')).toBeGreaterThan(1_500);
  await selling;
  await expectSettledOnce(purchase, api.url);
  expect([api.process.isRunning(), worker.process.isRunning()]).toEqual([true, true]);
});
