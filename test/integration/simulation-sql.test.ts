import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { findMismatches } from '../../modules/reports/store/rollupCheck.ts';
import { ensureRelayer } from '../../modules/settlement/store/relayer.ts';
import { Coverage } from '../simulation/coverage.ts';
import { runSchedule } from '../simulation/schedule.ts';
import type { Place } from '../simulation/sqlStore.ts';
import { SqlStore } from '../simulation/sqlStore.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase, PATIENT_MS } from '../support/parts.ts';
import { plannedOnce } from '../support/plannedOnce.ts';

const SCHEDULES = 200;
const SEED = 1;
const AT_ONCE = 4;

let urls: TestDatabase;
let database: Database;
beforeAll(async () => {
  urls = await createDatabase();
  const client = new pg.Client({ connectionString: urls.superUrl });
  await client.connect();
  await client.query(`alter database ${urls.name} set synchronous_commit = off`); // crashes here are rollbacks, never of Postgres
  await client.end();
  database = plannedOnce(await openDatabase({ url: urls.appUrl, poolSize: 2 * AT_ONCE, statementTimeoutMs: PATIENT_MS }));
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

/** A site, a network and a relayer for one schedule. */
async function newPlace(seed: number): Promise<Place> {
  const place = { tenantId: randomUUID(), network: `sim:${seed}`, address: '0xrelayer' };
  await database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [place.tenantId]);
  await ensureRelayer(database, place, 0n, 1_000);
  return place;
}

test('two hundred seeded schedules keep every invariant on the ledger of a real Postgres, and its counters add up', async () => {
  const coverage = new Coverage();
  const seeds = Array.from({ length: SCHEDULES }, (_, n) => SEED + n);
  const broken: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined && broken.length === 0; seed = seeds.shift()) {
      const place = await newPlace(seed);
      const outcome = await runSchedule(seed, { coverage, openStore: (nowMs) => new SqlStore(database, place, nowMs) });
      if (outcome.broken !== null) broken.push(outcome);
      const mismatches = await findMismatches(database, place.tenantId, { fromMs: 0, toMs: null });
      if (mismatches.length > 0) broken.push({ seed, mismatches });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  console.log(`seeds ${SEED} to ${SEED + SCHEDULES - 1} on Postgres; ${coverage.summary()}`);
  expect(broken).toEqual([]);
  expect(coverage.unlisted()).toEqual([]);
}, 300_000);
