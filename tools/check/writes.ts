import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import { isCallExpression, isPropertyAccessExpression } from 'typescript/unstable/ast/is';
import type { Checker, LiteralType, Type, TypeReference, UnionOrIntersectionType } from 'typescript/unstable/sync';
import { API, TypeFlags } from 'typescript/unstable/sync';
import { ROOT } from './tool.ts';

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
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProject(`${ROOT}tsconfig.json`);
    if (project === undefined) throw new Error('tsconfig.json is not there');
    const { checker, program } = project;
    return program.getSourceFileNames().flatMap((name) => {
      const path = name.startsWith(ROOT) ? name.slice(ROOT.length) : '';
      const file = files.test(path) ? program.getSourceFile(name) : undefined;
      if (file === undefined) return [];
      return writesOf(file).flatMap((call) => {
        const strays = straysOf(checker, call);
        return strays.length === 0
          ? []
          : [`${path}:${file.text.slice(0, call.end).split('\n').length}: no column ${strays.join(', ')}`];
      });
    });
  } finally {
    api.close();
  }
}

function writesOf(file: SourceFile): CallExpression[] {
  const found: CallExpression[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression) && METHODS.has(node.expression.name.text))
      found.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  return found;
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
