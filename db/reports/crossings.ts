import type { SignedSpan, Span } from '../../domain/window.ts';
import { piecesOf } from '../../domain/window.ts';
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
 * A relation (host, kind, key, events, micro) that adds up to the plain aggregate of a window: months and days from the rollups, for
 * the site's total hours too, the edges from the rows. Amounts are micro-USDC, corrections count -1. A group may add up to nothing at all.
 *
 * Spans are rows of their own, each looked up in an index: the text is the same for every window, and Postgres can plan a named
 * statement once a connection; to plan it at each call takes longer than to read. Their lists stand in subqueries, so that Postgres
 * expects the same of every window and does not plan for each what it sees in it.
 */
export function crossingSource(binder: Binder, scope: CrossingScope, window: Span, dimension: CrossingDimension): string {
  const isTotal = dimension === 'total';
  const pieces = piecesOf(window, { smallest: isTotal ? 'hour' : 'day' });
  const filter = `${conditions(binder, scope)} and dimension = '${dimension}'`;
  const branch = (table: string, column: string, spans: readonly SignedSpan[]): string => {
    const list = (values: readonly unknown[], type: string): string => `(select ${binder.bind(values)}::${type}[])`;
    const since = list(
      spans.map(({ fromMs }) => new Date(fromMs)),
      'timestamptz',
    );
    const until = list(
      spans.map(({ toMs }) => (toMs === null ? 'infinity' : new Date(toMs))),
      'timestamptz',
    );
    const signs = list(
      spans.map(({ sign }) => sign),
      'int',
    );
    return `select host, kind, key, sign * events as events, sign * micro as micro
      from unnest(${since}, ${until}, ${signs}) as span (since, until, sign)
      cross join lateral (
        select host, kind, key, events, micro from ${table}
        where ${filter} and ${column} >= span.since and ${column} < span.until offset 0) part`;
  };
  return [
    branch('crossing_month', 'bucket', pieces.months),
    branch('crossing_day', 'bucket', pieces.days),
    ...(isTotal ? [branch('crossing_hour', 'bucket', pieces.hours)] : []),
    branch('crossing_part', 'at', pieces.edges),
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
  const [since, until] = endsOf(binder, span);
  return `${column} >= ${since} and ${column} < ${until}`;
}

/** The ends of a span; one without an end gets one, so that statements have one text for all spans. */
function endsOf(binder: Pick<Binder, 'bind'>, { fromMs, toMs }: Span): readonly [string, string] {
  const moment = (value: Date | string): string => `${binder.bind(value)}::timestamptz`;
  return [moment(new Date(fromMs)), moment(toMs === null ? 'infinity' : new Date(toMs))];
}

/**
 * True of a crossing `c` of one site, `tenant` being its parameter, that stands: no correction (those are negative, all others
 * positive, by the table's own check), and not corrected (its correction is the next in sequence). Said by amount, since Postgres
 * keeps statistics of that. Most sites have no correction at all, which is asked once a statement; for the others `offset 0` keeps
 * it one look into an index per row.
 */
export function standing(tenant: string): string {
  return `c.micro > 0 and (
      ${neverCorrected(tenant)}
      or not exists (
        select 1 from crossing k where k.tenant_id = ${tenant} and k.payment_id = c.payment_id
          and k.sequence = c.sequence + 1 and k.sequence % 2 = 1 offset 0))`;
}

/** True at a site without a correction, which is asked once a statement; `tenant` is the site's parameter. */
export function neverCorrected(tenant: string): string {
  return `not exists (select 1 from crossing f where f.tenant_id = ${tenant} and f.sequence % 2 = 1)`;
}
