import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { within } from './crossings.ts';

/** One leg of a crossing. */
export interface StatementLine {
  readonly wallet: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  /** The author's share of the crossing, 0 … 1. */
  readonly share: number;
  /** Below zero in a correction. */
  readonly micro: bigint;
  readonly atMs: number;
}

/** The newest lines of each author in a window, at most `limit` each, author by author; those of one time as the other reports have them. */
export async function listStatementLines(
  sql: Sql,
  tenantId: string,
  window: Span,
  { wallets, limit }: { readonly wallets: readonly string[]; readonly limit: number },
): Promise<StatementLine[]> {
  if (isEmpty(window) || wallets.length === 0) return [];
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const rows = await sql.query<{
    wallet: string;
    host: string;
    slug: string;
    kind: CrossingKind;
    share: number;
    amount_micro: string;
    at: Date;
    crossing_id: string;
  }>(
    `select wallet, line.* from unnest(${binder.bind(wallets)}::text[]) with ordinality as author (wallet, place), lateral (
       select l.host, l.slug, l.kind, l.share, l.amount_micro, l.at, l.crossing_id
       from ledger.leg l
       where l.tenant_id = ${tenant} and l.to_address = author.wallet and l.role <> 'platform'
         and ${within(binder, 'l.at', window)}
       order by l.at desc, l.crossing_id desc limit ${binder.bind(limit)}
     ) line order by place, at desc, crossing_id desc`,
    binder.values,
  );
  return rows.map(({ wallet, host, slug, kind, share, amount_micro: micro, at }) => ({
    wallet,
    host,
    slug,
    kind,
    share,
    micro: BigInt(micro),
    atMs: at.getTime(),
  }));
}
