import type { Database, DatabaseOptions } from '../../../db/database.ts';
import { openDatabase } from '../../../db/database.ts';

/** To compile a plan takes longer than a report does, and sums of many columns cost enough to be compiled. */
const NO_COMPILED_PLANS = 'set jit = off';

/** Opens the pool that reports are read through, in API processes and for benches. Throws as `openDatabase`. */
export function openReportDatabase(
  options: Pick<DatabaseOptions, 'url' | 'poolSize' | 'statementTimeoutMs' | 'statementNames'>,
): Promise<Database> {
  return openDatabase({ ...options, applicationName: 'svc reports', session: NO_COMPILED_PLANS });
}

/** One statement of an analyst has one core at most, so that the others are left to payments. */
const ANALYST_SESSION = `set max_parallel_workers_per_gather = 0; ${NO_COMPILED_PLANS}`;

/** Opens the pool that GraphQL reads through. Throws as `openDatabase`. */
export function openReadingDatabase(
  options: Required<Pick<DatabaseOptions, 'url' | 'poolSize' | 'statementTimeoutMs'>>,
): Promise<Database> {
  return openDatabase({ ...options, applicationName: 'svc graphql', session: ANALYST_SESSION });
}
