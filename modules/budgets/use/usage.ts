import { csvRows } from '../../../platform/csv.ts';
import { formatUsdc } from '../../kernel/money/money.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { ListPage, Owned } from '../../paging/use/pages.ts';
import { listOf } from '../../paging/use/pages.ts';
import { settlementRefKind } from '../../webhooks/rules/event.ts';
import type { SpendingFilter, SpendingRow } from '../store/spendingList.ts';
import { SPENDING } from '../store/spendingList.ts';
import type { SpendingGroup, SpendingGroupBy, SpendingSums } from '../store/usage.ts';
import { countSpendingRows, sumSpending, sumSpendingBy } from '../store/usage.ts';

export type { SpendingFilter, SpendingOutcome } from '../store/spendingList.ts';
export type { SpendingGroup, SpendingGroupBy, SpendingSums } from '../store/usage.ts';

/** A payment counted against an account. `tenantId` of the row is the account here: a list knows its rows by their owner. */
export type Spending = Owned<SpendingRow>;

/** What accounts spent, by page, newest or oldest first. */
export const spendingOf = listOf(SPENDING);

/** Most rows of an export. */
export const MOST_EXPORTED = 50_000;
const EXPORT_PAGE = 1_000;

/** What an account spent in a window, added up. Throws database_unavailable. */
export async function readSpendingSums(deps: ReadingDeps, accountId: string, filter: SpendingFilter): Promise<SpendingSums> {
  return await sumSpending(deps.reading, accountId, filter);
}

/** How many rows a window has, at most one more than an export holds. Throws database_unavailable. */
export async function countSpending(deps: ReadingDeps, accountId: string, filter: SpendingFilter): Promise<number> {
  return await countSpendingRows(deps.reading, accountId, filter, MOST_EXPORTED + 1);
}

/** What an account spent by host or page, the dearest first, at most `most`. Throws database_unavailable. */
export async function readSpendingBy(
  deps: ReadingDeps,
  accountId: string,
  filter: SpendingFilter,
  groups: { readonly by: SpendingGroupBy; readonly most: number },
): Promise<SpendingGroup[]> {
  return await sumSpendingBy(deps.reading, accountId, filter, groups);
}

const COLUMNS = [
  'at_iso',
  'at_ms',
  'host',
  'resource',
  'kind',
  'purpose',
  'amount_micro',
  'amount_usdc',
  'outcome',
  'payment_state',
  'reason',
  'network',
  'payer',
  'nonce',
  'settlement_ref',
  'settlement_ref_kind',
  'licence_jti',
];

/** What is exported: the oldest rows of the window first, so that a file that is cut goes on where it ends. */
type Page = ListPage<Spending>;

/**
 * An account's spending as CSV, oldest first, a page of a thousand rows at a time: between two pages nothing of the database is held,
 * however slowly its reader reads. `read` gets each page, in its turn. Rows that come after `filter`'s window began to be read are not in it.
 */
export async function* exportSpending(
  read: (page: { readonly first: number; readonly after: string | null; readonly orderBy: 'OLDEST' }) => Promise<Page>,
): AsyncGenerator<string> {
  yield csvRows([COLUMNS]);
  let after: string | null = null;
  for (let count = 0; count < MOST_EXPORTED; count += EXPORT_PAGE) {
    const { rows, hasNext }: Page = await read({ first: EXPORT_PAGE, after, orderBy: 'OLDEST' });
    if (rows.length > 0) yield csvRows(rows.map(({ row }) => cellsOf(row)));
    after = rows.at(-1)?.cursor ?? null;
    if (!hasNext) return;
  }
}

function cellsOf(row: Spending): string[] {
  return [
    row.at.toISOString(),
    String(row.at.getTime()),
    row.host,
    row.resource,
    row.kind,
    row.purpose,
    row.amountMicro,
    formatUsdc(BigInt(row.amountMicro)),
    row.outcome,
    row.paymentState,
    row.reason ?? '',
    row.network,
    row.payer,
    row.nonce,
    row.txHash ?? '',
    settlementRefKind(row.txHash, row.mode),
    row.purpose === 'licence' && row.outcome === 'settled' ? row.paymentId : '',
  ];
}
