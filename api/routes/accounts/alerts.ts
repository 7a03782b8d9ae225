import { removeAlertUrl, setAlertUrl, showAlerts } from '../../../modules/budgets/use/alerts.ts';
import { requireOwnAccount } from '../../../modules/identity/use/accounts/authenticate.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { AccountRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { AlertUrl, AlertUrlSet, BudgetAlerts } from '../../schemas/spending.ts';
import { jsonResponse } from '../responses.ts';
import { ACCOUNT_SECURITY, OWNER_ERRORS, PRIVATE } from './shared.ts';

const shared = {
  path: '/_svc/accounts/alerts',
  access: 'account',
  isForPages: true,
} as const;

/** GET /_svc/accounts/alerts: what the account was told of its budget, and where it is told. */
export const listAlertsRoute: AccountRoute = {
  ...shared,
  method: 'get',
  operation: {
    operationId: 'listBudgetAlerts',
    tags: ['Accounts'],
    summary: 'Notices about the budget',
    security: ACCOUNT_SECURITY,
    responses: { '200': jsonResponse('The newest hundred, newest first', BudgetAlerts), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account }) => {
    requireOwnAccount(account);
    const { url, setAtMs, alerts } = await showAlerts(deps, account.accountId);
    const shown = alerts.map(({ eventId, percent, period, state, attempts, reason, ...alert }) => ({
      eventId,
      percent,
      period,
      state,
      attempts,
      reason,
      periodStartsAt: alert.periodStart.getTime(),
      periodEndsAt: alert.periodEnd.getTime(),
      at: alert.at.getTime(),
      spentMicro: microToJson(alert.spentMicro),
      limitMicro: microToJson(alert.limitMicro),
    }));
    return { status: 200, headers: PRIVATE, body: { url, setAt: setAtMs, alerts: shown } };
  },
};

/** PUT /_svc/accounts/alerts: where alerts go from now on; the secret that signs them is in the answer, once. */
export const setAlertsRoute: AccountRoute = {
  ...shared,
  method: 'put',
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'setBudgetAlerts',
    tags: ['Accounts'],
    summary: 'Where budget alerts go',
    description: 'Each call creates a new secret, and the previous one stops signing. With a null `url`, nothing is sent.',
    security: ACCOUNT_SECURITY,
    requestBody: { required: true, content: { 'application/json': { schema: AlertUrl } } },
    responses: { '200': jsonResponse('Where they go, and the secret that signs them', AlertUrlSet), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account, body }) => {
    requireOwnAccount(account);
    const { url } = parseWith(AlertUrl, body);
    const { database, receivers } = deps;
    if (url === null) await removeAlertUrl({ database }, account.accountId);
    const answer = url === null ? { url } : await setAlertUrl({ database, ...receivers }, account.accountId, url);
    return { status: 200, headers: PRIVATE, body: answer };
  },
};
