import { hash } from 'node:crypto';
import type { CrossingKind } from '../../domain/terms.ts';
import type { Span } from '../../domain/window.ts';
import { isEmpty } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { authorCount, newestAuthorId } from './authors.ts';
import { Binder } from './binder.ts';
import type { CrossingDimension, CrossingScope } from './crossings.ts';
import { conditions, crossingSource, standing, within } from './crossings.ts';
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
  const rows = await sql.query<SumRow & Record<string, string>>(crossingSums(binder, scope, window, dimension), binder.values);
  return rows.map(sumFromRow);
}

/** The newest crossings that stand, older than the window's end; at least `limit` of them unless there are no more. */
export function listCrossings(sql: Sql, scope: CrossingScope, window: Span, limit: number): Promise<Page<StandingCrossing>> {
  return readPage(window, limit, (span, most) => readNewest(sql, scope, span, most));
}

/** Net sums of one slug or author; micro-USDC. */
export interface CrossingGroup {
  readonly key: string;
  readonly reads: number;
  readonly citations: number;
  readonly micro: bigint;
  /** The newest author id seen with the wallet; null where the key is a slug, and without one. */
  readonly authorId: string | null;
}

/** What a report of earnings is made of. */
export interface CrossingOverview {
  readonly sums: CrossingSum[];
  readonly authors: number;
  readonly recent: Page<StandingCrossing>;
  /** In no order; none unless asked for. */
  readonly groups: CrossingGroup[];
}

/** What an overview holds besides the totals of its window. */
export interface OverviewParts {
  /** The part of the window that the list begins with. */
  readonly listed: Span;
  readonly limit: number;
  readonly groupBy: 'slug' | 'author' | null;
}

/**
 * The totals of a window, its authors, a page of its list and its groups, from one statement: one trip to Postgres, and its text is the
 * same for all windows, so that it can be planned once a connection.
 */
export async function readOverview(
  sql: Sql,
  scope: CrossingScope,
  window: Span,
  { listed, limit, groupBy }: OverviewParts,
): Promise<CrossingOverview> {
  if (isEmpty(window)) return { sums: [], authors: 0, recent: { rows: [], nextCursorMs: null }, groups: [] };
  const binder = new Binder();
  const statement = `select
      (select coalesce(json_agg(one), '[]') from (${crossingSums(binder, scope, window, 'total')}) one) as sums,
      (${authorCount(binder, scope, window)}) as authors,
      (select coalesce(json_agg(one), '[]') from (${newestCrossings(binder, scope, listed, limit + 1)}) one) as newest,
      ${groupBy === null ? 'null' : `(${crossingGroups(binder, scope, window, groupBy)})`} as groups`;
  const isCommon = scope.host === null && scope.kind === null;
  const name = isCommon ? `overview-${hash('sha1', statement)}` : undefined;
  const [row] = await sql.query<OverviewRow & Record<string, unknown>>(statement, binder.values, name);
  let newest = row?.newest.map(crossingFromRow);
  const recent = await readPage(listed, limit, async (span, most) => {
    const held = newest ?? (await readNewest(sql, scope, span, most));
    newest = undefined;
    return held;
  });
  const groups = row?.groups ? groupsFromColumns(row.groups) : [];
  return { sums: row?.sums.map(sumFromRow) ?? [], authors: Number(row?.authors ?? 0), recent, groups };
}

interface OverviewRow {
  readonly sums: SumRow[];
  readonly authors: string;
  readonly newest: CrossingRow[];
  readonly groups: GroupColumns | null;
}

/** Groups column by column: a thousand objects take longer to read than to add up. Sums are text, so that they survive JSON. */
type GroupColumns =
  | readonly [keys: string[], reads: number[], citations: number[], micro: string[], authorIds: (string | null)[]]
  | readonly null[];

function groupsFromColumns([keys, reads, citations, micro, authorIds]: GroupColumns): CrossingGroup[] {
  return (keys ?? []).map((key, n) => ({
    key,
    reads: reads?.[n] ?? 0,
    citations: citations?.[n] ?? 0,
    micro: BigInt(micro?.[n] ?? 0),
    authorId: authorIds?.[n] ?? null,
  }));
}

function crossingGroups(binder: Binder, scope: CrossingScope, window: Span, groupBy: 'slug' | 'author'): string {
  const of = (kind: CrossingKind): string => `coalesce(sum(events) filter (where kind = '${kind}'), 0)`;
  const authorId = groupBy === 'author' ? newestAuthorId(binder.bind(scope.tenantId), 'key') : 'null::text';
  return `select json_build_array(json_agg(key), json_agg(reads), json_agg(citations), json_agg(micro), json_agg(${authorId})) from (
      select key, ${of('read')} as reads, ${of('citation')} as citations, sum(micro)::text as micro
      from (${crossingSource(binder, scope, window, groupBy)}) part group by key having sum(events) <> 0 or sum(micro) <> 0) one`;
}

/** Sums are text, so that they survive JSON. */
interface SumRow {
  readonly host: string;
  readonly kind: CrossingKind;
  readonly key: string;
  readonly events: string;
  readonly micro: string;
}

function crossingSums(binder: Binder, scope: CrossingScope, window: Span, dimension: CrossingDimension): string {
  const source = crossingSource(binder, scope, window, dimension);
  const host = dimension === 'total' ? 'host' : "''";
  return `select ${host} as host, kind, key, sum(events)::text as events, sum(micro)::text as micro from (${source}) part group by 1, 2, 3
      having sum(events) <> 0 or sum(micro) <> 0`;
}

function sumFromRow({ host, kind, key, events, micro }: SumRow): CrossingSum {
  return { host, kind, key, events: BigInt(events), micro: BigInt(micro) };
}

interface CrossingRow {
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: string;
  readonly at_ms: string;
}

function newestCrossings(binder: Binder, scope: CrossingScope, span: Span, most: number): string {
  return `select host, slug, kind, micro::text, (extract(epoch from at) * 1000)::bigint::text as at_ms from (
         select c.crossing_id, c.host, c.slug, c.kind, c.micro, c.at from crossing c
         where ${conditions(binder, scope, 'c.')} and ${within(binder, 'c.at', span)} and ${standing(binder.bind(scope.tenantId))}
         order by c.at desc fetch first ${binder.bind(most)} rows with ties
       ) page order by at desc, crossing_id desc`;
}

async function readNewest(sql: Sql, scope: CrossingScope, span: Span, most: number): Promise<StandingCrossing[]> {
  const binder = new Binder();
  const rows = await sql.query<CrossingRow & Record<string, string>>(newestCrossings(binder, scope, span, most), binder.values);
  return rows.map(crossingFromRow);
}

function crossingFromRow({ host, slug, kind, micro, at_ms: at }: CrossingRow): StandingCrossing {
  return { host, slug, kind, micro: BigInt(micro), atMs: Number(at) };
}
