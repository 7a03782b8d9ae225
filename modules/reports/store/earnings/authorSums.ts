import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { legsOfAuthor } from './references.ts';

/** What legs that name an author come to, on one page and kind, or at one wallet and kind, and what of it was taken back; micro-USDC. */
export interface AuthorSum {
  readonly of: 'page' | 'wallet' | 'correction';
  /** A slug, or a wallet in lower case; of corrections nothing. */
  readonly key: string;
  readonly kind: CrossingKind;
  readonly events: bigint;
  /** Below zero: taken back. */
  readonly micro: bigint;
  /** The author's smallest and largest share of a sale, 0 … 1; of a wallet or corrections 0. */
  readonly leastShare: number;
  readonly mostShare: number;
}

/** Net sums of the legs of a window that name an author, by page and by wallet, and the corrections recorded in it, which they are net of. */
export async function sumAuthor(sql: Sql, tenantId: string, authorId: string, window: Span): Promise<AuthorSum[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const rows = await sql.query<
    Record<'key' | 'events' | 'micro', string> & Pick<AuthorSum, 'of' | 'kind'> & { least: number; most: number }
  >(
    `with mine as materialized (${legsOfAuthor(binder, tenant, authorId, window)}), sale as (
       select slug, kind, sum(amount_micro) as micro, sum(share) as share, sign from mine group by crossing_id, slug, kind, sign
     )
     select 'page' as of, slug as key, kind, sum(sign)::text as events, sum(micro)::text as micro, min(share) as least, max(share) as most
       from sale group by slug, kind
     union all
     select 'wallet', to_address, kind, sum(sign)::text, sum(amount_micro)::text, 0, 0 from mine group by to_address, kind
     union all
     select 'correction', '', kind, count(*)::text, sum(micro)::text, 0, 0 from sale where sign < 0 group by kind`,
    binder.values,
  );
  return rows.map(({ events, micro, least, most, ...row }) => ({
    ...row,
    events: BigInt(events),
    micro: BigInt(micro),
    leastShare: least,
    mostShare: most,
  }));
}
