import type { Database, DatabaseOptions } from '../../../../db/database.ts';
import { openDatabase } from '../../../../db/database.ts';
import { NO_COMPILED_PLANS } from '../reportPool.ts';

/** One statement of an analyst has one core at most, so that the others are left to payments. */
const SESSION = `set max_parallel_workers_per_gather = 0; ${NO_COMPILED_PLANS}`;

/** Opens the pool that GraphQL reads through. Throws as `openDatabase`. */
export function openReadingDatabase(
  options: Required<Pick<DatabaseOptions, 'url' | 'poolSize' | 'statementTimeoutMs'>>,
): Promise<Database> {
  return openDatabase({ ...options, applicationName: 'svc graphql', session: SESSION });
}
