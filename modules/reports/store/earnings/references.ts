import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { within } from './crossings.ts';

/** A sale, or what takes one back, with what settled it. */
export interface SettledSale {
  readonly atMs: number;
  /** What it came to; of an author's, his legs. Micro-USDC; below zero: a sale taken back. */
  readonly micro: bigint;
  /** 1, or -1 for a sale taken back. */
  readonly sign: number;
  /** The hash of its transaction, or the id that a facilitator gave; null: neither. */
  readonly reference: string | null;
}

/** The newest sales and corrections of a window, at most `limit`; `authorId`: those with legs that name him, and these legs alone. */
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
      ? `select c.at, c.crossing_id, c.payment_id, c.micro, sign(c.micro)::int as sign from ledger.crossing c
           where c.tenant_id = ${tenant} and ${within(binder, 'c.at', window)}`
      : `select at, crossing_id, payment_id, sum(amount_micro) as micro, sign from (${legsOfAuthor(binder, tenant, authorId, window)}) mine
           group by at, crossing_id, payment_id, sign`;
  const rows = await sql.query<{ at: Date; micro: string; sign: number; tx_hash: string | null }>(
    `select sale.at, sale.micro::text as micro, sale.sign, p.tx_hash from (
       ${sales} order by at desc, crossing_id desc limit ${binder.bind(limit)}
     ) sale join ledger.payment_state p on p.tenant_id = ${tenant} and p.payment_id = sale.payment_id
     order by sale.at desc, sale.crossing_id desc`,
    binder.values,
  );
  return rows.map(({ at, micro, sign, tx_hash: reference }) => ({ atMs: at.getTime(), micro: BigInt(micro), sign, reference }));
}

/** Legs of a window that name an author, each with the sign of its crossing. The authors' index skips from wallet to wallet to those of the window. */
export function legsOfAuthor(binder: Binder, tenant: string, authorId: string, window: Span): string {
  return `select l.crossing_id, l.payment_id, l.slug, l.kind, l.to_address, l.amount_micro, l.share, l.at, sign(c.micro)::int as sign
      from ledger.leg l join ledger.crossing c on c.tenant_id = l.tenant_id and c.crossing_id = l.crossing_id
      where l.tenant_id = ${tenant} and l.role <> 'platform' and l.author_id = ${binder.bind(authorId)}
        and ${within(binder, 'l.at', window)}`;
}
