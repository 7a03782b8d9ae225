/** Postgres that takes no writes, as one does while a standby takes over: connections are cut, new ones may only read. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import { startReports } from '../support/clusterFaults.ts';
import { checkService } from '../support/invariants.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { readMetrics, sumOf } from '../support/telemetry.ts';

let service: TestService;
let site: TestSite;
let operator: pg.Client;
beforeAll(async () => {
  service = await startTestService({ environment: { ...limits({ settleWaitMs: 3_000 }), METRICS_PORT: '0' } });
  site = await service.site();
  operator = new pg.Client({ connectionString: service.urls.superUrl });
  await operator.connect();
});
afterAll(async () => {
  await operator.end();
  await service.stop();
});

/** Whether new sessions may write; every session there is loses its connection. */
async function failOver(to: 'read-only' | 'writable'): Promise<void> {
  const { name } = service.urls;
  await operator.query(`alter database "${name}" set default_transaction_read_only = ${to === 'read-only' ? 'on' : 'off'}`);
  await operator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()', [
    name,
  ]);
}

const readiness = async () => {
  const answer = await fetch(`${service.baseUrl}/readyz`);
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
};

test('a Postgres that turns read-only under load is an outage, never a defect: 503 before a row, pending after it, and nothing is lost', async () => {
  const payers = await Promise.all(['solo', 'duo', 'trio'].map(() => service.payer(1_000_000n)));
  const [early, late] = [await askQuote(service.baseUrl, site.key, 'trio'), await askQuote(service.baseUrl, site.key, 'duo')];
  const [stored, fresh] = [await payFor(payers[0]!, early), await payFor(payers[1]!, late)];
  const load = startReports(service.baseUrl, site, 4);
  await expect.poll(() => load.acknowledged.size).toBeGreaterThan(20);

  await Promise.all(service.workers.map((worker) => worker.stop())); // nobody settles: the row below stays undecided
  const pending = await sell(service.baseUrl, site.key, early, stored);
  expect([pending.status, pending.headers.get('x-svc-error-code')]).toEqual([402, 'settlement_pending']);
  await failOver('read-only');

  await expect.poll(async () => (await readiness()).status).toBe(503);
  expect(await readiness()).toMatchObject({ retryAfter: '2', body: { ok: false, checks: { database: 'failed', chain: 'ok' } } });
  const refused = load.refusals.length;
  const taken = load.acknowledged.size;
  await expect.poll(() => load.refusals.length).toBeGreaterThan(refused + 20);
  expect(load.acknowledged.size).toBe(taken);

  const answer = await sell(service.baseUrl, site.key, late, fresh);
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([503, 'database_unavailable']);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(answer.headers.get('payment-required')).toBeNull();
  const again = await sell(service.baseUrl, site.key, early, stored);
  expect([again.status, again.headers.get('x-svc-error-code')]).toEqual([402, 'settlement_pending']);
  expect((await askQuote(service.baseUrl, site.key, 'duo')).price).toBe(late.price);
  // A challenge stores nothing, so that it is given all the same; what must be written is not.
  const others = await Promise.all([
    fetch(`${service.baseUrl}/_svc/accounts/challenge?address=0x${'1'.repeat(40)}`),
    fetch(`${service.baseUrl}/_svc/verify-host`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
      body: '{"host":"elsewhere.example"}',
    }),
  ]);
  expect(others.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [200, null],
    [503, '2'],
  ]);

  // The three answers to presented payments, each counted once, where it was made.
  expect(sumOf(await readMetrics(service.apis[0]!), 'svc.settle.outcome')).toBe(3);

  await failOver('writable');
  await service.startWorker();
  for (const [index, [quote, payment]] of (
    [
      [early, stored],
      [late, fresh],
    ] as const
  ).entries()) {
    const decided = await sellUntilDecided(service.baseUrl, site.key, quote, payment);
    expect(decided.body).toMatchObject({ ok: true });
    expect(await balancesOf(service, [payers[index]!.address])).toEqual([1_000_000n - BigInt(quote.price)]);
  }
  expect((await readiness()).status).toBe(200);
  await load.stop();
  const rows = await service.database.query<{ slug: string }>('select slug from observation where tenant_id = $1', [
    site.tenantId,
  ]);
  const written = new Set(rows.map(({ slug }) => slug));
  expect([...load.acknowledged].filter((slug) => !written.has(slug))).toEqual([]);
  expect(new Set(load.refusals)).toEqual(new Set([503]));
  expect(await service.database.query('select kind from operator_alert')).toEqual([]);
  await checkService(service);
});
