import { migrate } from '../db/migrate.ts';
import { readMigrateConfig } from '../process/config.ts';

/** Brings the schema up to date, then ends; safe to run at every deployment, and by several at once. Status 1: what was finished stays, and the next run goes on from there. */
const { databaseOwnerUrl } = readMigrateConfig();
await migrate(databaseOwnerUrl).catch((error: unknown) => {
  process.stderr.write(
    `the migration failed and changed nothing; those before it stay: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
});
process.stdout.write('the schema is up to date\n');
