import type { Sql } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Approval } from '../store/approvals.ts';
import { decideApproval, listApprovals } from '../store/approvals.ts';

export type { Approval, ApprovalState } from '../store/approvals.ts';

const MOST_SHOWN = 100;

/** What the owner of an account was asked, the newest hundred, newest first. Throws database_unavailable. */
export async function showApprovals({ database }: { readonly database: Sql }, accountId: string): Promise<Approval[]> {
  return await listApprovals(database, accountId, MOST_SHOWN);
}

/**
 * Writes down an owner's word about a purchase. Until it is paid on it may be taken back; the same word again changes nothing. Throws not_found
 * where nothing of this id waits for one, database_unavailable.
 */
export async function sayToApproval(
  { database }: { readonly database: Sql },
  accountId: string,
  { approvalId, isApproved }: { readonly approvalId: string; readonly isApproved: boolean },
): Promise<Approval> {
  const decided = await decideApproval(database, { accountId, approvalId, isApproved });
  if (!decided)
    throw new ServiceError(
      'not_found',
      'no purchase with this id waits for your approval: it expired, was paid, or never existed',
    );
  return decided;
}
