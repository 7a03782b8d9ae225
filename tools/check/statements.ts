import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import type { CallExpression, Expression, Node, SourceFile } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isAwaitExpression,
  isBindingElement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import type { Checker, Type, TypeReference } from 'typescript/unstable/sync';
import { SymbolFlags, TypeFlags } from 'typescript/unstable/sync';
import { withMigrated } from './entities.ts';
import { callsOfMethods, lookInto, placeOf } from './program.ts';
import { ROOT } from './tool.ts';

/** Why a statement is SQL text, by what its text holds; the first that fits. The query builder says none of these well. */
const REASONS = [
  ['rows of lists', /\bunnest\s*\(/],
  ['records of JSON', /\bjsonb?_((to|populate)_record(set)?|array_elements)\s*\(/],
  ['writes in its own terms', /\bas (materialized )?\(\s*(insert|update|delete)\b/],
  ['fence of its plan', /\boffset 0\b|\bas materialized\b/],
  ['lateral', /\blateral\b/],
  ['recursive', /\brecursive\b/],
  ['skips locked rows', /\bskip locked\b/],
  ['advisory lock', /\bpg_(try_)?advisory_/],
  ['notice to listeners', /\bpg_notify\b/],
  ['shape of the database', /^\s*(create|alter|drop|set|lock|analyze)\b/],
  [
    'catalogue of the server',
    /\b(pg_class|pg_stat_a(rchiver|ctivity)|pg_replication_slots|pg_database_size|pg_inherits|pg_is_in_recovery|current_setting|schema_migration)\b/,
  ],
  ['one document of JSON', /\bjsonb?_(build_object|agg)\s*\(/],
] as const;

/** A statement that none of them fits is written over the entities (`db/statement.ts`) when its area is. */
const NO_REASON = 'none';
/** Why a text hangs on what a call asks, by where it is put together; the first that fits. The tests that send it are all that prepares it. */
const PUT_TOGETHER = [
  [
    'table as asked',
    /^(db\/partitions|modules\/(operations\/store\/(months|retention)|reports\/store\/rollupCheck|settlement\/store\/payment)\b)/,
  ],
  ['filters and order as asked', /^modules\/(paging|budgets|tenants|operations|reports\/store\/lists)\//],
  ['pieces of a window, each of its own rollup', /^modules\/reports\//],
  ['way to the payments of a buyer', /^modules\/settlement\/store\/(held|purchases)\b/],
  ['rows that are counted as they are written', /^modules\/rollups\//],
] as const;

/** How many statements of the product are SQL text, by reason. The numbers only fall; a new statement gives its reason in its commit. */
const TEXTS: Readonly<Record<string, number>> = {
  'rows of lists': 64,
  'records of JSON': 14,
  'writes in its own terms': 8,
  'fence of its plan': 8,
  lateral: 6,
  recursive: 1,
  'skips locked rows': 3,
  'advisory lock': 3,
  'notice to listeners': 4,
  'shape of the database': 4,
  'catalogue of the server': 12,
  'one document of JSON': 1,
  'table as asked': 15,
  'filters and order as asked': 12,
  'pieces of a window, each of its own rollup': 27,
  'way to the payments of a buyer': 3,
  'rows that are counted as they are written': 1,
};

/** How many statements are SQL text. */
export const STATEMENTS = Object.values(TEXTS).reduce((sum, count) => sum + count, 0);

/** Sources whose statements are looked at; `db/statement.ts` sends what the query builder wrote. */
const PRODUCT = /^(?!db\/statement\.ts)(db|modules|activities|api|graphql|platform|process|bin)\/.*\.ts$/;

/** What TypeScript says of a column of a row. */
export interface Said {
  readonly name: string;
  /** The kinds of JavaScript values that its type admits; none where it says nothing (`unknown`, `any`). */
  readonly kinds: readonly string[];
  /** The row does without it: `name?`. */
  readonly isOptional?: boolean;
  /** The row has it with a value always: its type admits neither null nor undefined. */
  readonly isRequired?: boolean;
}

/** A statement and the row it is read as. */
export interface Statement {
  /** `modules/hosts/store/hosts.ts:12`. */
  readonly place: string;
  readonly text: string;
  readonly row: readonly Said[];
}

/** The kind of value that the driver makes of each type of Postgres, by the type's number; JSON is of any shape. */
const KINDS: Readonly<Record<number, string>> = {
  16: 'boolean',
  17: 'object',
  18: 'string',
  19: 'string',
  20: 'string',
  21: 'number',
  23: 'number',
  25: 'string',
  26: 'number',
  701: 'number',
  1042: 'string',
  1043: 'string',
  1082: 'string',
  1184: 'object',
  1700: 'string',
  2950: 'string',
};
const JSON_TYPES = [114, 3802];

/** `npm run check`: null when every statement that is SQL text can be prepared, gives the columns that its row says, and is counted. */
export async function checkStatements(): Promise<string | null> {
  const { texts, putTogether } = await statementsOf(PRODUCT);
  const found = await withMigrated((url) => compareStatements(url, texts));
  const counts: Record<string, number> = {};
  for (const reason of [...texts.map(({ text }) => reasonOf(text)), ...putTogether.map(reasonOfPlace)])
    counts[reason] = (counts[reason] ?? 0) + 1;
  for (const reason of new Set([...Object.keys(TEXTS), ...Object.keys(counts)])) {
    const [pinned, now] = [TEXTS[reason] ?? 0, counts[reason] ?? 0];
    if (now > pinned)
      found.push(`${now - pinned} more of SQL text than before (reason: ${reason}, ${now}): write it over the entities`);
    if (now < pinned)
      found.push(`fewer are SQL text (reason: ${reason}): tools/check/statements.ts says ${pinned}, it is ${now}`);
  }
  return found.length === 0 ? null : found.join('\n');
}

/** Why a statement is SQL text. */
export function reasonOf(text: string): string {
  return REASONS.find(([, pattern]) => pattern.test(text))?.[0] ?? NO_REASON;
}

/** Why a text is put together by a call at a place, such as `modules/paging/store/source.ts:79`. */
export function reasonOfPlace(place: string): string {
  return PUT_TOGETHER.find(([, pattern]) => pattern.test(place))?.[0] ?? NO_REASON;
}

/** One sentence for each statement that the database at `url` refuses, or answers with other columns than its row says. */
export async function compareStatements(url: string, statements: readonly Statement[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const found: string[] = [];
    const nullable = await nullableColumns(client);
    for (const { place, text, row } of statements) {
      const described = await describe(client, text);
      const problems =
        typeof described === 'string'
          ? [described]
          : [...differences(described, row), ...absences(described, row, (column) => nullable.get(column), text)];
      found.push(...problems.map((problem) => `${place}: ${problem}`));
    }
    return found;
  } finally {
    await client.end();
  }
}

interface Described {
  readonly name: string;
  readonly dataTypeID: number;
  /** The column that it is, unchanged, by the numbers of its table and itself; 0 for what is worked out. */
  readonly tableID: number;
  readonly columnID: number;
}

/** Columns of tables that may be null, by the numbers of Postgres: `table.column` each. Of a view's columns Postgres does not say it. */
async function nullableColumns(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; name: string }>(
    `select attrelid || ' ' || attnum as id, attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where relkind in ('r', 'p') and attnum > 0 and not attnotnull and not attisdropped`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Columns of tables that may be null, while the row says that they never are. A text that asks for those with a value, or that sets them, is left. */
function absences(
  described: readonly Described[],
  row: readonly Said[],
  nullable: (column: string) => string | undefined,
  text: string,
): string[] {
  if (/\bset\s/.test(text)) return [];
  const required = new Set(row.filter(({ isRequired }) => isRequired === true).map(({ name }) => name));
  return described.flatMap(({ name, tableID, columnID }) => {
    const column = nullable(`${tableID} ${columnID}`);
    if (column === undefined || !required.has(name) || new RegExp(`\\b${column} is not null\\b`).test(text)) return [];
    return [`${name} may be null in the database and never is in the row`];
  });
}

/** The columns of a statement's answer, which Postgres parses and does not run; what it has against it where it cannot. */
function describe(client: pg.Client, text: string): Promise<readonly Described[] | string> {
  return new Promise((resolve) => {
    let answer: readonly Described[] = [];
    client.query({
      submit: (connection: pg.Connection) => {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: ({ fields }: { fields: readonly Described[] }) => {
        answer = fields;
      },
      // The driver forgets a statement that failed: what comes after is none of its events.
      handleError: ({ message }: Error) => resolve(message),
      handleReadyForQuery: () => resolve(answer),
    } as unknown as pg.Submittable);
  });
}

function differences(described: readonly Described[], row: readonly Said[]): string[] {
  const answered = new Map(described.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const absent = row.filter(({ name, isOptional }) => isOptional !== true && !answered.has(name)).map(({ name }) => name);
  const others = row.flatMap(({ name, kinds }) => {
    const type = answered.get(name);
    if (type === undefined || JSON_TYPES.includes(type)) return [];
    const kind = KINDS[type] ?? 'object';
    return kinds.every((one) => one === kind) ? [] : [`${name} is ${kinds.join(' | ')} in the row and ${kind} in the answer`];
  });
  return absent.length === 0 ? others : [`the answer has no ${absent.join(', ')}`, ...others];
}

/** A call that sends SQL text, before its text is known: an expression of the file's own names, or null. */
interface Call {
  readonly place: string;
  readonly expression: string | null;
  readonly row: readonly Said[];
}

/** The statements of the files that match, with their texts as the files make them; the places of those that need what a call gives. */
export async function statementsOf(files: RegExp): Promise<{ readonly texts: Statement[]; readonly putTogether: string[] }> {
  const calls = callsOf(files);
  const hooks = registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.endsWith(ASKED)) return loaded;
      const list = calls.get(pathOf(url)) ?? [];
      const texts = list.map(({ expression }) => (expression === null ? 'null' : `() => (${expression})`));
      return { ...loaded, source: `${String(loaded.source)}\nexport const textsOfStatements = [${texts.join(',\n')}];` };
    },
  });
  const texts: Statement[] = [];
  const putTogether: string[] = [];
  for (const [path, list] of calls) {
    const { textsOfStatements } = (await import(pathToFileURL(ROOT + path).href + ASKED)) as {
      textsOfStatements: readonly ((() => string) | null)[];
    };
    for (const [at, { place, row }] of list.entries()) {
      const text = textsOfStatements[at]?.();
      if (text === undefined) putTogether.push(place);
      else texts.push({ place, text, row });
    }
  }
  hooks.deregister();
  return { texts, putTogether };
}

/** How a file is imported a second time, with its statements. */
const ASKED = '?statements';

function pathOf(url: string): string {
  return url.slice(pathToFileURL(ROOT).href.length, -ASKED.length);
}

/** Every `….query<Row>(text)` that answers rows, by file; what only hands on the arguments that it was given is none. */
function callsOf(files: RegExp): Map<string, Call[]> {
  const found = lookInto(files, (checker, file, path) =>
    callsOfMethods(file, new Set(['query'])).flatMap((call) => callOf(checker, file, path, call)),
  );
  return Map.groupBy(found, ({ place }) => place.slice(0, place.lastIndexOf(':')));
}

function callOf(checker: Checker, file: SourceFile, path: string, call: CallExpression): Call[] {
  const [argument] = call.arguments;
  const type = checker.getTypeAtLocation(call);
  const [rows] = type === undefined ? [] : typeArguments(checker, type);
  const [row] = rows === undefined || !checker.isArrayLikeType(rows) ? [] : typeArguments(checker, rows);
  if (argument === undefined || row === undefined || file.text.slice(argument.pos, argument.end).trim() === '...given') return [];
  const said = checker.getPropertiesOfType(row).map((column) => ({
    name: column.name,
    isOptional: (column.flags & SymbolFlags.Optional) !== 0,
    isRequired: isRequired(checker, checker.getTypeOfSymbol(column)),
    kinds: kindsOf(checker, checker.getTypeOfSymbol(column)),
  }));
  return [{ place: placeOf(file, path, call), expression: expressionOf(argument, file), row: said }];
}

function typeArguments(checker: Checker, type: Type): readonly Type[] {
  return (type.flags & TypeFlags.Object) === 0 ? [] : checker.getTypeArguments(type as TypeReference);
}

function kindsOf(checker: Checker, type: Type | undefined): string[] {
  if (type === undefined || type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return [];
  const value = checker.getNonNullableType(type) ?? type;
  if (value.flags & TypeFlags.Never) return [];
  const kinds = [
    ['string', checker.getStringType()],
    ['number', checker.getNumberType()],
    ['boolean', checker.getBooleanType()],
    ['bigint', checker.getBigIntType()],
  ] as const;
  const kindOf = (one: Type): string => kinds.find(([, kind]) => checker.isTypeAssignableTo(one, kind))?.[0] ?? 'object';
  return [kindOf(value)];
}

function isRequired(checker: Checker, type: Type | undefined): boolean {
  if (type === undefined || type.flags & (TypeFlags.Any | TypeFlags.Unknown)) return false;
  return ![checker.getNullType(), checker.getUndefinedType()].some((none) => checker.isTypeAssignableTo(none, type));
}

/** The names that a function and what is in it give, each with what it is made of where that is one expression. */
type Names = ReadonlyMap<string, Expression | null>;
const namesIn = new WeakMap<Node, Names>();

function namesOf(within: Node): Names {
  const known = namesIn.get(within);
  if (known !== undefined) return known;
  const names = new Map<string, Expression | null>();
  const visit = (node: Node): void => {
    if ((isParameterDeclaration(node) || isBindingElement(node)) && node.name && isIdentifier(node.name))
      names.set(node.name.text, null);
    if (isVariableDeclaration(node) && isIdentifier(node.name)) names.set(node.name.text, node.initializer ?? null);
    if (isFunctionDeclaration(node) && node !== within && node.name) names.set(node.name.text, null);
    node.forEachChild(visit);
  };
  visit(within);
  namesIn.set(within, names);
  return names;
}

const isFunction = (node: Node): boolean =>
  isFunctionDeclaration(node) || isArrowFunction(node) || isFunctionExpression(node) || isMethodDeclaration(node);

/** An expression in names of its file alone, those of its functions replaced by what they are; null where a call decides. */
function expressionOf(expression: Expression, file: SourceFile): string | null {
  let text = '';
  let at = expression.pos;
  const visit = (node: Node): boolean => {
    if (isAwaitExpression(node)) return false;
    if (isPropertyAccessExpression(node)) return visit(node.expression);
    if (isPropertyAssignment(node)) return visit(node.initializer);
    if (!isIdentifier(node)) return node.forEachChild((child) => (visit(child) ? undefined : true)) !== true;
    const value = givenBy(node.text, node, expression);
    if (value === undefined) return true;
    const inner = value === null ? null : expressionOf(value, file);
    text += `${file.text.slice(at, node.end - node.text.length)}(${inner})`;
    at = node.end;
    return inner !== null;
  };
  return visit(expression) ? text + file.text.slice(at, expression.end) : null;
}

/** What a name is made of where a function around `within` gives it; null where a call gives it, undefined for names of the file. */
function givenBy(name: string, node: Node, within: Node): Expression | null | undefined {
  for (let around: Node | undefined = node.parent; around !== undefined; around = around.parent) {
    if (!isFunction(around) || !namesOf(around).has(name)) continue;
    return around.pos >= within.pos && around.end <= within.end ? undefined : namesOf(around).get(name);
  }
  return undefined;
}
