import type { Database, DatabaseOptions } from '../../../db/database.ts';
import { openDatabase } from '../../../db/database.ts';

/** To compile a plan takes longer than a report does, and sums of many columns cost enough to be compiled. */
export const NO_COMPILED_PLANS = 'set jit = off';

/** Opens the pool that reports are read through, in API processes and for benches. Throws as `openDatabase`. */
export function openReportDatabase(
  options: Pick<DatabaseOptions, 'url' | 'poolSize' | 'statementTimeoutMs' | 'statementNames'>,
): Promise<Database> {
  return openDatabase({ ...options, applicationName: 'svc reports', session: NO_COMPILED_PLANS });
}
