/** Reports read from a real standby: the same figures as the primary's while it may answer, and the primary's whenever it may not. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { Replicas } from '../../db/replicas.ts';
import { openReplicas } from '../../db/replicas.ts';
import type { Visitor } from '../../graphql/request/context.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import type { KeyState } from '../../modules/kernel/access/key.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { runMigration } from '../../sandbox/cluster/topology.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { query } from '../support/sql.ts';
import { startStandby } from '../support/standby.ts';

const folder = join(inject('parts').folder, randomUUID().slice(0, 8));
const folders = { primary: join(folder, 'read-primary'), standby: join(folder, 'read-standby') };
const SITE = randomUUID();
let primary: Postgres;
let standby: Postgres;
let database: Database;
let replicas: Replicas;

beforeAll(async () => {
  primary = await startPostgres({ folder: folders.primary, archive: true });
  await runMigration(primary.ownerUrl, folders.primary);
  standby = await startStandby(primary, folders);
  await query(primary.superUrl, "alter system set synchronous_standby_names = ''");
  await query(primary.superUrl, 'select pg_reload_conf()');
  database = await openDatabase({ url: primary.appUrl });
  replicas = openReplicas({ urls: [standby.appUrl], primary: database, open: (url) => openDatabase({ url }), maxLagMs: 1_000 });
  await query(primary.superUrl, `insert into tenant (tenant_id, price_usdc) values ('${SITE}', 1)`);
  await change();
});
afterAll(async () => {
  await replicas?.close();
  await database?.close();
  await Promise.all([primary?.stop(), standby?.stop()]);
  removeCluster(folders.standby);
  removeCluster(folders.primary);
});

/** A change of the site, as its audit log has it. */
function change(): Promise<unknown> {
  return query(
    primary.superUrl,
    `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action) values ('${SITE}', '${randomUUID()}', 'u', 'oidc', 'site.change')`,
  );
}

interface Seen {
  readonly isStandby: boolean;
  readonly entries: number;
  readonly ageMs: number;
}

async function read(): Promise<Seen> {
  const reader = replicas.readerOf([SITE]);
  const [row] = await reader.query<{ standby: boolean; entries: number }>(
    'select pg_is_in_recovery() as standby, count(*)::int as entries from audit_log where tenant_id = $1',
    [SITE],
  );
  return { isStandby: row?.standby === true, entries: row?.entries ?? 0, ageMs: reader.ageMs() };
}

/** Stops replay; nothing is applied once this resolves. */
async function pauseReplay(): Promise<void> {
  await query(standby.superUrl, 'select pg_wal_replay_pause()');
  await expect
    .poll(() => query(standby.superUrl, 'select pg_get_wal_replay_pause_state() as state'))
    .toEqual([{ state: 'paused' }]);
}

const readFromStandby = () => expect.poll(read, { timeout: 60_000, interval: 200 }).toMatchObject({ isStandby: true });

test('a standby that follows answers with what the primary has, at most as old as the bound', async () => {
  await readFromStandby();
  expect(await read()).toMatchObject({ entries: 1 });
  expect((await read()).ageMs).toBeLessThanOrEqual(1_000);
});

test('who changed a site reads his change while the standby lacks it', async () => {
  await pauseReplay();
  await change();
  expect(await read()).toMatchObject({ isStandby: false, entries: 2 });
  await query(standby.superUrl, 'select pg_wal_replay_resume()');
  await readFromStandby();
  expect(await read()).toMatchObject({ entries: 2 });
});

test('a standby that is further behind than the bound is not read', async () => {
  await pauseReplay();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await query(primary.superUrl, `insert into tenant (tenant_id, price_usdc) values ('${randomUUID()}', 1)`);
  expect(await read()).toMatchObject({ isStandby: false, entries: 2, ageMs: 0 });
  await query(standby.superUrl, 'select pg_wal_replay_resume()');
  await readFromStandby();
});

test('GraphQL reads a site through the standby, says how old its answer may be, and shows a change that the standby lacks', async () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const about = {
    pepper: pepperOf({ apiKeyPepper: randomBytes(32).toString('hex') }),
    clock: Date.now,
    priceFloorMicro: 1_000n,
    networkIds: [],
    log,
  };
  const key: KeyState = {
    tenantId: SITE,
    keyId: randomUUID(),
    mode: 'live',
    scopes: ['tenant.read'],
    expiresAtMs: null,
    revokedAtMs: null,
    plan: 'studio',
    status: 'active',
    version: 1,
  };
  const ask = async (options: { readonly replicas?: Replicas }, by: Partial<Visitor>, question: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ query: question }));
    const visitor = { requestId: 'standby', key: null, owner: null, account: null, ...by };
    const answer = await openEngine(
      { ...about, reading: database, ...options },
      null,
    )({ ...visitor, accept: 'application/json', body });
    return JSON.parse(new TextDecoder().decode(answer.body)) as { data?: unknown; extensions?: { dataAgeSeconds?: number } };
  };
  const plan = '{ tenant { plan } }';
  await readFromStandby();
  expect((await ask({ replicas }, { key }, plan)).extensions).toMatchObject({ dataAgeSeconds: expect.any(Number) });
  expect((await ask({}, { key }, plan)).extensions).not.toHaveProperty('dataAgeSeconds');
  const account = { accountId: randomUUID(), isOwner: true };
  expect((await ask({ replicas }, { account }, '{ account { accountId } }')).extensions).not.toHaveProperty('dataAgeSeconds');
  await pauseReplay();
  await query(primary.superUrl, `update tenant set plan = 'scale' where tenant_id = '${SITE}'`);
  await change();
  expect(await ask({ replicas }, { key }, plan)).toMatchObject({
    data: { tenant: { plan: 'scale' } },
    extensions: { dataAgeSeconds: 0 },
  });
  await query(standby.superUrl, 'select pg_wal_replay_resume()');
  await readFromStandby();
});

test('with its standby killed every read is answered by the primary, and the standby is read again once it is back', async () => {
  await readFromStandby();
  process.kill(standby.process.pid as number, 'SIGKILL');
  await standby.process.exited;
  for (let n = 0; n < 5; n += 1) expect(await read()).toMatchObject({ isStandby: false, entries: 3 });
  const port = Number(new URL(standby.superUrl).port);
  standby = await startPostgres({ folder: folders.standby, archive: true, port });
  await readFromStandby();
});

test('a standby that was promoted is not read any more, whatever it writes', async () => {
  await readFromStandby();
  await query(standby.superUrl, 'select pg_promote(wait => true)');
  await query(
    standby.superUrl,
    `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action) values ('${SITE}', '${randomUUID()}', 'u', 'oidc', 'site.split')`,
  );
  expect(await read()).toMatchObject({ isStandby: false, entries: 3 });
  await change();
  expect(await read()).toMatchObject({ isStandby: false, entries: 4 });
});
