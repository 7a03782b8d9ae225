import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, run } from '../../../db/statement.ts';

/** A split that payments were addressed to, and the sites that sell through it. */
export interface KnownSplit {
  readonly router: `0x${string}`;
  readonly payTo: `0x${string}`;
  readonly legWords: readonly `0x${string}`[];
  readonly tenantIds: readonly string[];
}

/**
 * Remembers who sells through the splits of some payments, so that what lies there is paid out, and who bears that (safety 4, 19). For
 * payments that were claimed or are proven: to show one costs nothing, so that it must not put a split on our list.
 */
export async function rememberSellers(
  sql: Sql,
  payments: readonly {
    readonly tenantId: string;
    readonly network: string;
    readonly payTo: string;
    readonly legWords: readonly string[] | null;
  }[],
): Promise<void> {
  const split = payments.filter((payment) => payment.legWords !== null);
  if (split.length === 0) return;
  await sql.query(
    `insert into split_seller (tenant_id, network, pay_to)
     select distinct * from unnest($1::uuid[], $2::text[], $3::text[]) order by 1, 2, 3 on conflict do nothing`,
    [split.map((one) => one.tenantId), split.map((one) => one.network), split.map((one) => one.payTo)],
  );
}

/**
 * Splits that somebody sells through and nothing of our relayer is on its way to, those looked at longest ago first; marks them as looked
 * at. A facilitator never pays a split out, so that its payments, which may stay undecided for long, hold none back (safety 4).
 */
export async function takeSplitsToCheck(sql: Sql, network: string, limit: number): Promise<KnownSplit[]> {
  const all = acrossSites('a worker');
  const chosen = all
    .selectFrom('split as known')
    .select(['known.router', 'known.payTo'])
    .where('known.network', '=', network)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('split_seller as seller')
          .select('seller.payTo')
          .where('seller.network', '=', network)
          .whereRef('seller.payTo', '=', 'known.payTo'),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('payment_state as sent')
            .select('sent.paymentId')
            .where('sent.network', '=', network)
            .whereRef('sent.payTo', '=', 'known.payTo')
            .where(text.raw<boolean>("sent.stage = 'under_way' and sent.state = 'broadcast' and sent.settler <> 'facilitator'")),
        ),
      ),
    )
    .orderBy('known.checkedAt', (order) => order.asc().nullsFirst())
    .limit(limit);
  return await run(
    sql,
    all
      .updateTable('split')
      .from(chosen.as('chosen'))
      .set({ checkedAt: text<Date>`now()` })
      .where('split.network', '=', network)
      .whereRef('split.router', '=', 'chosen.router')
      .whereRef('split.payTo', '=', 'chosen.payTo')
      .returning(['split.router', 'split.payTo', 'split.legWords'])
      .returning(
        text<readonly string[]>`array(select seller.tenant_id::text from split_seller as seller
          where seller.network = split.network and seller.pay_to = split.pay_to order by 1)`.as('tenantIds'),
      ),
  );
}
