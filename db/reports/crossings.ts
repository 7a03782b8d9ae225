import type { Pieces, Span } from '../../domain/window.ts';
import type { Binder } from './binder.ts';

/** Which crossings a report is about; all of the site's where a filter is null. */
export interface CrossingScope {
  readonly tenantId: string;
  readonly host: string | null;
  readonly kind: string | null;
}

/** What crossings are added up by: the site, its slugs, or the authors' legs. */
export type CrossingDimension = 'total' | 'slug' | 'author';

/**
 * A relation (host, kind, key, events, micro) that adds up to the plain aggregate of a window: months, days and hours from the
 * rollups, the edges from the rows (DESIGN §5). Amounts are micro-USDC, corrections count -1. At least one piece.
 */
export function crossingSource(binder: Binder, scope: CrossingScope, pieces: Pieces, dimension: CrossingDimension): string {
  const filter = conditions(binder, scope);
  const branch = (table: string, column: string) => (span: Span) =>
    `select host, kind, key, events, micro from ${table}
      where ${filter} and dimension = '${dimension}' and ${within(binder, column, span)}`;
  return [
    ...pieces.months.map(branch('crossing_month', 'bucket')),
    ...pieces.days.map(branch('crossing_day', 'bucket')),
    ...pieces.hours.map(branch('crossing_hour', 'bucket')),
    ...pieces.edges.map(branch('crossing_part', 'at')),
  ].join('\n union all ');
}

/** The scope as a condition on a table with tenant_id, host and kind; `alias` is its name with a point, where it needs one. */
export function conditions(binder: Binder, scope: CrossingScope, alias = ''): string {
  return [
    `${alias}tenant_id = ${binder.bind(scope.tenantId)}`,
    ...(scope.host === null ? [] : [`${alias}host = ${binder.bind(scope.host)}`]),
    ...(scope.kind === null ? [] : [`${alias}kind = ${binder.bind(scope.kind)}`]),
  ].join(' and ');
}

/** A span as a condition on a column of time. */
export function within(binder: Pick<Binder, 'bind'>, column: string, span: Span): string {
  const from = `${column} >= ${binder.bind(new Date(span.fromMs))}::timestamptz`;
  return span.toMs === null ? from : `${from} and ${column} < ${binder.bind(new Date(span.toMs))}::timestamptz`;
}

/**
 * True of a crossing `c` of one site, `tenant` being its parameter, that stands: no correction (those are negative, all others
 * positive, by the table's own check), and not corrected (its correction is the next in sequence). Said by amount, since Postgres
 * keeps statistics of that. Most sites have no correction at all, which is asked once a statement; for the others `offset 0` keeps
 * it one look into an index per row.
 */
export function standing(tenant: string): string {
  return `c.micro > 0 and (
      not exists (select 1 from crossing f where f.tenant_id = ${tenant} and f.sequence % 2 = 1)
      or not exists (
        select 1 from crossing k where k.tenant_id = ${tenant} and k.payment_id = c.payment_id
          and k.sequence = c.sequence + 1 and k.sequence % 2 = 1 offset 0))`;
}
