import { migrate, SchemaTooOld } from '../db/migrate.ts';
import { readMigrateConfig } from '../process/config.ts';

/**
 * Brings the schema up to date, then ends; safe to run at every deployment, and by several at once. Status 1: what was finished stays, and
 * the next run goes on from there.
 */
const { databaseOwnerUrl } = readMigrateConfig();
await migrate(databaseOwnerUrl).catch((error: unknown) => {
  const said = error instanceof Error ? error.message : String(error);
  const sentence =
    error instanceof SchemaTooOld ? said : `the migration failed and changed nothing; those before it stay: ${said}`;
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
});
process.stdout.write('the schema is up to date\n');
