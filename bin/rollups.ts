import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { checkRollups, gatherRollups, rebuildAll } from '../modules/reports/use/rollups.ts';
import { readConfig } from '../process/config/read.ts';
import { runCommand } from '../process/run.ts';

/**
 * `node bin/rollups.ts check|rebuild [days|all] [tenantId]`: compares the reports' rollups with their rows (and writes those that
 * differ anew) and gathers those of days that are over into one row a key, or writes them anew in any case. 35 days by default; status 1
 * when a check found a difference.
 */
const [command, days = '35', tenantId = null] = process.argv.slice(2);
if ((command !== 'check' && command !== 'rebuild') || !/^(all|[1-9]\d{0,4})$/.test(days)) {
  console.error('usage: node bin/rollups.ts check|rebuild [days|all] [tenantId]');
  process.exit(2);
}
await runCommand(async () => {
  const { databaseDirectUrl: url } = readConfig(process.env, ['databaseUrl', 'databaseDirectUrl']);
  const database = await openDatabase({ url, poolSize: 2, statementTimeoutMs: 3_600_000, applicationName: 'svc rollups' });
  try {
    await work(database);
  } finally {
    await database.close();
  }
});

async function work(database: Database): Promise<void> {
  const deps = { database, clock: Date.now };
  const job = { days: days === 'all' ? null : Number(days), tenantId };
  if (command === 'rebuild') {
    console.log(`rebuilt the rollups of ${await rebuildAll(deps, job)} sites`);
  } else {
    const found = await checkRollups(deps, job);
    for (const { tenantId: site, mismatches } of found) {
      for (const { table, detail } of mismatches) console.log(`${site} ${table} ${detail}`);
    }
    console.log(`gathered ${await gatherRollups(deps, job)} rows`);
    console.log(found.length === 0 ? 'all rollups add up' : `${found.length} sites differed and were rebuilt`);
    process.exitCode = found.length === 0 ? 0 : 1;
  }
}
