import type { CrossingKind } from '../../domain/terms.ts';
import type { Span } from '../../domain/window.ts';
import { isEmpty, piecesOf } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { Binder } from './binder.ts';
import type { CrossingDimension, CrossingScope } from './crossings.ts';
import { conditions, crossingSource, STANDING, within } from './crossings.ts';
import type { Page } from './pages.ts';
import { readPage } from './pages.ts';

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
