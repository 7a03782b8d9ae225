import type { CrossingKind } from '../../domain/terms.ts';
import type { Span } from '../../domain/window.ts';
import { isEmpty } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { Binder } from './binder.ts';
import { standing, within } from './crossings.ts';

/** One leg of a crossing that stands, with what its payment knows; numbers are text where they are only shown. */
export interface ExportedLeg {
  /** Epoch milliseconds. */
  readonly at_ms: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: string;
  readonly author_id: string | null;
  readonly wallet: string;
  readonly share: number;
  readonly role: string;
  readonly tx_hash: string | null;
  readonly mode: 'live' | 'mock';
  readonly payer: string;
  readonly agent: string;
  readonly licence_jti: string | null;
}

/** How many legs a window's export has, counted up to `most` + 1; a crossing's legs are those it names. */
export async function countLegs(sql: Sql, tenantId: string, window: Span, most: number): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const [row] = await sql.query<{ count: string }>(
    `select least(coalesce(sum(legs), 0), ${binder.bind(most + 1)}::bigint) as count from (
       select jsonb_array_length(c.legs) as legs from crossing c
       where c.tenant_id = ${tenant} and ${within(binder, 'c.at', window)} and ${standing(tenant)}
       order by c.at desc limit ${binder.bind(most + 1)}
     ) newest`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

/**
 * The newest legs of a window, at most `most`, in chunks of `chunkRows` from a server-side cursor: one chunk is read while the
 * consumer is busy with the one before, no more. `sql` is an open snapshot. Order: newest crossing first, its legs in their order.
 */
export async function* streamLegs(
  sql: Sql,
  tenantId: string,
  window: Span,
  { most, chunkRows }: { readonly most: number; readonly chunkRows: number },
): AsyncGenerator<ExportedLeg[]> {
  if (isEmpty(window)) return;
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  await sql.query(
    `declare exported no scroll cursor for
     select (extract(epoch from c.at) * 1000)::bigint as at_ms, c.host, c.slug, c.kind, l.amount_micro as micro, l.author_id,
       l.to_address as wallet, l.share, l.role, p.tx_hash, p.mode, c.payer, c.agent, p.licence_jti
     from crossing c
       join leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id
       join payment p on p.tenant_id = c.tenant_id and p.payment_id = c.payment_id
     where c.tenant_id = ${tenant} and ${within(binder, 'c.at', window)} and ${standing(tenant)}
     order by c.at desc, c.crossing_id desc, l.ordinal limit ${binder.bind(most)}`,
    binder.values,
  );
  const fetchChunk = (): Promise<ExportedLeg[]> => {
    const rows = sql.query<ExportedLeg & Record<string, unknown>>(`fetch ${Number(chunkRows)} from exported`);
    // Whoever stops reading never looks at the chunk that is on its way.
    rows.catch(() => undefined);
    return rows;
  };
  let next = fetchChunk();
  for (;;) {
    const rows = await next;
    const isLast = rows.length < chunkRows;
    if (!isLast) next = fetchChunk();
    if (rows.length > 0) yield rows;
    if (isLast) return;
  }
}
