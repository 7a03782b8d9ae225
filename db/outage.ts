import { ServiceError } from '../modules/kernel/errors.ts';
import { isDatabaseOutage, isStatementTimeout } from './database.ts';

/** Runs database work; an outage becomes database_unavailable (503 with Retry-After), everything else is thrown as it is. */
export function atDatabase<T>(work: () => Promise<T>): Promise<T> {
  return unlessAway(work, isDatabaseOutage, 'the database cannot be reached now; nothing was changed');
}

/** The same for what decides about a payment that has no row yet: too long a wait is an outage, too, and nothing is counted (safety 15). */
export function atLedger<T>(work: () => Promise<T>): Promise<T> {
  return unlessAway(work, isAway, 'the ledger cannot be reached; send the same payment again and do not sign another one');
}

/** True when the database did not answer: it cannot be reached, takes no writes now, or took too long. Neither decides anything. */
export function isAway(error: unknown): boolean {
  return isDatabaseOutage(error) || isStatementTimeout(error);
}

/** True for what the database gave up for taking too long; for surfaces, which do not know the database. */
export function isTooSlow(error: unknown): boolean {
  return isStatementTimeout(error);
}

/** An outage that no service told of, for surfaces: database_unavailable; null for anything else. */
export function outageOf(error: unknown): ServiceError | null {
  return isDatabaseOutage(error) ? unavailable('the database cannot be reached now; ask again') : null;
}

async function unlessAway<T>(work: () => Promise<T>, away: (error: unknown) => boolean, sentence: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw away(error) ? unavailable(sentence) : error;
  }
}

function unavailable(sentence: string): ServiceError {
  return new ServiceError('database_unavailable', sentence, { retryAfterSeconds: 2 });
}
