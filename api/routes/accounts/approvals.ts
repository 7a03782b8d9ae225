import type { Approval } from '../../../modules/budgets/use/approvals.ts';
import { sayToApproval, showApprovals } from '../../../modules/budgets/use/approvals.ts';
import { requireOwnAccount } from '../../../modules/identity/use/accounts/authenticate.ts';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { AccountRoute } from '../../route.ts';
import { AccountApproval, AccountApprovals, ApprovalWord } from '../../schemas/budget.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse } from '../responses.ts';
import { ACCOUNT_SECURITY, OWNER_ERRORS, PRIVATE } from './shared.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of a row in a path; what is no id is found no more than an id of nothing. Throws not_found. */
export function idOf(text: string | undefined, what: string): string {
  if (text !== undefined && UUID.test(text)) return text.toLowerCase();
  throw new ServiceError('not_found', `this account has no such ${what}`);
}

/** GET /_svc/accounts/approvals: purchases that the owner was asked about. */
export const listApprovalsRoute: AccountRoute = {
  method: 'get',
  path: '/_svc/accounts/approvals',
  access: 'account',
  isForPages: true,
  operation: {
    operationId: 'listApprovals',
    tags: ['Accounts'],
    summary: 'Purchases that wait for the owner',
    security: ACCOUNT_SECURITY,
    responses: { '200': jsonResponse('The newest hundred, newest first', AccountApprovals), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account }) => {
    requireOwnAccount(account);
    const approvals = await showApprovals(deps, account.accountId);
    return { status: 200, headers: PRIVATE, body: { approvals: approvals.map(approvalBody) } };
  },
};

/** POST /_svc/accounts/approvals/:approvalId: the owner's word about one. */
export const decideApprovalRoute: AccountRoute = {
  method: 'post',
  path: '/_svc/accounts/approvals/:approvalId',
  access: 'account',
  isForPages: true,
  bodyLimitBytes: 4_096,
  operation: {
    operationId: 'decideApproval',
    tags: ['Accounts'],
    summary: 'Approve or decline a purchase',
    security: ACCOUNT_SECURITY,
    requestParams: { path: AccountApproval.pick({ approvalId: true }) },
    requestBody: { required: true, content: { 'application/json': { schema: ApprovalWord } } },
    responses: { '200': jsonResponse('The purchase with the owner’s decision', AccountApproval), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account, params, body }) => {
    requireOwnAccount(account);
    const { decision } = parseWith(ApprovalWord, body);
    const word = { approvalId: idOf(params['approvalId'], 'purchase'), isApproved: decision === 'approve' };
    return { status: 200, headers: PRIVATE, body: approvalBody(await sayToApproval(deps, account.accountId, word)) };
  },
};

function approvalBody({ approvalId, host, resource, kind, state, ...approval }: Approval) {
  return {
    approvalId,
    host,
    resource,
    kind,
    state,
    amountMicro: microToJson(approval.amountMicro),
    askedAt: approval.askedAt.getTime(),
    decidedAt: approval.decidedAt?.getTime() ?? null,
    endsAt: approval.endsAt.getTime(),
  };
}
