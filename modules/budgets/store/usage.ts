import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { workedOut } from '../../../db/shown.ts';
import type { SpendingFilter } from './spendingList.ts';
import { SPENDING, SPENDING_FROM } from './spendingList.ts';
import { spendingOutcome } from './standing.ts';

/** Amounts of what an account spent, micro-USDC. */
export interface SpendingSums {
  readonly payments: number;
  /** The money moved. */
  readonly settledMicro: bigint;
  /** It may still move. */
  readonly openMicro: bigint;
}

/** The sums of one host or page. */
export interface SpendingGroup extends SpendingSums {
  readonly key: string;
}

/** What spending is added up by. */
export type SpendingGroupBy = 'host' | 'page';

const KEYS = { host: 'a.host', page: 'p.resource' } as const satisfies Record<SpendingGroupBy, string>;

const SUMS = workedOut<{ readonly payments: string; readonly settled: string; readonly open: string }>(
  `count(*) as payments, coalesce(sum(a.amount_micro) filter (where ${spendingOutcome('p')} = 'settled'), 0) as settled,
  coalesce(sum(a.amount_micro) filter (where ${spendingOutcome('p')} = 'open'), 0) as open`,
);
type SumsRow = RowOf<typeof SUMS>;

function whichOf(accountId: string, filter: SpendingFilter): { readonly where: string; readonly binder: Binder } {
  const binder = new Binder();
  const account = binder.bind(accountId);
  const where = [`a.account_id = ${account}`, ...SPENDING.where(binder, filter)].join(' and ');
  return { where, binder };
}

/** What an account spent, all together. */
export async function sumSpending(sql: Sql, accountId: string, filter: SpendingFilter): Promise<SpendingSums> {
  const { where, binder } = whichOf(accountId, filter);
  const [row] = await sql.query<SumsRow>(`select ${SUMS.text} from ${SPENDING_FROM} where ${where}`, binder.values);
  return sumsOf(row ?? { payments: '0', settled: '0', open: '0' });
}

/** The same by host or page, the dearest first; at most `most` of them. */
export async function sumSpendingBy(
  sql: Sql,
  accountId: string,
  filter: SpendingFilter,
  { by, most }: { readonly by: SpendingGroupBy; readonly most: number },
): Promise<SpendingGroup[]> {
  const { where, binder } = whichOf(accountId, filter);
  const rows = await sql.query<SumsRow & { key: string }>(
    `select ${KEYS[by]} as key, ${SUMS.text} from ${SPENDING_FROM} where ${where} group by 1 order by 3 desc, 4 desc, 1 limit ${binder.bind(most)}`,
    binder.values,
  );
  return rows.map((row) => ({ key: row.key, ...sumsOf(row) }));
}

/** How many rows there are, counted up to `most`. */
export async function countSpendingRows(sql: Sql, accountId: string, filter: SpendingFilter, most: number): Promise<number> {
  const { where, binder } = whichOf(accountId, filter);
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (select from ${SPENDING_FROM} where ${where} limit ${binder.bind(most)}) as found`,
    binder.values,
  );
  return row?.count ?? 0;
}

function sumsOf({ payments, settled, open }: SumsRow): SpendingSums {
  return { payments: Number(payments), settledMicro: BigInt(settled), openMicro: BigInt(open) };
}
