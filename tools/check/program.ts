import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import { isCallExpression, isPropertyAccessExpression } from 'typescript/unstable/ast/is';
import type { Checker } from 'typescript/unstable/sync';
import { API } from 'typescript/unstable/sync';
import { ROOT } from './tool.ts';

/** What `look` finds in each source whose path matches, in their order, as the compiler understands it. Throws when tsconfig.json is not there. */
export function lookInto<T>(files: RegExp, look: (checker: Checker, file: SourceFile, path: string) => readonly T[]): T[] {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProject(`${ROOT}tsconfig.json`);
    if (project === undefined) throw new Error('tsconfig.json is not there');
    const { checker, program } = project;
    return program.getSourceFileNames().flatMap((name) => {
      const path = name.startsWith(ROOT) ? name.slice(ROOT.length) : '';
      const file = files.test(path) ? program.getSourceFile(name) : undefined;
      return file === undefined ? [] : look(checker, file, path);
    });
  } finally {
    api.close();
  }
}

/** The calls of methods by their names, `….query(…)`, in the order of the source. */
export function callsOfMethods(file: SourceFile, methods: ReadonlySet<string>): CallExpression[] {
  const found: CallExpression[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression) && methods.has(node.expression.name.text))
      found.push(node);
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

/** Where a call stands: `modules/hosts/store/hosts.ts:12`. */
export function placeOf(file: SourceFile, path: string, call: CallExpression): string {
  return `${path}:${file.text.slice(0, call.end).split('\n').length}`;
}
