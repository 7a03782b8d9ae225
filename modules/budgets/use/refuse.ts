import type { Database } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { formatUsdc } from '../../kernel/money/money.ts';
import { closeInSlices } from '../store/budgets.ts';
import type { SpendingRefusal } from '../store/spending.ts';

/**
 * The error of a refusal. Before it is answered, and with no lock held, payments of the account that are decided are closed: each refusal looks at
 * all of its open ones. Throws database_unavailable.
 */
export async function refusedByBudget(
  { database }: { readonly database: Database },
  refusal: SpendingRefusal,
): Promise<ServiceError> {
  await closeInSlices(database, refusal.accountId);
  return budgetError(refusal);
}

/**
 * Why an account's budget refuses a purchase: budget_exceeded, or approval_required with what the owner was asked. It says nothing of the
 * site or the payer, so nobody counts it, and no offer goes with it: another payment would be refused as well.
 */
function budgetError({ decision, budget, endsAtMs, approvalId }: SpendingRefusal): ServiceError {
  const resets = `it resets at ${new Date(endsAtMs).toISOString()}`;
  if (decision.kind === 'ask_owner') {
    const above = `purchases above ${formatUsdc(decision.aboveMicro)} USDC wait for the account’s owner`;
    const asked = approvalId === null ? 'and too many purchases wait already' : `who was asked (approval ${approvalId})`;
    return new ServiceError('approval_required', `${above}, ${asked}; nothing was paid`, {
      spending: { limit: 'approval', limitMicro: decision.aboveMicro, spentMicro: 0n, periodEndsAtMs: endsAtMs, approvalId },
    });
  }
  const { limit, limitMicro, spentMicro } = decision;
  const [most, spent] = [limitMicro, spentMicro].map(formatUsdc) as [string, string];
  const sentence = {
    stopped: 'the owner of this account has stopped its purchases; nothing was paid',
    page: `a page may cost this account ${most} USDC at most; nothing was paid`,
    total: `this account may spend ${most} USDC a ${budget.period}, and ${spent} are spent; ${resets}; nothing was paid`,
    host: `this account may spend ${most} USDC a ${budget.period} at this host, and ${spent} are spent; ${resets}; nothing was paid`,
  }[limit];
  const spending = { limit, limitMicro, spentMicro, periodEndsAtMs: endsAtMs, approvalId: null };
  return new ServiceError('budget_exceeded', sentence, { spending });
}
