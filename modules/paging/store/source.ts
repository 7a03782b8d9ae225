/**
 * Lists for analysts: one statement a page by keyset, one to count, and one for a whole batch of keys. A source says what a list is
 * made of; every statement begins with the tenant, so nothing of another site is ever in reach.
 */
import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import type { Shown } from '../../../db/shown.ts';
import type { Span } from '../../kernel/time/window.ts';

/** How a list may be ordered: a column that is never null, its type, and which way. */
export interface Ordering {
  readonly column: string;
  readonly type: 'timestamptz' | 'bigint' | 'text';
  readonly direction: 'asc' | 'desc';
}

/** A column that rows are found by. */
interface Key {
  readonly column: string;
  readonly type: 'uuid' | 'text';
  /**
   * Of rows that are kept by day: the column of their time, and the table that knows it by the same key. Only days that are asked for are
   * planned for; a year of them takes a second to plan.
   */
  readonly time?: { readonly column: string; readonly knownBy: string; readonly key: string };
}

/** Where a list is read from. `Filter` says which rows; a row comes back as `Row`. */
export interface Source<Row, Filter> {
  readonly columns: Shown<Row>;
  readonly from: string;
  /** The tenant's column. */
  readonly tenant: string;
  /** Tells rows of one sort value apart. */
  readonly id: { readonly column: string; readonly type: 'uuid' | 'text' };
  readonly orderings: Readonly<Record<string, Ordering>>;
  /** Columns whole batches may be asked for by. */
  readonly keys: Readonly<Record<string, Key>>;
  /** Conditions besides the tenant's. */
  readonly where: (binder: Binder, filter: Filter) => readonly string[];
  /** How many rows a filter has, from the rollups and exact, where they know all that it asks for; null where only rows tell. */
  readonly tally?: (sql: Sql, tenantId: string, filter: Filter) => Promise<number> | null;
}

/** Where a page begins: after the row with this sort value and id. */
export interface Position {
  readonly value: string;
  readonly id: string;
}

/** A row with its place in the list. */
export interface Placed<Row> {
  readonly row: Row;
  readonly position: Position;
}

/** What of a list a page shows. */
interface PageOf {
  readonly ordering: Ordering;
  readonly after: Position | null;
  readonly limit: number;
}

/** Rows of a list in an order, after a position, at most `limit`. */
export async function listFrom<Row, Filter>(
  sql: Sql,
  source: Source<Row, Filter>,
  { tenantId, filter }: { readonly tenantId: string; readonly filter: Filter },
  page: PageOf,
): Promise<Placed<Row>[]> {
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const conditions = [`${source.tenant} = ${tenant}`, ...source.where(binder, filter), ...isAfter(binder, source, page)];
  const order = orderOf(source, page.ordering);
  const rows = await sql.query<Beside & Row>(
    `select ${source.columns.text}, ${placeOf(source, page.ordering)} from ${source.from}
      where ${conditions.join(' and ')} order by ${order} limit ${binder.bind(page.limit)}`,
    binder.values,
  );
  return rows.map(placed);
}

function isAfter<Row, Filter>(binder: Binder, { id }: Source<Row, Filter>, { ordering, after }: PageOf): string[] {
  if (after === null) return [];
  const { column, type, direction } = ordering;
  const than = direction === 'asc' ? '>' : '<';
  const value = `${binder.bind(after.value)}::${type}`;
  // The first condition follows from the second; it is the one an index of the column alone can be asked with.
  return [`${column} ${than}= ${value}`, `(${column}, ${id.column}) ${than} (${value}, ${binder.bind(after.id)}::${id.type})`];
}

function orderOf<Row, Filter>({ id }: Source<Row, Filter>, { column, direction }: Ordering): string {
  return `${column} ${direction}, ${id.column} ${direction}`;
}

function placeOf<Row, Filter>({ id }: Source<Row, Filter>, { column }: Ordering): string {
  return `(${column})::text as sort_value, (${id.column})::text as sort_id`;
}

/** A row with what statements of lists say beside it: its place, the key it was asked for by. */
interface Beside {
  readonly sort_value: string;
  readonly sort_id: string;
  readonly batch_key: string;
  readonly batch_place: string;
}

function rowOf<Row>({ sort_value: _value, sort_id: _id, batch_key: _key, batch_place: _place, ...row }: Beside & Row): Row {
  return row as Row;
}

function placed<Row>(row: Beside & Row): Placed<Row> {
  return { row: rowOf<Row>(row), position: { value: row.sort_value, id: row.sort_id } };
}

