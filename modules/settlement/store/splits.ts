import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';

/** A split that payments were addressed to, and the sites that sell through it. */
export interface KnownSplit {
  readonly router: `0x${string}`;
  readonly payTo: `0x${string}`;
  readonly legWords: readonly `0x${string}`[];
  readonly tenantIds: readonly string[];
}

const CHECKED = columnsOf('split split', ['router', 'payTo', 'legWords']);

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
  return await sql.query<RowOf<typeof CHECKED> & Pick<KnownSplit, 'tenantIds'>>(
    `update split set checked_at = now() from (
       select router, pay_to from split s where network = $1
         and exists (select 1 from split_seller seller where seller.network = $1 and seller.pay_to = s.pay_to)
         and not exists (
           select 1 from payment_state as sent where sent.network = $1 and sent.pay_to = s.pay_to and sent.stage = 'under_way'
             and sent.state = 'broadcast' and sent.settler <> 'facilitator')
       order by checked_at nulls first limit $2) as chosen
      where split.network = $1 and split.router = chosen.router and split.pay_to = chosen.pay_to
      returning ${CHECKED.text}, array(
        select tenant_id::text from split_seller seller where seller.network = $1 and seller.pay_to = split.pay_to
         order by 1) as "tenantIds"`,
    [network, limit],
  );
}
