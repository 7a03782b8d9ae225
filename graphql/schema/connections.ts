import type { ObjectRef } from '@pothos/core';
import { z } from 'zod';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { ListPage, PageRequest } from '../../modules/paging/use/pages.ts';
import { COUNT_COST, DEFAULT_PAGE, LIST_COST, PAGE_LIMIT } from '../limits/limits.ts';
import { advising } from '../request/errors.ts';
import type { Types } from './builder.ts';
import { builder } from './builder.ts';

type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** What a connection resolves from. */
export interface Connected<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly count: () => Promise<number>;
}

/** What to ask for instead of something that reads every row of its window. */
const COUNT_ADVICE = 'to count these rows takes too long: give a shorter window, or leave totalCount out';
const ORDER_ADVICE =
  'to order by amount takes too long: every row of the window is looked at, so give a shorter one or more filters';
const LIST_ADVICE = 'to find these rows takes too long: give a shorter window, or filters that more rows fit';

const PageInfo = builder.objectRef<Connected<unknown>['pageInfo']>('PageInfo').implement({
  description: 'Where a page stands in its list (Relay, Cursor Connections).',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', {
      description: 'True when there is more after this page; of one asked for with `before`, always.',
    }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'True when there is more before this page; of one asked for with `after`, always.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'Cursor of the first row of the page: give it as `before` for the page before.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the last row of the page: give it as `after` for the next page.',
    }),
  }),
});

/** The connection type of a node type (Relay, Cursor Connections): rows as `nodes`, or as `edges` with a cursor each. */
export function connectionOf<Row>(node: ObjectRef<SchemaTypes, Row>, name: string, what: string) {
  const edge = builder.objectRef<{ readonly cursor: string; readonly node: Row }>(`${name}Edge`).implement({
    description: `One of ${what}, with its cursor.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: 'Its place in the list: give it as `after`.' }),
      node: t.field({ type: node, description: 'The row.', resolve: (row) => row.node as never }),
    }),
  });
  return builder.objectRef<Connected<Row>>(`${name}Connection`).implement({
    description: `A page of ${what}.`,
    fields: (t) => ({
      nodes: t.field({
        type: [node],
        description: 'The rows.',
        resolve: ({ edges }) => edges.map((row) => row.node) as never,
      }),
      edges: t.field({ type: [edge], description: 'The rows with their cursors.', resolve: ({ edges }) => edges }),
      pageInfo: t.field({ type: PageInfo, description: 'Where the page stands.', resolve: ({ pageInfo }) => pageInfo }),
      totalCount: t.int({
        nullable: true,
        description:
          'How many rows the whole list has, exactly; counted only when asked for. Null with an error: it takes too long.',
        complexity: COUNT_COST,
        resolve: ({ count }) => advising(COUNT_ADVICE, count),
      }),
    }),
  });
}

/** Arguments of every list. */
export const pageArgs = builder.args((t) => ({
  first: t.int({
    description: `Rows of the page, ${DEFAULT_PAGE} unless said, ${PAGE_LIMIT} at most; each row costs as much as is asked of it.`,
    validate: z.int().min(1, 'must be at least 1').max(PAGE_LIMIT, `must be at most ${PAGE_LIMIT}`).nullish(),
  }),
  after: t.string({
    description: 'The `endCursor` of the page before.',
    validate: z.string().max(2_000, 'is no cursor of this list').nullish(),
  }),
  last: t.int({
    description: `In place of \`first\`: so many rows of the end of the list, or before \`before\`; ${PAGE_LIMIT} at most.`,
    validate: z.int().min(1, 'must be at least 1').max(PAGE_LIMIT, `must be at most ${PAGE_LIMIT}`).nullish(),
  }),
  before: t.string({
    description: 'In place of `after`: the `startCursor` of the page that follows.',
    validate: z.string().max(2_000, 'is no cursor of this list').nullish(),
  }),
}));

/** A page as arguments have it. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** What a page costs: its rows, and a little for itself. A length that is out of bounds is refused where the page is read. */
export function listCost({ first, last }: PageArgs) {
  const rows = Math.max(first ?? 0, last ?? 0) || DEFAULT_PAGE;
  return { field: LIST_COST, multiplier: Math.min(Math.max(rows, 1), PAGE_LIMIT) };
}

/** A page as its arguments ask for it. Throws invalid_parameter where it would be read both ways. */
export function pageRequest({ first, after, last, before }: PageArgs, orderBy: string): PageRequest {
  const isBackward = isGiven(last) || isGiven(before);
  if (isBackward && (isGiven(first) || isGiven(after))) {
    const parameter = isGiven(last) ? 'last' : 'before';
    throw new ServiceError('invalid_parameter', `${parameter}: give first and after, or last and before`, { parameter });
  }
  if (isBackward) return { first: last ?? DEFAULT_PAGE, after: before ?? null, orderBy, isBackward };
  return { first: first ?? DEFAULT_PAGE, after: after ?? null, orderBy };
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** Reads a page whose filter and order may need many rows to be looked at; says what to narrow when that takes too long. */
export async function findPage<Row>(request: PageRequest, read: (request: PageRequest) => Promise<ListPage<Row>>) {
  const isByAmount = request.orderBy === 'LARGEST' || request.orderBy === 'SMALLEST';
  return connect(await advising(isByAmount ? ORDER_ADVICE : LIST_ADVICE, () => read(request)));
}

/** A page of rows as a connection. */
export function connect<Row>(page: ListPage<Row>): Connected<Row> {
  return {
    edges: page.rows.map(({ row, cursor }) => ({ node: row, cursor })),
    pageInfo: {
      hasNextPage: page.hasNext,
      hasPreviousPage: page.hasPrevious,
      startCursor: page.rows[0]?.cursor ?? null,
      endCursor: page.rows.at(-1)?.cursor ?? null,
    },
    count: () => page.count(),
  };
}
