import type { ShownBudget } from '../../../modules/budgets/use/settings.ts';
import { readBudget, setBudget } from '../../../modules/budgets/use/settings.ts';
import { requireOwnAccount } from '../../../modules/identity/use/accounts/authenticate.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { AccountRoute } from '../../route.ts';
import { BudgetAnswer, BudgetBody } from '../../schemas/budget.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse } from '../responses.ts';
import { ACCOUNT_SECURITY, accountErrors, OWNER_ERRORS, PRIVATE } from './shared.ts';

const shared = { path: '/_svc/accounts/budget', access: 'account', isForPages: true } as const;

/** GET /_svc/accounts/budget: what the account may spend and what is left; agents may read it, too. */
export const readBudgetRoute: AccountRoute = {
  ...shared,
  method: 'get',
  operation: {
    operationId: 'getBudget',
    tags: ['Accounts'],
    summary: 'What the account may spend',
    security: ACCOUNT_SECURITY,
    responses: { '200': jsonResponse('The budget; null: anything', BudgetAnswer), ...accountErrors },
  },
  handle: async ({ deps, account }) => {
    const budget = await readBudget(deps, account.accountId);
    return { status: 200, headers: PRIVATE, body: { budget: budget && budgetBody(budget) } };
  },
};

/** PUT /_svc/accounts/budget: what the account may spend from the next purchase on; its owner alone says so. */
export const setBudgetRoute: AccountRoute = {
  ...shared,
  method: 'put',
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'setBudget',
    tags: ['Accounts'],
    summary: 'Set what the account may spend',
    security: ACCOUNT_SECURITY,
    requestBody: { required: true, content: { 'application/json': { schema: BudgetBody } } },
    responses: { '200': jsonResponse('The budget from now on', BudgetAnswer), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account, body }) => {
    requireOwnAccount(account);
    const { ifVersion, period, totalMicro, isStopped = false, ...limits } = parseWith(BudgetBody, body);
    const micro = (value: number | null | undefined): bigint | null => (value == null ? null : BigInt(value));
    const { hostMicro, pageMicro, approveAboveMicro } = limits;
    const budget = {
      period,
      isStopped,
      totalMicro: BigInt(totalMicro),
      hostMicro: micro(hostMicro),
      pageMicro: micro(pageMicro),
      approveAboveMicro: micro(approveAboveMicro),
    };
    const set = await setBudget(deps, account.accountId, budget, ifVersion);
    return { status: 200, headers: PRIVATE, body: { budget: budgetBody(set) } };
  },
};

function budgetBody(budget: ShownBudget) {
  const { version, period, isStopped, hostMicro, pageMicro, approveAboveMicro } = budget;
  const micro = (value: bigint | null): number | null => (value === null ? null : microToJson(value));
  return {
    version,
    period,
    isStopped,
    totalMicro: microToJson(budget.totalMicro),
    hostMicro: micro(hostMicro),
    pageMicro: micro(pageMicro),
    approveAboveMicro: micro(approveAboveMicro),
    updatedAt: budget.updatedAt.getTime(),
    spentMicro: microToJson(budget.spentMicro),
    leftMicro: microToJson(budget.leftMicro),
    periodStartsAt: budget.periodStartsAtMs,
    periodEndsAt: budget.periodEndsAtMs,
  };
}
