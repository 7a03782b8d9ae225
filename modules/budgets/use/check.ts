import type { Database } from '../../../db/database.ts';
import type { ServiceError } from '../../kernel/errors.ts';
import type { NewSpending } from '../store/spending.ts';
import { previewSpending as previewRows } from '../store/spending.ts';
import { refusedByBudget } from './refuse.ts';

/** A purchase that an account thinks about. */
export type SpendingPreview = Pick<NewSpending, 'host' | 'resource' | 'resourceKey' | 'kind' | 'purpose' | 'amountMicro'>;

/**
 * What the account's budget would say to a purchase now, so that nobody signs in vain; null: nothing is in its way. Decides nothing: that is
 * done where the payment gets its row. Where the owner must be asked, he is: a second call asks no second time. Throws database_unavailable.
 */
export async function previewSpending(
  deps: { readonly database: Database },
  accountId: string,
  purchase: SpendingPreview,
): Promise<ServiceError | null> {
  const refusal = await previewRows(deps.database, accountId, purchase);
  return refusal && (await refusedByBudget(deps, refusal));
}