/** How many rows a list has: from the rollups where the source can, else row by row. */
export async function countFrom<Row, Filter>(
  sql: Sql,
  source: Source<Row, Filter>,
  tenantId: string,
  filter: Filter,
): Promise<number> {
  const tallied = source.tally?.(sql, tenantId, filter) ?? null;
  if (tallied !== null) return await tallied;
  const binder = new Binder();
  const tenant = binder.bind(tenantId);
  const conditions = [`${source.tenant} = ${tenant}`, ...source.where(binder, filter)];
  const [row] = await sql.query<{ count: string }>(
    `select count(*) from ${source.from} where ${conditions.join(' and ')}`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

/** The times that rows of the keys have. */
async function timesOf(sql: Sql, { time, type }: Key, tenantId: string, values: readonly string[]): Promise<readonly Date[]> {
  if (!time) return [];
  const rows = await sql.query<{ time: Date }>(
    `select distinct at as time from ${time.knownBy} where tenant_id = $1 and ${time.key} = any($2::${type}[])`,
    [tenantId, values],
  );
  return rows.map(({ time: at }) => at);
}

/** All rows with one of the keys, by key, in the order of their ids; at most `each` of a key. */
export async function listByKeys<Row, Filter>(
  sql: Sql,
  source: Source<Row, Filter>,
  tenantId: string,
  { key, values, each }: { readonly key: string; readonly values: readonly string[]; readonly each: number },
): Promise<Map<string, Row[]>> {
  const by = keyOf(source, key);
  const times = by.time && (await timesOf(sql, by, tenantId, values));
  if (times?.length === 0) return new Map();
  const rows = await sql.query<Beside & Row>(
    `select * from (
       select ${source.columns.text}, (${by.column})::text as batch_key,
         row_number() over (partition by ${by.column} order by ${source.id.column}) as batch_place
       from ${source.from} where ${source.tenant} = $1 and ${by.column} = any($2::${by.type}[])
         ${by.time ? `and ${by.time.column} = any($4::timestamptz[])` : ''}
     ) found where batch_place <= $3 order by batch_key, batch_place`,
    [tenantId, values, each, ...(times ? [times] : [])],
  );
  const groups = Map.groupBy(rows, ({ batch_key: value }) => value);
  return new Map([...groups].map(([value, members]) => [value, members.map(rowOf<Row>)]));
}

/** A page of the rows of each key, by key, all in one statement: see `listFrom`. */
export async function listPagesByKeys<Row, Filter>(
  sql: Sql,
  source: Source<Row, Filter>,
  { tenantId, key, values, filter }: RowsOfKeys<Filter>,
  page: PageOf,
): Promise<Map<string, Placed<Row>[]>> {
  const by = keyOf(source, key);
  const binder = new Binder();
  const order = orderOf(source, page.ordering);
  const wanted = `unnest(${binder.bind([...values])}::${by.type}[]) as wanted (value)`;
  const tenant = binder.bind(tenantId);
  const conditions = [
    `${source.tenant} = ${tenant}`,
    `${by.column} = wanted.value`,
    ...source.where(binder, filter),
    ...isAfter(binder, source, page),
  ];
  const rows = await sql.query<Beside & Row>(
    `select wanted.value::text as batch_key, found.* from ${wanted} cross join lateral (
       select ${source.columns.text}, ${placeOf(source, page.ordering)}, row_number() over (order by ${order}) as batch_place
       from ${source.from} where ${conditions.join(' and ')} order by ${order} limit ${binder.bind(page.limit)}
     ) found order by batch_key, batch_place`,
    binder.values,
  );
  const groups = Map.groupBy(rows, ({ batch_key: value }) => value);
  return new Map([...groups].map(([value, members]) => [value, members.map(placed<Row>)]));
}

/** Rows of a site that hang on keys of one kind. */
export interface RowsOfKeys<Filter> {
  readonly tenantId: string;
  readonly key: string;
  readonly values: readonly string[];
  readonly filter: Filter;
}

function keyOf<Row, Filter>(source: Source<Row, Filter>, key: string): Source<Row, Filter>['keys'][string] {
  const by = source.keys[key];
  if (!by) throw new Error(`this list has no key ${key}`);
  return by;
}

/** `column = value`, where a value is given. */
export function equals(binder: Binder, column: string, value: unknown): string[] {
  return value === undefined || value === null ? [] : [`${column} = ${binder.bind(value)}`];
}

/** `column` is one of the values, where any are given. */
export function isOneOf(binder: Binder, column: string, values: readonly string[] | null | undefined): string[] {
  return values === undefined || values === null ? [] : [`${column} = any(${binder.bind([...values])}::text[])`];
}

/** `column` is within two amounts, both included. */
export function isBetween(
  binder: Binder,
  column: string,
  least: bigint | null | undefined,
  most: bigint | null | undefined,
): string[] {
  return [
    ...(least === undefined || least === null ? [] : [`${column} >= ${binder.bind(least)}::bigint`]),
    ...(most === undefined || most === null ? [] : [`${column} <= ${binder.bind(most)}::bigint`]),
  ];
}

/** `column` is in a span of time; none: any time. */
export function isWithin(binder: Binder, column: string, span: Span | undefined): string[] {
  if (span === undefined) return [];
  const from = `${column} >= ${binder.bind(new Date(span.fromMs))}::timestamptz`;
  return span.toMs === null ? [from] : [from, `${column} < ${binder.bind(new Date(span.toMs))}::timestamptz`];
}

/** Epoch milliseconds of a column of time. */
export function timeOf(value: Date): number {
  return value.getTime();
}

/** The same where there may be none. */
export function timeOrNull(value: Date | null): number | null {
  return value === null ? null : value.getTime();
}
