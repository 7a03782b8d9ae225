import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listenForTenants } from '../../modules/identity/store/tenantSnapshots.ts';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import type { SnapshotOptions, Snapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { createTenant, setPricing } from '../../modules/tenants/use/tenants.ts';
import { hashCredential, pepperOf } from '../../platform/tokens/pepper.ts';
import { ALPHA_PRICING } from '../support/api.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const HOUR_MS = 3_600_000;
const pepper = pepperOf({ apiKeyPepper: 'p'.repeat(32) });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const open: Snapshots[] = [];
let urls: TestDatabase;
let database: Database;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl });
});
afterAll(async () => {
  await Promise.all(open.map((snapshots) => snapshots.close()));
  await database.close();
  await urls.drop();
});

async function start(changes: Partial<SnapshotOptions> = {}): Promise<Snapshots> {
  const common = { database, directUrl: urls.appUrl, networkIds: ['n'], priceFloorMicro: 1n, clock: Date.now, log: silent };
  const snapshots = await openSnapshots({ ...common, pollMs: HOUR_MS, maxAgeMs: HOUR_MS, ...changes });
  open.push(snapshots);
  return snapshots;
}

async function site(name: string) {
  const { tenantId } = await createTenant({ database }, { hosts: [`${name}.example`], plan: 'studio', pricing: ALPHA_PRICING });
  const { token, keyId } = await mintKey({ database, pepper }, { tenantId, name, scopes: ['tenant.read'] });
  return { tenantId, keyId, hash: hashCredential(pepper, token) };
}

/** Resolves when every snapshot's own connection listens. */
async function listening(): Promise<void> {
  const sql =
    "select count(*)::int as n from pg_stat_activity where datname = current_database() and query = 'listen svc_tenant'";
  await expect.poll(async () => (await database.query<{ n: number }>(sql))[0]?.n).toBe(open.length);
}

test('a change is heard at once, without waiting for a poll', async () => {
  const snapshots = await start();
  await listening();
  const { tenantId, keyId, hash } = await site('heard');
  expect([(await snapshots.tenant(tenantId))?.version, (await snapshots.key(hash))?.revokedAtMs]).toEqual([1, null]);
  await setPricing({ database }, { tenantId, pricing: { priceUsdc: '0.5' } });
  await expect.poll(async () => (await snapshots.tenant(tenantId))?.version).toBe(2);
  await revokeKey({ database }, { tenantId, keyId });
  await expect.poll(async () => (await snapshots.key(hash))?.revokedAtMs).toBeGreaterThan(0);
});

test('with the listening connection cut, the poll finds the change, and the connection comes back', async () => {
  const snapshots = await start({ pollMs: 50 });
  await listening();
  const { tenantId, keyId, hash } = await site('polled');
  await snapshots.tenant(tenantId);
  await snapshots.key(hash);
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen svc_tenant' and datname = current_database()",
  );
  await setPricing({ database }, { tenantId, pricing: { priceUsdc: '0.5' } });
  await revokeKey({ database }, { tenantId, keyId });
  await expect.poll(async () => (await snapshots.tenant(tenantId))?.version).toBe(2);
  await expect.poll(async () => (await snapshots.key(hash))?.revokedAtMs).toBeGreaterThan(0);
  await listening();
});

/** A way to the database that can be cut. */
async function bridge() {
  const target = new URL(urls.appUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: url.href, cut };
}

test('a listening connection that cannot be opened is told once, by the rejection, and leaves nothing open', async () => {
  let open = 0;
  const server = createServer((socket) => {
    open += 1;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        open -= 1;
      });
    socket.once('data', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(urls.appUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  let told = 0;
  const lost = (): void => {
    told += 1;
  };
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(listenForTenants(url.href, () => undefined, lost)).rejects.toThrow();
  }
  await expect.poll(() => open).toBe(0);
  expect(told).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});

test('a copy that nothing confirmed for its longest age is read again, and is an outage when that is impossible', async () => {
  const time = { ms: Date.now() };
  const way = await bridge();
  const own = await openDatabase({ url: way.url });
  const { tenantId, hash } = await site('aged'); // before anybody listens, so that its making is not heard as a change later
  const snapshots = await start({ database: own, directUrl: way.url, clock: () => time.ms, maxAgeMs: 2_000 });
  await snapshots.key(hash);
  await snapshots.tenant(tenantId);
  await database.query("update tenant set status = 'suspended', version = 9 where tenant_id = $1", [tenantId]);
  expect((await snapshots.tenant(tenantId))?.status).toBe('active');
  time.ms += 2_001;
  expect((await snapshots.tenant(tenantId))?.status).toBe('suspended');
  expect((await snapshots.key(hash))?.status).toBe('suspended');
  await way.cut();
  expect((await snapshots.key(hash))?.status).toBe('suspended');
  time.ms += 2_001;
  await expect(snapshots.key(hash)).rejects.toMatchObject({ code: 'database_unavailable', details: { retryAfterSeconds: 2 } });
  await expect(snapshots.tenant(tenantId)).rejects.toMatchObject({ code: 'database_unavailable' });
  await own.close();
});

test('a tenant of the moment of an old payment has the pricing of that moment', async () => {
  const snapshots = await start();
  const { tenantId } = await site('old');
  const then = Date.now() - HOUR_MS;
  await database.query('update tenant_pricing set valid_from = $2 where tenant_id = $1', [tenantId, new Date(then - HOUR_MS)]);
  await setPricing({ database }, { tenantId, pricing: { priceUsdc: '0.5' } });
  await database.query('update tenant_pricing set valid_until = $2 where tenant_id = $1 and version = 1', [
    tenantId,
    new Date(then),
  ]);
  expect((await snapshots.tenant(tenantId))?.pricings.map(({ version }) => version)).toEqual([2]);
  expect((await snapshots.tenantAsOf(tenantId, then))?.pricings.map(({ version }) => version)).toEqual([2, 1]);
});
