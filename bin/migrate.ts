import { migrate } from '../db/migrate.ts';
import { readMigrateConfig } from './config.ts';

/** Brings the schema up to date, then ends; safe to run at every deployment, and by several at once. */
await migrate(readMigrateConfig().databaseOwnerUrl);
