import { z } from 'zod';
import type { Spending, SpendingFilter, SpendingSums } from '../../../modules/budgets/use/usage.ts';
import {
  countSpending,
  exportSpending,
  MOST_EXPORTED,
  readSpendingBy,
  readSpendingSums,
  spendingOf,
} from '../../../modules/budgets/use/usage.ts';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import { keptHost } from '../../../modules/kernel/hosts/hostname.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import { settlementRefKind } from '../../../modules/webhooks/rules/event.ts';
import { accountName } from '../../../platform/pacing/heavy.ts';
import type { AccountCall, AccountRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { SpendingList, SpendingParams, SpendingWindow } from '../../schemas/spending.ts';
import { jsonResponse } from '../responses.ts';
import { ACCOUNT_SECURITY, accountErrors, PRIVATE } from './shared.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** Most groups of an answer, the dearest ones. */
const MOST_GROUPS = 1_000;

const errors = {
  ...accountErrors,
  '400': jsonResponse('Malformed request', ErrorBody),
  '429': jsonResponse('Too many calls, or another is running', ErrorBody),
};

/** GET /_svc/accounts/spending: what the account spent, newest first, and what it comes to. */
export const spendingRoute: AccountRoute = {
  method: 'get',
  path: '/_svc/accounts/spending',
  isFiltered: true,
  access: 'account',
  cost: 'heavy',
  isForPages: true,
  operation: {
    operationId: 'listSpending',
    tags: ['Accounts'],
    summary: 'What the account spent',
    security: ACCOUNT_SECURITY,
    requestParams: { query: SpendingParams },
    responses: { '200': jsonResponse('Newest first, with the sums of the window', SpendingList), ...errors },
  },
  handle: async (call) => {
    const given = parseWith(SpendingParams, Object.fromEntries(call.query), 'invalid_parameter');
    const { deps, account } = call;
    const { accountId } = account;
    const filter = filterOf(given);
    const request = {
      first: Math.min(Number(given.limit ?? DEFAULT_LIMIT), MAX_LIMIT),
      after: given.cursor ?? null,
      orderBy: 'NEWEST',
    };
    const reading = { reading: deps.reports.database, clock: deps.clock };
    const { rows, hasNext, totals, groups } = await inTurn(call, async () => ({
      ...(await spendingOf.page(reading, accountId, filter, request)),
      totals: await readSpendingSums(reading, accountId, filter),
      groups: given.groupBy && (await readSpendingBy(reading, accountId, filter, { by: given.groupBy, most: MOST_GROUPS })),
    }));
    const next = hasNext ? rows.at(-1)?.cursor : undefined;
    const body = {
      totals: sumsBody(totals),
      spending: rows.map(({ row }) => spendingBody(row)),
      ...(groups && { groups: groups.map(({ key, ...sums }) => ({ key, ...sumsBody(sums) })) }),
      ...(next === undefined ? {} : { nextCursor: next }),
    };
    return { status: 200, headers: PRIVATE, body };
  },
};

/** GET /_svc/accounts/spending.csv: the same rows as a file, oldest first, sent as they are read. */
export const spendingCsvRoute: AccountRoute = {
  method: 'get',
  path: '/_svc/accounts/spending.csv',
  isFiltered: true,
  access: 'account',
  cost: 'file',
  isForPages: true,
  operation: {
    operationId: 'exportSpendingCsv',
    tags: ['Accounts'],
    summary: 'What the account spent, as CSV',
    description:
      `One row a payment, oldest first, at most ${MOST_EXPORTED}; \`x-svc-truncated\` says that the window has more. One export of an ` +
      'account goes at a time. When all places are taken and another file needs one, the slowest client is cut if it took over 10 ' +
      'seconds for a MiB. A file whose connection is cut before its end is no file.',
    security: ACCOUNT_SECURITY,
    requestParams: { query: SpendingWindow },
    responses: {
      '200': {
        description: 'Amounts are micro-USDC',
        content: { 'text/csv': { schema: z.string() } },
        headers: z.object({
          'x-svc-truncated': z.exactOptional(z.literal('true')).meta({ description: 'The window has more rows than the file.' }),
        }),
      },
      ...errors,
    },
  },
  handle: async (call) => {
    const { deps, query, account } = call;
    const { accountId } = account;
    const given = filterOf(parseWith(SpendingWindow, Object.fromEntries(query), 'invalid_parameter'));
    const { fromMs = 0, toMs = null } = given.window ?? {};
    const filter = { ...given, window: { fromMs, toMs: Math.min(toMs ?? deps.clock(), deps.clock()) } };
    const reading = { reading: deps.reports.database, clock: deps.clock };
    const place = deps.accountExports.take({ keyId: accountId, tenantId: accountId });
    try {
      const count = await inTurn(call, () => countSpending(reading, accountId, filter));
      place.begin();
      const rows = exportSpending((page) => inTurn(call, () => spendingOf.page(reading, accountId, filter, page)));
      const close = async (): Promise<void> => place.giveBack();
      const headers = {
        ...PRIVATE,
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="spending-${new Date(deps.clock()).toISOString().slice(0, 10)}.csv"`,
        ...(count > MOST_EXPORTED ? { 'x-svc-truncated': 'true' } : {}),
      };
      return { status: 200, headers, stream: { chunks: place.readAtPace(rows, close), cut: place.cut, close } };
    } catch (error) {
      place.giveBack();
      throw error;
    }
  },
};

/** Reads in the account's turn at the connections of reports. */
async function inTurn<T>({ deps, account, gone }: AccountCall, read: () => Promise<T>): Promise<T> {
  const name = accountName(account.accountId);
  const leave = await deps.heavy.enter({ kind: 'reports', who: name, of: name }, gone());
  try {
    return await read();
  } finally {
    leave();
  }
}

function filterOf(given: z.infer<typeof SpendingWindow>): SpendingFilter {
  const { from: fromMs = 0, until: toMs = null } = given;
  if (toMs !== null && fromMs > toMs) {
    throw new ServiceError('invalid_parameter', 'from: must not be after until', { parameter: 'from' });
  }
  return { window: { fromMs, toMs }, resource: given.resource, outcome: given.outcome, host: given.host && keptHost(given.host) };
}

function sumsBody({ payments, settledMicro, openMicro }: SpendingSums) {
  return { payments, settledMicro: microToJson(settledMicro), openMicro: microToJson(openMicro) };
}

function spendingBody(row: Spending) {
  const { host, resource, kind, purpose, outcome, paymentState, reason, network, nonce, txHash } = row;
  return {
    at: row.at.getTime(),
    host,
    resource,
    kind,
    purpose,
    amountMicro: microToJson(BigInt(row.amountMicro)),
    outcome,
    paymentState,
    reason,
    network,
    payer: shownWallet(row.payer),
    nonce,
    settlementRef: txHash,
    settlementRefKind: settlementRefKind(txHash, row.mode),
    licenceJti: purpose === 'licence' && outcome === 'settled' ? row.paymentId : null,
  };
}
