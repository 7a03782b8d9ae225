/** What an operator on call asks, answered by one command each. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseAlert } from '../../db/alerts.ts';
import { openDatabase } from '../../db/database.ts';
import { isDatabaseOutage } from '../../db/outage.ts';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import { noteNight } from '../../modules/operations/use/retention.ts';
import { VERSION } from '../../process/version.ts';
import { runServiceAdmin } from '../support/admin.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { insertWaiting } from '../support/waiting-deliveries.ts';

const NETWORK = 'eip155:84532';
let service: TestService;
let site: TestSite;
beforeAll(async () => {
  service = await startTestService({ worker: false, environment: { SETTLE_WAIT_MS: '500' } });
  site = await service.site();
});
afterAll(() => service?.stop());

const admin = (...args: string[]) => runServiceAdmin(service, service.urls.appUrl, ...args);
const findingOf = async (check: string) => {
  const { findings } = await admin('doctor');
  process.exitCode = 0; // the doctor says by it that parts are missing here
  return (findings as { check: string; state: string; found: string }[]).find((one) => one.check === check);
};

test('a payment that waits is listed with its age and what it waits for; then its site is named by the gas that it used', async () => {
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const payment = await payFor(payer, quote);
  expect((await sell(service.baseUrl, site.key, quote, payment)).status).toBe(402);
  const stuck = () => admin('payment', 'stuck', '--older', '0');
  const row = { tenantId: site.tenantId, host: site.host, state: 'accepted', payer: payer.address.toLowerCase() };
  expect(await stuck()).toMatchObject({
    count: 1,
    payments: [{ ...row, waitsFor: expect.stringMatching(/^a batch: no worker/) }],
  });
  expect(await admin('payment', 'stuck')).toEqual({ count: 0, payments: [] });
  await raiseAlert(service.database, 'relayer_balance', `${NETWORK} ${service.relayer}`);
  expect(await stuck()).toMatchObject({
    payments: [{ waitsFor: expect.stringMatching(/^gas/), ageSeconds: expect.any(Number) }],
  });

  await service.startWorker();
  expect((await sellUntilDecided(service.baseUrl, site.key, quote, payment)).body).toMatchObject({ ok: true });
  expect(await stuck()).toEqual({ count: 0, payments: [] });
  await expect
    .poll(() => admin('tenant', 'gas'))
    .toMatchObject({ days: 1, sites: [{ tenantId: site.tenantId, host: site.host, share: 1 }] });
});

test('receivers with deliveries that are due are listed with the host of their URL, and never its path', async () => {
  const endpointId = randomUUID();
  await service.database.query(
    `insert into webhook_endpoint (tenant_id, endpoint_id, url, event_types) values ($1, $2, 'https://hooks.example/secret', '{ping}')`,
    [site.tenantId, endpointId],
  );
  expect(await admin('endpoint', 'backlog')).toEqual({ receivers: [] });
  await insertWaiting(service.database, site.tenantId, endpointId, 3, { retrying: true, attempts: 2 });
  expect(await admin('endpoint', 'backlog')).toMatchObject({
    receivers: [
      { tenantId: site.tenantId, endpointId, origin: 'https://hooks.example', due: 3, enabled: true, workflowsUrl: null },
    ],
  });
  await service.database.query(
    "update webhook_endpoint set enabled = false, disabled_reason = 'owner', deleted_at = now() where endpoint_id = $1",
    [endpointId],
  );
});

test('the doctor says which release runs where, and an API says its own', async () => {
  const answer = await fetch(`${service.baseUrl}/healthz`);
  expect(await answer.json()).toEqual({ ok: true, version: VERSION });
  expect(await findingOf('releases')).toMatchObject({ state: 'ok', found: expect.stringContaining(`api ${VERSION} on `) });
  const older = new pg.Client({ connectionString: service.urls.appUrl, application_name: 'svc worker 0.0.9 on elsewhere' });
  await older.connect();
  expect(await findingOf('releases')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('worker 0.0.9 on elsewhere'),
  });
  await older.end();
});

test('the doctor and a gauge say how long ago a night ended well, and warn of one that was missed', async () => {
  const { database } = service;
  const nightAge = async () =>
    (await readDatabaseGauges(database, [NETWORK])).find(({ name }) => name === 'svc.night.age')?.value ?? Number.NaN;
  expect(await findingOf('night')).toMatchObject({ state: 'ok' });
  await noteNight({ database, clock: () => Date.now() - 27 * 3_600_000 });
  expect(await nightAge()).toBeCloseTo(27 * 3_600, -2);
  expect(await findingOf('night')).toMatchObject({ state: 'warn', found: expect.stringContaining('27 h ago') });
  await noteNight({ database, clock: Date.now });
  expect(await nightAge()).toBeLessThan(600);
});

test('a statement that a full disk refuses is counted, and is an outage', async () => {
  let full = 0;
  const onDiskFull = (): void => {
    full += 1;
  };
  const database = await openDatabase({ url: service.urls.appUrl, poolSize: 1, onDiskFull });
  const refused = await database.query("do $$ begin raise sqlstate '53100'; end $$").catch((error: unknown) => error);
  expect([isDatabaseOutage(refused), full]).toEqual([true, 1]);
  await database.close();
});
