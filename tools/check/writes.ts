import type { CallExpression } from 'typescript/unstable/ast';
import { isPropertyAccessExpression } from 'typescript/unstable/ast/is';
import type { Checker, LiteralType, Type, TypeReference, UnionOrIntersectionType } from 'typescript/unstable/sync';
import { TypeFlags } from 'typescript/unstable/sync';
import { callsOfMethods, lookInto, placeOf } from './program.ts';

/** The query builder's writers, whose first type arguments are the ledger and the table, and the method of each that is given a row. */
const WRITERS: Readonly<Record<string, string>> = {
  UpdateQueryBuilder: 'set',
  InsertQueryBuilder: 'values',
  OnConflictBuilder: 'doUpdateSet',
};
const METHODS = new Set(Object.values(WRITERS));

/** Sources whose writes are looked at. */
const PRODUCT = /^(db|modules|activities|api|graphql|platform|process|bin|sandbox)\/.*\.ts$/;

/**
 * `npm run check`: null when each member of each row that the query builder writes is a column of its table. The compiler says so of literals alone: a row
 * that has a name, or is spread into another, keeps the name of a column that its entity lost.
 */
export function checkWrites(): string | null {
  const found = strayColumns(PRODUCT);
  return found.length === 0 ? null : found.join('\n');
}

/** A line for each write of the files that match which names what its table does not have. */
export function strayColumns(files: RegExp): string[] {
  return lookInto(files, (checker, file, path) =>
    callsOfMethods(file, METHODS).flatMap((call) => {
      const strays = straysOf(checker, call);
      return strays.length === 0 ? [] : [`${placeOf(file, path, call)}: no column ${strays.join(', ')}`];
    }),
  );
}

function straysOf(checker: Checker, call: CallExpression): string[] {
  const [argument] = call.arguments;
  if (argument === undefined || !isPropertyAccessExpression(call.expression)) return [];
  const writer = checker.getTypeAtLocation(call.expression.expression);
  const given = checker.getTypeAtLocation(argument);
  if (writer === undefined || given === undefined || WRITERS[writer.getSymbol()?.name ?? ''] !== call.expression.name.text)
    return [];
  const [ledger, table] = checker.getTypeArguments(writer as TypeReference);
  if (ledger === undefined || table === undefined) return [];
  const columns = columnsOf(checker, ledger, String((table as LiteralType).value));
  return [...new Set(rowsOf(checker, given).flatMap((row) => checker.getPropertiesOfType(row).map(({ name }) => name)))].filter(
    (name) => !columns.has(name),
  );
}

function columnsOf(checker: Checker, ledger: Type, table: string): ReadonlySet<string> {
  const symbol = checker.getPropertiesOfType(ledger).find(({ name }) => name === table);
  const row = symbol && checker.getTypeOfSymbol(symbol);
  return new Set(row === undefined ? [] : checker.getPropertiesOfType(row).map(({ name }) => name));
}

/** The rows that a value may be: each of a union, and those of a list. A function that makes one with the builder's help is left to the compiler. */
function rowsOf(checker: Checker, given: Type): readonly Type[] {
  if (given.flags & TypeFlags.Union) return (given as UnionOrIntersectionType).getTypes().flatMap((one) => rowsOf(checker, one));
  if (checker.isArrayLikeType(given))
    return checker.getTypeArguments(given as TypeReference).flatMap((one) => rowsOf(checker, one));
  return given.flags & TypeFlags.Object && given.getSymbol()?.name !== '__function' ? [given] : [];
}
