import { DatabaseUnavailable, isAway } from '../../../../db/outage.ts';

/**
 * Runs what decides about a payment that has no row yet. An outage counts nothing (safety 15), and neither does too long a wait: both are
 * database_unavailable, which tells the payer to show this payment again. Everything else is thrown as it is.
 */
export async function atLedger<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAway(error)) throw error;
    throw new DatabaseUnavailable(error, 'the ledger cannot be reached; send the same payment again and do not sign another one');
  }
}
