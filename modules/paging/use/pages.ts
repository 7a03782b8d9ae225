import { atDatabase } from '../../../db/outage.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Placed, Position, RowsOfKeys, Source } from '../store/source.ts';
import { countFrom, listByKeys, listFrom, listPagesByKeys } from '../store/source.ts';
import type { ReadingDeps } from './deps.ts';

/** A page as asked for; `after` is the cursor of the row before it. */
export interface PageRequest {
  readonly first: number;
  readonly after: string | null;
  readonly orderBy: string;
}

/** A page of a list. Cursors stay valid while rows come and go. */
export interface ListPage<Row> {
  readonly rows: readonly { readonly row: Row; readonly cursor: string }[];
  readonly hasNext: boolean;
  /** How many rows the whole list has; read when called. */
  count(): Promise<number>;
}

/** Keys that rows hang on, and how many rows of each are wanted at most. */
export interface KeysOf {
  readonly values: readonly string[];
  readonly most: number;
}

/** A row that says whose it is, so that what hangs on it is looked for there alone. */
export type Owned<Row> = Row & { readonly tenantId: string };

/** A list of a site: pages, single rows, and batches by key. All throw database_unavailable. */
export interface List<Row, Filter> {
  /** One page; throws invalid_parameter for a cursor of another list or order. */
  page(deps: ReadingDeps, tenantId: string, filter: Filter, page: PageRequest): Promise<ListPage<Owned<Row>>>;
  /** How many rows a filter has. */
  count(deps: ReadingDeps, tenantId: string, filter: Filter): Promise<number>;
  /** The first row of a filter; null when there is none. */
  find(deps: ReadingDeps, tenantId: string, filter: Filter): Promise<Owned<Row> | null>;
  /** The rows of each key, in the order of the keys; at most `most` of one. */
  groups(deps: ReadingDeps, tenantId: string, key: string, of: KeysOf): Promise<Owned<Row>[][]>;
  /** One page of each key's rows, in the order of the keys, in one statement; `countOf` knows their lengths. Throws as `page`. */
  pages(
    deps: ReadingDeps,
    of: RowsOfKeys<Filter> & { readonly countOf: (value: string) => number | Promise<number> },
    page: PageRequest,
  ): Promise<ListPage<Owned<Row>>[]>;
  /** The row of each key, or null, in the order of the keys. */
  each(deps: ReadingDeps, tenantId: string, key: string, values: readonly string[]): Promise<(Owned<Row> | null)[]>;
}

/** The list of a source. */
export function listOf<Row, Filter>(source: Source<Row, Filter>): List<Row, Filter> {
  const groups: List<Row, Filter>['groups'] = async ({ reading }, tenantId, key, { values, most }) => {
    const found = await atDatabase(() => listByKeys(reading, source, tenantId, { key, values, each: most }));
    return values.map((value) => (found.get(value) ?? []).map((row) => ({ ...row, tenantId })));
  };
  const count = ({ reading }: Pick<ReadingDeps, 'reading'>, tenantId: string, filter: Filter): Promise<number> =>
    atDatabase(() => countFrom(reading, source, tenantId, filter));
  return {
    page: ({ reading }, tenantId, filter, request) =>
      readPage(request, {
        rows: async (after, limit) => {
          const asked = { ordering: orderingOf(source, request.orderBy), after, limit };
          return (await listFrom(reading, source, { tenantId, filter }, asked)).map((row) => owned(row, tenantId));
        },
        count: () => count({ reading }, tenantId, filter),
      }),
    count,
    find: async ({ reading }, tenantId, filter) => {
      const [ordering] = Object.values(source.orderings);
      if (!ordering) throw new Error('this list has no order');
      const [found] = await atDatabase(() =>
        listFrom(reading, source, { tenantId, filter }, { ordering, after: null, limit: 1 }),
      );
      return found ? { ...found.row, tenantId } : null;
    },
    groups,
    pages: async ({ reading }, of, { first, after, orderBy }) => {
      const { tenantId, values, countOf } = of;
      const position = after === null ? null : positionOf(after, orderBy);
      const asked = { ordering: orderingOf(source, orderBy), after: position, limit: first + 1 };
      const found = await ofCursor(position, () => listPagesByKeys(reading, source, of, asked));
      return values.map((value) => {
        const rows = (found.get(value) ?? []).map((row) => owned(row, tenantId));
        return cutPage(rows, orderBy, first, async () => countOf(value));
      });
    },
    each: async (deps, tenantId, key, values) =>
      (await groups(deps, tenantId, key, { values, most: 1 })).map(([row]) => row ?? null),
  };
}

