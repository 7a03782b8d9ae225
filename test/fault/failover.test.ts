/**
 * Postgres is lost in the middle of sales, and its standby is promoted (docs/backup.md): the processes find the new primary by themselves through
 * a URL of both, nobody is charged twice, no sale that was answered is lost, and the former primary is never written to again.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { runMigration } from '../../sandbox/cluster/topology.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { query } from '../support/sql.ts';
import { startStandby } from '../support/standby.ts';

const START = 1_000_000n;
const BUYERS = 12;
const folder = join(inject('parts').folder, randomUUID().slice(0, 8)); // a run that could not stop its parts leaves the next one alone
const folders = { primary: join(folder, 'failover-primary'), standby: join(folder, 'failover-standby') };
let primary: Postgres;
let standby: Postgres;
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  primary = await startPostgres({ folder: folders.primary, archive: true });
  await runMigration(primary.ownerUrl, folders.primary);
  standby = await startStandby(primary, folders);
  const both = (url: string): string =>
    `${url.replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`)}?target_session_attrs=read-write`;
  const urls = {
    superUrl: standby.superUrl,
    ownerUrl: both(primary.ownerUrl),
    appUrl: both(primary.appUrl),
    name: 'svc',
    drop: async () => undefined,
  };
  service = await startTestService({ on: { urls, temporal: await createNamespace() }, environment: { SETTLE_WAIT_MS: '3000' } });
  site = await service.site();
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([primary?.stop(), standby?.stop()]);
  removeCluster(folders.standby);
  removeCluster(folders.primary);
});

async function signAll() {
  const signed = [];
  for (let buyer = 0; buyer < BUYERS; buyer += 1) {
    const payer = await service.payer(START);
    const quote = await askQuote(service.baseUrl, site.key, ['solo', 'duo', 'trio'][buyer % 3] as string);
    signed.push({ payer: payer.address, quote, payment: await payFor(payer, quote) });
  }
  return signed;
}

test('with its primary killed in the middle of sales and its standby promoted, the service goes on by itself: nothing is lost or charged twice', async () => {
  const signed = await signAll();
  const [early = [], late = []] = [signed.slice(0, 4), signed.slice(4)];
  const show = ({ quote, payment }: (typeof signed)[number]) => sellUntilDecided(service.baseUrl, site.key, quote, payment);
  for (const { body } of await Promise.all(early.map(show))) expect(body).toMatchObject({ ok: true });

  const selling = Promise.all(late.map(show));
  const taken = () => query(primary.superUrl, 'select count(*)::int as n from payment_state');
  await expect.poll(async () => Number((await taken())[0]?.['n']), { interval: 10 }).toBeGreaterThan(early.length);
  process.kill(primary.process.pid, 'SIGKILL');
  await primary.process.exited;
  const lostMs = performance.now();
  expect(await query(standby.superUrl, 'select pg_promote(wait => true) as done')).toEqual([{ done: true }]);
  await expect.poll(async () => (await fetch(`${service.baseUrl}/readyz`)).status, { interval: 100 }).toBe(200);
  const readyMs = Math.round(performance.now() - lostMs);
  for (const { body } of await selling) expect(body).toMatchObject({ ok: true });
  console.log(
    `failover: ready ${readyMs} ms after the primary was lost, all sold after ${Math.round(performance.now() - lostMs)}`,
  );

  const prices = signed.map(({ quote }) => START - BigInt(quote.price));
  const payers = signed.map(({ payer }) => payer);
  expect(await balancesOf(service, payers)).toEqual(prices);
  const crossed = await service.database.query<{ count: number }>('select count(distinct payer)::int as count from crossing');
  expect(crossed).toEqual([{ count: BUYERS }]);
  await checkService(service);
});

test('a former primary that comes back is not written to: neither by what runs, nor by a process that starts', async () => {
  primary = await startPostgres({ folder: folders.primary, archive: false, port: primary.port });
  await query(primary.superUrl, "alter system set synchronous_standby_names = ''");
  await query(primary.superUrl, 'select pg_reload_conf()');
  const before = await query(primary.superUrl, 'select count(*)::int as n from payment_intake');
  const api = await service.startApi();
  for (const url of [service.baseUrl, api.url]) {
    const payer = await service.payer(START);
    const quote = await askQuote(url, site.key, 'trio');
    const { body } = await sellUntilDecided(url, site.key, quote, await payFor(payer, quote));
    expect(body).toMatchObject({ ok: true });
  }
  expect(await query(primary.superUrl, 'select count(*)::int as n from payment_intake')).toEqual(before);
  await checkService(service);

  // With the new one away, too, this process rather waits: what the former one took would be lost.
  await standby.stop();
  await expect(service.database.query('select 1')).rejects.toMatchObject({
    code: 'database_unavailable',
    cause: { message: expect.stringContaining('was overtaken') },
  });
  await expect(openDatabase({ url: service.urls.appUrl })).rejects.toMatchObject({ code: '25006' });
  standby = await startPostgres({ folder: folders.standby, archive: true, port: standby.port });
  await expect.poll(async () => (await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
});
