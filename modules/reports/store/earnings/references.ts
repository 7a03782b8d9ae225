import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { standing, within } from './crossings.ts';

/** A sale that stands, with what settled it. */
export interface SettledSale {
  readonly atMs: number;
  /** What it came to; of an author's, his legs. Micro-USDC. */
  readonly micro: bigint;
  /** The hash of its transaction, or the id that a facilitator gave; null: neither. */
  readonly reference: string | null;
}

/** The newest sales of a window, at most `limit`; `authorId`: those with legs that name him, and these legs alone. */
export async function listSettledSales(
  sql: Sql,
  { tenantId, authorId }: { readonly tenantId: string; readonly authorId: string | null },
  window: Span,
  limit: number,
): Promise<SettledSale[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const sales =
    authorId === null
      ? `select c.at, c.crossing_id, c.payment_id, c.micro from ledger.crossing c
           where c.tenant_id = ${tenant} and ${within(binder, 'c.at', window)} and ${standing(tenant)}`
      : `select at, crossing_id, payment_id, sum(amount_micro) as micro from (${legsOfAuthor(binder, tenant, authorId, window)}) mine
           group by at, crossing_id, payment_id`;
  const rows = await sql.query<{ at: Date; micro: string; tx_hash: string | null }>(
    `select sale.at, sale.micro::text as micro, p.tx_hash from (
       ${sales} order by at desc, crossing_id desc limit ${binder.bind(limit)}
     ) sale join ledger.payment_state p on p.tenant_id = ${tenant} and p.payment_id = sale.payment_id
     order by sale.at desc, sale.crossing_id desc`,
    binder.values,
  );
  return rows.map(({ at, micro, tx_hash: reference }) => ({ atMs: at.getTime(), micro: BigInt(micro), reference }));
}

/** Legs of a window that name an author and stand. The authors' index skips from wallet to wallet to those of the window. */
export function legsOfAuthor(binder: Binder, tenant: string, authorId: string, window: Span): string {
  return `select l.crossing_id, l.payment_id, l.slug, l.kind, l.to_address, l.amount_micro, l.share, l.at
      from ledger.leg l join ledger.crossing c on c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id
      where l.tenant_id = ${tenant} and l.role <> 'platform' and l.author_id = ${binder.bind(authorId)}
        and ${within(binder, 'l.at', window)} and ${standing(tenant)}`;
}
