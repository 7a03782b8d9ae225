import type { CrossingKind } from '../../domain/terms.ts';
import type { Span } from '../../domain/window.ts';
import { isEmpty, piecesOf } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { Binder } from './binder.ts';
import type { CrossingDimension, CrossingScope } from './crossings.ts';
import { conditions, crossingSource, STANDING, within } from './crossings.ts';

/** Net sums of one group of crossings; micro-USDC. */
export interface CrossingSum {
  readonly host: string;
  readonly kind: CrossingKind;
  /** A slug or an author's wallet; empty in the site's total. */
  readonly key: string;
  readonly events: bigint;
  readonly micro: bigint;
}

/** One crossing that stands. */
export interface StandingCrossing {
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: bigint;
  readonly atMs: number;
}

/** Net sums of a window by host and kind, or by kind and slug or author (`host` is empty then). No window: no rows. */
export async function sumCrossings(
  sql: Sql,
  scope: CrossingScope,
  window: Span,
  dimension: CrossingDimension,
): Promise<CrossingSum[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const source = crossingSource(binder, scope, piecesOf(window), dimension);
  const host = dimension === 'total' ? 'host' : "''";
  const rows = await sql.query<{ host: string; kind: CrossingKind; key: string; events: string; micro: string }>(
    `select ${host} as host, kind, key, sum(events) as events, sum(micro) as micro from (${source}) part group by 1, 2, 3
      having sum(events) <> 0 or sum(micro) <> 0`,
    binder.values,
  );
  return rows.map((row) => ({ ...row, events: BigInt(row.events), micro: BigInt(row.micro) }));
}

/** How many authors' wallets were paid in a window, corrections taken back. */
export async function countAuthors(sql: Sql, scope: CrossingScope, window: Span): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const source = crossingSource(binder, scope, piecesOf(window), 'author');
  const [row] = await sql.query<{ count: string }>(
    `select count(*) from (select key from (${source}) part group by key having sum(events) > 0) author`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

/** A page of a list, newest first. Rows of one millisecond stay together, so a page may hold more than its limit. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins: rows older than this; null at the end. */
  readonly nextCursorMs: number | null;
}

/** The newest crossings that stand, older than the window's end; at least `limit` of them unless there are no more. */
export function listCrossings(sql: Sql, scope: CrossingScope, window: Span, limit: number): Promise<Page<StandingCrossing>> {
  return readPage(window, limit, async (span, most) => {
    const binder = new Binder();
    const rows = await sql.query<{ host: string; slug: string; kind: CrossingKind; micro: string; at: Date }>(
      `select host, slug, kind, micro, at from (
         select c.* from crossing c where ${conditions(binder, scope, 'c.')} and ${within(binder, 'c.at', span)} and ${STANDING}
         order by c.at desc fetch first ${binder.bind(most)} rows with ties
       ) page order by at desc, crossing_id desc`,
      binder.values,
    );
    return rows.map(({ host, slug, kind, micro, at }) => ({ host, slug, kind, micro: BigInt(micro), atMs: at.getTime() }));
  });
}

/**
 * One page of a list. `read` gives the newest `most` rows of a span with all that share the last one's millisecond; one more row
 * is asked for where the page may not be the last.
 */
export async function readPage<Row extends { readonly atMs: number }>(
  window: Span,
  limit: number,
  read: (span: Span, most: number) => Promise<Row[]>,
): Promise<Page<Row>> {
  if (isEmpty(window)) return { rows: [], nextCursorMs: null };
  const rows = await read(window, limit);
  const last = rows.at(-1);
  if (!last || rows.length < limit) return { rows, nextCursorMs: null };
  const older = { fromMs: window.fromMs, toMs: last.atMs };
  const isLast = isEmpty(older) || (await read(older, 1)).length === 0;
  return { rows, nextCursorMs: isLast ? null : last.atMs };
}

/** The newest author id seen with each wallet of a site; wallets without one are left out. */
export async function listAuthorIds(sql: Sql, tenantId: string, wallets: readonly string[]): Promise<Map<string, string>> {
  if (wallets.length === 0) return new Map();
  const rows = await sql.query<{ wallet: string; author_id: string }>(
    `select wallet, author_id from unnest($2::text[]) as wallet, lateral (
       select author_id from leg where tenant_id = $1 and to_address = wallet and author_id is not null order by at desc limit 1
     ) newest`,
    [tenantId, wallets],
  );
  return new Map(rows.map((row) => [row.wallet, row.author_id]));
}
