import type {
  Compilable,
  KyselyPlugin,
  OperationNode,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RawBuilder,
  RootOperationNode,
  UnknownRow,
} from 'kysely';
import {
  AliasNode,
  ColumnNode,
  DummyDriver,
  IdentifierNode,
  Kysely,
  OperationNodeTransformer,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  ReferenceNode,
  sql as rawSql,
  SelectionNode,
} from 'kysely';
import type { Sql } from './database.ts';
import { requireSite } from './siteGuard.ts';
import type { Tables } from './tables.ts';

const columns = new Map<string, string>();

/** `dueAt` → `due_at`. A name that holds digits is spelt by its entity (`x402Version`). */
export function columnOf(property: string): string {
  let column = columns.get(property);
  if (column === undefined) {
    column = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns.set(property, column);
  }
  return column;
}

/**
 * Writes properties as columns, and lets Postgres name what a statement gives back by its properties: no row is mapped in JavaScript. All of it
 * happens when a statement is written.
 */
class Properties extends OperationNodeTransformer implements KyselyPlugin {
  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    const written = this.transformNode(node, queryId);
    if (node.kind === 'SelectQueryNode' && written.kind === 'SelectQueryNode' && node.selections && written.selections) {
      return { ...written, selections: named(node.selections, written.selections) };
    }
    if ('returning' in node && node.returning && 'returning' in written && written.returning) {
      const selections = named(node.returning.selections, written.returning.selections);
      return { ...written, returning: { ...written.returning, selections } };
    }
    return written;
  }

  transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return Promise.resolve(result);
  }

  protected override transformIdentifier(node: IdentifierNode): IdentifierNode {
    return IdentifierNode.create(columnOf(node.name));
  }
}

function named(before: readonly SelectionNode[], after: readonly SelectionNode[]): readonly SelectionNode[] {
  return after.map((selection, at) => {
    const property = propertyOf(before[at]?.selection);
    if (property === null || columnOf(property) === property) return selection;
    const inner = AliasNode.is(selection.selection) ? selection.selection.node : selection.selection;
    return SelectionNode.create(AliasNode.create(inner, IdentifierNode.create(property)));
  });
}

function propertyOf(node: OperationNode | undefined): string | null {
  if (node === undefined) return null;
  if (AliasNode.is(node)) return IdentifierNode.is(node.alias) ? node.alias.name : null;
  if (ReferenceNode.is(node)) return propertyOf(node.column);
  return ColumnNode.is(node) ? node.column.name : null;
}

/** Refuses to write a statement on rows of a site that does not say which site. */
class SiteGuard implements KyselyPlugin {
  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    requireSite(node);
    return node;
  }

  transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return Promise.resolve(result);
  }
}

const written = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Writes statements over the entities; sends none. A table whose key holds the site is read and changed by its site alone. */
export const tables = written.withPlugin(new SiteGuard()).withPlugin(new Properties());

const unbound = written.withPlugin(new Properties());

/** Who is answered with rows of more than one site. */
type Across = 'an owner of sites' | 'an account' | 'the operator' | 'a worker' | 'the public';

/** The same for rows of every site: `reader` says who is answered with them, in whose right the statement is bound by something else. */
export function acrossSites(_reader: Across): Kysely<Tables> {
  return unbound;
}

/** A place of a statement for a value that each call gives. */
class Place {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

/**
 * A statement that is written once, at its first call, and sent with the values of each call: the way of hot paths. `name` has Postgres prepare it
 * once a connection; not for one whose plan hangs on its values. `statement<Values>()((p) => tables.…, name)`: `p('tenantId')` is the place of a value.
 */
export function statement<Values extends object>() {
  return <Row>(
    write: (place: <Key extends keyof Values & string>(key: Key) => Values[Key]) => Compilable<Row>,
    name?: string,
  ) => {
    let text = '';
    let order: readonly unknown[] | null = null;
    return (sql: Sql, values: Values): Promise<Row[]> => {
      if (order === null) ({ sql: text, parameters: order } = write((key) => new Place(key) as never).compile());
      const given = order.map((one) => (one instanceof Place ? values[one.key as keyof Values] : one));
      return sql.query(text, given, name) as unknown as Promise<Row[]>;
    };
  };
}

/** Any of a list, as one value: `where('slug', '=', anyOf(slugs))` has one text however long the list is. */
export function anyOf<T>(values: readonly T[]): RawBuilder<T> {
  return rawSql<T>`any(${values})`;
}

/** A value for a column of JSON: the driver makes an array of Postgres of a JavaScript array. */
export function json<T>(value: T): RawBuilder<T> {
  return rawSql<T>`${JSON.stringify(value)}::jsonb`;
}

/** Sends a statement that is written at each call, by what is asked for; some 50 µs of CPU: for what a person or an analyst asks. */
export function run<Row>(sql: Sql, written: Compilable<Row>): Promise<Row[]> {
  const { sql: text, parameters } = written.compile();
  return sql.query(text, parameters) as unknown as Promise<Row[]>;
}
