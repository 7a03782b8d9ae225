/** Postgres in trouble of its own: database transactions in each other's way, and a disk without space. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { askQuote, payFor, sell, sellUntilDecided } from '../support/buying.ts';
import type { ReportLoad } from '../support/clusterFaults.ts';
import { startReports } from '../support/clusterFaults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { createNamespace } from '../support/namespace.ts';
import { createDatabase } from '../support/parts.ts';
import { testNetwork } from '../support/payments.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

test('database transactions that lock each other out are both carried out, the loser once more', async () => {
  const urls = await createDatabase();
  let conflicts = 0;
  const onConflict = (): void => {
    conflicts += 1;
  };
  const database = await openDatabase({ url: urls.ownerUrl, poolSize: 4, onConflict });
  await database.query('create table pair (id int primary key, count int not null)');
  await database.query('insert into pair values (1, 0), (2, 0)');
  let attempts = 0;
  const met = Promise.withResolvers<void>();
  const both = (first: number, second: number): Promise<void> =>
    database.transaction(async (sql) => {
      await sql.query('update pair set count = count + 1 where id = $1', [first]);
      attempts += 1;
      if (attempts === 2) met.resolve(); // each holds its first row now, and wants the other's
      await met.promise;
      await sql.query('update pair set count = count + 1 where id = $1', [second]);
    });
  await Promise.all([both(1, 2), both(2, 1)]);
  expect(attempts).toBeGreaterThan(2);
  expect(conflicts).toBe(attempts - 2);
  expect(await database.query('select count from pair')).toEqual([{ count: 2 }, { count: 2 }]);
  await database.close();
  await urls.drop();
});

test('a transaction that always loses gives up after four more tries, and leaves nothing behind', async () => {
  const urls = await createDatabase();
  let conflicts = 0;
  const onConflict = (): void => {
    conflicts += 1;
  };
  const database = await openDatabase({ url: urls.ownerUrl, poolSize: 2, onConflict });
  await database.query('create table lone (id int)');
  const losing = database.transaction(async (sql) => {
    await sql.query('insert into lone values (1)');
    await sql.query("do $$ begin raise exception 'lost' using errcode = '40001'; end $$");
  });
  await expect(losing).rejects.toMatchObject({ code: '40001' });
  expect(conflicts).toBe(5);
  expect(await database.query('select 1 from lone')).toEqual([]);
  await database.close();
  await urls.drop();
});

/** A file system of 160 MB; null with the reason where none can be mounted. */
const small = mountSmall();

function mountSmall(): { readonly folder: string } | { readonly reason: string } {
  const folder = `/tmp/svc-small-${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', folder], { stdio: 'pipe' });
    return { folder };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return { reason: `no tmpfs can be mounted here: ${String((error as Error).message).split('\n')[0]}` };
  }
}
afterAll(() => {
  if ('folder' in small) execFileSync('umount', ['-l', small.folder]);
  if ('folder' in small) rmSync(small.folder, { recursive: true, force: true });
});

/** Takes all the space there is, that which Postgres gives back between two looks too; returns how many reports were refused. */
function refusalsWhenFull(load: ReportLoad, filler: string): number {
  const chunk = Buffer.alloc(1_048_576);
  const file = openSync(filler, 'a', 0o600);
  try {
    for (;;) writeSync(file, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
  return load.refusals.length;
}

describe.skipIf('reason' in small)(`a disk that is full${'reason' in small ? ` (skipped: ${small.reason})` : ''}`, () => {
  test('refuses writes as an outage, goes on answering reads, and takes writes again when there is space', async () => {
    const folder = (small as { folder: string }).folder;
    const filler = join(folder, 'filler');
    const postgresFolder = join(folder, 'postgres');
    const settings = ['max_wal_size=48MB', 'min_wal_size=32MB', 'shared_buffers=16MB'];
    let postgres: Postgres | null = await startPostgres({ folder: postgresFolder, settings });
    let service: TestService | null = null;
    try {
      await migrate(postgres.ownerUrl);
      const { ownerUrl, appUrl, superUrl, port } = postgres;
      const urls = { ownerUrl, appUrl, superUrl, name: 'svc', drop: async () => undefined };
      const running = await startTestService({
        on: { urls, temporal: await createNamespace() },
        environment: { SETTLE_WAIT_MS: '3000' },
      });
      service = running;
      const site = await running.site();
      const payer = await running.payer(1_000_000n);
      const quote = await askQuote(running.baseUrl, site.key, 'trio');
      const payment = await payFor(payer, quote);
      const load = startReports(running.baseUrl, site, 4);
      await expect.poll(() => refusalsWhenFull(load, filler)).toBeGreaterThan(0);
      const answer = await sell(running.baseUrl, site.key, quote, payment).catch(() => null);
      if (answer !== null) {
        expect([402, 503]).toContain(answer.status);
        expect(answer.headers.get('payment-required')).toBeNull();
      }
      expect((await askQuote(running.baseUrl, site.key, 'trio')).price).toBe(quote.price);
      await load.stop();
      rmSync(filler);
      // Postgres ends itself when it cannot write its log; its operator starts it again.
      if (!postgres.process.isRunning()) postgres = await startPostgres({ folder: postgresFolder, settings, port });
      const decided = await sellUntilDecided(running.baseUrl, site.key, quote, payment);
      expect(decided.body).toMatchObject({ ok: true });
      const rows = await running.database.query<{ slug: string }>('select slug from observation where tenant_id = $1', [
        site.tenantId,
      ]);
      const written = new Set(rows.map(({ slug }) => slug));
      expect([...load.acknowledged].filter((slug) => !written.has(slug))).toEqual([]);
      expect(new Set(load.refusals)).toEqual(new Set([503]));
      const network = testNetwork(running.chain, { blockTimeMs: 1_000 });
      const rpc = createRpc(network);
      const relayer = running.relayer;
      await checkInvariants({ database: running.database, rpc, network, deps: { relayersOf: () => [{ address: relayer }] } });
      await rpc.close();
    } finally {
      rmSync(filler, { force: true });
      await service?.stop();
      await postgres?.stop();
      removeCluster(postgresFolder);
    }
  });
});
