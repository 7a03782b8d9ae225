import { isDatabaseOutage, isStatementTimeout } from '../db/database.ts';
import { ServiceError } from '../domain/errors.ts';

/** Runs database work; an outage becomes database_unavailable (503 with Retry-After), everything else is thrown as it is. */
export async function atDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseOutage(error)) throw error;
    throw new ServiceError('database_unavailable', 'the database cannot be reached now; nothing was changed', {
      retryAfterSeconds: 2,
    });
  }
}

/** True for what the database gave up for taking too long; for doors, which do not know the database. */
export function isTooSlow(error: unknown): boolean {
  return isStatementTimeout(error);
}