function orderingOf<Row, Filter>(source: Source<Row, Filter>, orderBy: string): Source<Row, Filter>['orderings'][string] {
  const ordering = source.orderings[orderBy];
  if (!ordering) throw new Error(`this list has no order ${orderBy}`);
  return ordering;
}

function owned<Row>({ row, position }: Placed<Row>, tenantId: string): Placed<Owned<Row>> {
  return { row: { ...row, tenantId }, position };
}

async function readPage<Row>(
  { first, after, orderBy }: PageRequest,
  list: {
    readonly rows: (position: Position | null, limit: number) => Promise<Placed<Row>[]>;
    readonly count: () => Promise<number>;
  },
): Promise<ListPage<Row>> {
  const position = after === null ? null : positionOf(after, orderBy);
  return cutPage(await ofCursor(position, () => list.rows(position, first + 1)), orderBy, first, list.count);
}

/** Reads from a position on; one of a form that Postgres cannot take is no cursor of the list. */
async function ofCursor<T>(position: Position | null, read: () => Promise<T>): Promise<T> {
  return await atDatabase(read).catch((error: unknown) => {
    if (position !== null && /^22/.test(String((error as { code?: unknown }).code))) throw badCursor();
    throw error;
  });
}

/** The page of what was read: one row more than it shows says that there is more. */
function cutPage<Row>(
  found: readonly Placed<Row>[],
  orderBy: string,
  first: number,
  count: () => Promise<number>,
): ListPage<Row> {
  const rows = found.slice(0, first).map(({ row, position }) => ({ row, cursor: cursorOf(orderBy, position) }));
  return { rows, hasNext: found.length > first, count };
}

/**
 * A page of rows that are in memory, in their order. A cursor names its row by key; it is refused (invalid_parameter) when that row
 * has gone from the list.
 */
export function pageOf<Row>(
  all: readonly Row[],
  keyOf: (row: Row) => string,
  { first, after, orderBy }: PageRequest,
): ListPage<Row> {
  const key = after === null ? null : positionOf(after, orderBy).id;
  const start = key === null ? 0 : all.findIndex((row) => keyOf(row) === key) + 1;
  if (key !== null && start === 0) throw badCursor();
  const rows = all.slice(start, start + first).map((row) => ({ row, cursor: cursorOf(orderBy, { value: '', id: keyOf(row) }) }));
  return { rows, hasNext: start + first < all.length, count: async () => all.length };
}

/** The same page with something else in place of each row. */
export function mapPage<Row, Other>(page: ListPage<Row>, change: (row: Row) => Other): ListPage<Other> {
  return { ...page, rows: page.rows.map(({ row, cursor }) => ({ row: change(row), cursor })) };
}

function cursorOf(orderBy: string, { value, id }: Position): string {
  return Buffer.from(JSON.stringify([orderBy, value, id])).toString('base64url');
}

function positionOf(cursor: string, orderBy: string): Position {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string')) throw badCursor();
    const [order, value, id] = parts as [string, string, string];
    if (order !== orderBy) throw badCursor();
    return { value, id };
  } catch {
    throw badCursor();
  }
}

/** The time a cursor of a list in the order of time stands at, epoch milliseconds. Throws invalid_parameter for any other text. */
export function cursorTimeMs(cursor: string, orderBy: string): number {
  const atMs = Date.parse(positionOf(cursor, orderBy).value);
  if (Number.isNaN(atMs)) throw badCursor();
  return atMs;
}

function badCursor(): ServiceError {
  return new ServiceError('invalid_parameter', 'after: not a cursor of this list in this order', { parameter: 'after' });
}
