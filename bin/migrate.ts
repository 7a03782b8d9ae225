import { migrate, SchemaTooOld } from '../db/migrate.ts';
import { isDatabaseOutage } from '../db/outage.ts';
import { readMigrateConfig } from '../process/config.ts';
import { runCommand } from '../process/run.ts';
import { reasonOf, whileAway } from '../process/whileAway.ts';

/** How long a Postgres that is starting is waited for: a deployment starts both at once. */
const PATIENCE_MS = 60_000;

/**
 * Brings the schema up to date, then ends; safe to run at every deployment, and by several at once. Waits a minute for a Postgres that is
 * starting. Status 1: what was finished stays, and the next run goes on from there.
 */
await runCommand(async () => {
  const { databaseOwnerUrl } = readMigrateConfig();
  const say = ({ error }: { readonly error: string }): void => void process.stderr.write(`Postgres is awaited: ${error}\n`);
  const log = { info: () => undefined, warn: say };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    await whileAway({ part: 'database', isAway: isDatabaseOutage, log, signal }, () => migrate(databaseOwnerUrl));
  } catch (error) {
    if (error instanceof SchemaTooOld) throw error;
    throw new Error(`the migration failed and changed nothing; those before it stay: ${reasonOf(error)}`);
  }
  process.stdout.write('the schema is up to date\n');
});
