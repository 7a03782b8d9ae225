import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../db/migrate.ts';
import { isAlive } from '../../sandbox/parts/lock.mjs';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { createDatabase } from '../../sandbox/parts/postgres/roles.ts';
import { createLine } from '../../sandbox/parts/progress.mjs';
import type { Temporal } from '../../sandbox/parts/temporal.ts';
import { startTemporal } from '../../sandbox/parts/temporal.ts';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import { TEMPLATE_DATABASE } from './parts.ts';
import { query } from './sql.ts';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/**
 * Of a cluster that is removed with its run: it is lost when the machine is, never by the end of a process. Tests that end a Postgres start one of
 * their own, which flushes as ever.
 */
const UNFLUSHED = ['fsync=off', 'full_page_writes=off'];

/**
 * One Postgres and one Temporal for all files of a test run, in `.test/<run>/`, on ports the system chose; removed at the end,
 * and what a killed run left behind at the next start. Returns the teardown.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runs = join(CHECKOUT, '.test');
  mkdirSync(runs, { recursive: true });
  removeLeftovers(runs);
  const folder = join(runs, `${process.pid}-${Date.now()}`);
  mkdirSync(folder, { mode: 0o755 });
  const stops: (() => Promise<void>)[] = [];
  const teardown = async (): Promise<void> => {
    await Promise.allSettled(stops.map((stop) => stop()));
    removeRun(folder);
  };
  const postgresStart = startPostgres({ folder: join(folder, 'postgres'), settings: UNFLUSHED }).then(async (postgres) => {
    stops.push(() => postgres.stop());
    await createTemplate(postgres);
    return postgres;
  });
  const temporalStart = startTemporal({
    sources: temporalSources(process.env, join(CHECKOUT, '.sandbox', 'cache')),
    folder: join(folder, 'temporal'),
    uiPort: null,
    progress: createLine(process.stderr).show,
  }).then((temporal) => {
    stops.push(() => temporal.stop());
    return temporal;
  });
  const outcomes = await Promise.allSettled([postgresStart, temporalStart]);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) {
    await teardown();
    throw failure.reason;
  }
  provide(project, folder, await postgresStart, await temporalStart);
  return teardown;
}

function provide(project: TestProject, folder: string, postgres: Postgres, temporal: Temporal): void {
  project.provide('parts', {
    folder,
    template: postgres.urlsOf(TEMPLATE_DATABASE),
    superUrl: postgres.superUrl,
    temporal: { address: temporal.address, namespace: temporal.namespace },
  });
}

/** The database every test's own is copied from: all migrations, no rows, and `test.payment`. */
async function createTemplate(postgres: Postgres): Promise<void> {
  await createDatabase(postgres.superUrl, TEMPLATE_DATABASE);
  const { ownerUrl } = postgres.urlsOf(TEMPLATE_DATABASE);
  await migrate(ownerUrl);
  await query(ownerUrl, readFileSync(new URL('./paymentRows.sql', import.meta.url), 'utf8'));
}

function removeLeftovers(runs: string): void {
  for (const run of readdirSync(runs)) {
    if (!isAlive(Number.parseInt(run, 10) || 1)) removeRun(join(runs, run));
  }
}

function removeRun(folder: string): void {
  removeCluster(join(folder, 'postgres'));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 }); // a part that ends just now may still write its last file
}
