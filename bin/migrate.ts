import { migrate } from '../db/migrate.ts';
import { readMigrateConfig } from './config.ts';

/** Brings the schema up to date, then ends; safe to run at every deployment, and by several at once. Status 1: nothing was changed. */
const { databaseOwnerUrl } = readMigrateConfig();
await migrate(databaseOwnerUrl).catch((error: unknown) => {
  process.stderr.write(`the migration failed, and changed nothing: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
