import { ServiceError } from '../../kernel/errors.ts';
import type { Ordering, Placed, Position, RowsOfKeys, Source } from '../store/source.ts';
import { countFrom, listByKeys, listFrom, listPagesByKeys } from '../store/source.ts';
import type { ReadingDeps } from './deps.ts';

/** A page as asked for. */
export interface PageRequest {
  /** Rows of the page. */
  readonly first: number;
  /** The cursor of the row that the page follows, or, backwards, comes before; null: it stands at that end of the list. */
  readonly after: string | null;
  readonly orderBy: string;
  /** True: the rows before the cursor, or the last of the list; they come in the order of the list all the same. */
  readonly isBackward?: boolean;
}

/** A page of a list. Cursors stay valid while rows come and go. */
export interface ListPage<Row> {
  readonly rows: readonly { readonly row: Row; readonly cursor: string }[];
  readonly hasNext: boolean;
  /** True when the list has rows before the page, or, read forwards, when it follows a cursor. */
  readonly hasPrevious: boolean;
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
    const found = await listByKeys(reading, source, tenantId, { key, values, each: most });
    return values.map((value) => (found.get(value) ?? []).map((row) => ({ ...row, tenantId })));
  };
  const count = ({ reading }: Pick<ReadingDeps, 'reading'>, tenantId: string, filter: Filter): Promise<number> =>
    countFrom(reading, source, tenantId, filter);
  return {
    page: ({ reading }, tenantId, filter, request) =>
      readPage(request, {
        rows: async (after, limit) => {
          const asked = { ordering: orderingOf(source, request), after, limit };
          return (await listFrom(reading, source, { tenantId, filter }, asked)).map((row) => owned(row, tenantId));
        },
        count: () => count({ reading }, tenantId, filter),
      }),
    count,
    find: async ({ reading }, tenantId, filter) => {
      const [ordering] = Object.values(source.orderings);
      if (!ordering) throw new Error('this list has no order');
      const [found] = await listFrom(reading, source, { tenantId, filter }, { ordering, after: null, limit: 1 });
      return found ? { ...found.row, tenantId } : null;
    },
    groups,
    pages: async ({ reading }, of, request) => {
      const { tenantId, values, countOf } = of;
      const { first } = request;
      const position = startOf(request);
      const asked = { ordering: orderingOf(source, request), after: position, limit: first + 1 };
      const found = await ofCursor(request, () => listPagesByKeys(reading, source, of, asked));
      return values.map((value) => {
        const rows = (found.get(value) ?? []).map((row) => owned(row, tenantId));
        return cutPage(rows, request, async () => countOf(value));
      });
    },
    each: async (deps, tenantId, key, values) =>
      (await groups(deps, tenantId, key, { values, most: 1 })).map(([row]) => row ?? null),
  };
}

/** The order that a page is read in: backwards the other way. */
function orderingOf<Row, Filter>(
  source: Source<Row, Filter>,
  { orderBy, isBackward = false }: Pick<PageRequest, 'orderBy' | 'isBackward'>,
): Ordering {
  const ordering = source.orderings[orderBy];
  if (!ordering) throw new Error(`this list has no order ${orderBy}`);
  return isBackward ? { ...ordering, direction: ordering.direction === 'asc' ? 'desc' : 'asc' } : ordering;
}

function owned<Row>({ row, position }: Placed<Row>, tenantId: string): Placed<Owned<Row>> {
  return { row: { ...row, tenantId }, position };
}

async function readPage<Row>(
  request: PageRequest,
  list: {
    readonly rows: (position: Position | null, limit: number) => Promise<Placed<Row>[]>;
    readonly count: () => Promise<number>;
  },
): Promise<ListPage<Row>> {
  const position = startOf(request);
  return cutPage(await ofCursor(request, () => list.rows(position, request.first + 1)), request, list.count);
}

/** Where a page is read from; null: from its end of the list. Throws invalid_parameter for a cursor of another list or order. */
function startOf({ after, orderBy, isBackward }: PageRequest): Position | null {
  return after === null ? null : positionOf(after, orderBy, isBackward);
}

/** Reads from a cursor on; one of a form that Postgres cannot take is no cursor of the list. */
async function ofCursor<T>({ after, isBackward }: PageRequest, read: () => Promise<T>): Promise<T> {
  return await read().catch((error: unknown) => {
    if (after !== null && /^22/.test(String((error as { code?: unknown }).code))) throw badCursor(isBackward);
    throw error;
  });
}

/** The page of what was read, in the order of the list: one row more than it shows says that there is more that way. */
function cutPage<Row>(
  found: readonly Placed<Row>[],
  { first, after, orderBy, isBackward = false }: PageRequest,
  count: () => Promise<number>,
): ListPage<Row> {
  const read = found.slice(0, first).map(({ row, position }) => ({ row, cursor: cursorOf(orderBy, position) }));
  const isMore = found.length > first;
  if (isBackward) return { rows: read.reverse(), hasNext: after !== null, hasPrevious: isMore, count };
  return { rows: read, hasNext: isMore, hasPrevious: after !== null, count };
}

/**
 * A page of rows that are in memory, in their order. A cursor names its row by key; it is refused (invalid_parameter) when that row
 * has gone from the list.
 */
export function pageOf<Row>(
  all: readonly Row[],
  keyOf: (row: Row) => string,
  { first, after, orderBy, isBackward = false }: PageRequest,
): ListPage<Row> {
  const key = after === null ? null : positionOf(after, orderBy, isBackward).id;
  const at = key === null ? null : all.findIndex((row) => keyOf(row) === key);
  if (at === -1) throw badCursor(isBackward);
  const end = isBackward ? (at ?? all.length) : Math.min(all.length, (at ?? -1) + 1 + first);
  const start = isBackward ? Math.max(0, end - first) : (at ?? -1) + 1;
  const rows = all.slice(start, end).map((row) => ({ row, cursor: cursorOf(orderBy, { value: '', id: keyOf(row) }) }));
  return { rows, hasNext: end < all.length, hasPrevious: isBackward ? start > 0 : after !== null, count: async () => all.length };
}

/** The same page with something else in place of each row. */
export function mapPage<Row, Other>(page: ListPage<Row>, change: (row: Row) => Other): ListPage<Other> {
  return { ...page, rows: page.rows.map(({ row, cursor }) => ({ row: change(row), cursor })) };
}

function cursorOf(orderBy: string, { value, id }: Position): string {
  return Buffer.from(JSON.stringify([orderBy, value, id])).toString('base64url');
}

function positionOf(cursor: string, orderBy: string, isBackward = false): Position {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string'))
      throw badCursor(isBackward);
    const [order, value, id] = parts as [string, string, string];
    if (order !== orderBy) throw badCursor(isBackward);
    return { value, id };
  } catch {
    throw badCursor(isBackward);
  }
}

/** The time a cursor of a list in the order of time stands at, epoch milliseconds. Throws invalid_parameter for any other text. */
export function cursorTimeMs(cursor: string, orderBy: string, isBackward = false): number {
  const atMs = Date.parse(positionOf(cursor, orderBy, isBackward).value);
  if (Number.isNaN(atMs)) throw badCursor(isBackward);
  return atMs;
}

function badCursor(isBackward = false): ServiceError {
  const parameter = isBackward ? 'before' : 'after';
  return new ServiceError('invalid_parameter', `${parameter}: not a cursor of this list in this order`, { parameter });
}
