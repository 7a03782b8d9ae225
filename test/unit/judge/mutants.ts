import { stripTypeScriptTypes } from 'node:module';
// biome-ignore lint/suspicious/noDeprecatedImports: its successor is not there yet
import { parseAst } from 'vitest/node';

/** One small change of a module's text. */
export interface CodeMutant {
  /** `line: what was there → what is there now`; names the mutant. */
  readonly name: string;
  readonly line: number;
  readonly source: string;
}

/** A node of the syntax tree, as ESTree has it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A replaced piece of the text, and what is said of it where the texts alone say too little. */
type Edit = readonly [start: number, end: number, text: string, said?: string];

/** What each operator is mistaken for: its opposite, and one off. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
};

/**
 * Every small change of a module's code that somebody could make: each condition negated or halved, each comparison turned or one
 * off, each rule of a list dropped, each statement and each return dropped, each literal changed, each property left out, each `?.`
 * made `.`. Types are taken out first; positions and lines stay. Pure: the same text gives the same list.
 */
export function mutantsOf(source: string): readonly CodeMutant[] {
  const code = stripTypeScriptTypes(source);
  const edits: Edit[] = [];
  visit(parseAst(code) as unknown as Node, (node) => edits.push(...editsOf(node, code)));
  const lines = code.split('\n');
  const seen = new Map<string, CodeMutant>();
  for (const [start, end, text, said] of edits) {
    const line = code.slice(0, start).split('\n').length;
    const mutated = code.slice(0, start) + text + code.slice(end);
    if (mutated === code || seen.has(mutated)) continue;
    const what = `${short(lines[line - 1] ?? '')}: ${said ?? `${short(code.slice(start, end))} → ${short(text)}`}`;
    const same = [...seen.values()].filter(({ name }) => name.startsWith(what)).length;
    seen.set(mutated, { name: same === 0 ? what : `${what} (${same + 1})`, line, source: mutated });
  }
  return [...seen.values()];
}

/** Lines on which a statement or the body of a rule starts. */
export function codeLines(source: string): readonly number[] {
  const code = stripTypeScriptTypes(source);
  const found = new Set<number>();
  visit(parseAst(code) as unknown as Node, (node) => {
    const isStatement = /Statement$|^VariableDeclaration$/.test(node.type) && node.type !== 'BlockStatement';
    if (isStatement || (node.type === 'ArrowFunctionExpression' && node['expression'] === true)) {
      found.add(code.slice(0, node.start).split('\n').length);
    }
  });
  return [...found].sort((a, b) => a - b);
}

function short(part: string): string {
  return part.replaceAll(/\s+/g, ' ').trim().slice(0, 70) || 'nothing';
}

function visit(node: Node, enter: (node: Node) => void): void {
  enter(node);
  if (node.type === 'ImportDeclaration') return;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === 'object' && 'type' in child) visit(child as Node, enter);
    }
  }
}

function editsOf(node: Node, code: string): readonly Edit[] {
  const part = (key: string): Node => node[key] as Node;
  const text = (one: Node): string => code.slice(one.start, one.end);
  const whole = (replacement: string): Edit => [node.start, node.end, replacement];
  switch (node.type) {
    case 'IfStatement':
      return [whole(';'), negated(part('test'), text)];
    case 'ConditionalExpression':
      return [negated(part('test'), text), whole(`(${text(part('consequent'))})`), whole(`(${text(part('alternate'))})`)];
    case 'LogicalExpression':
      return [whole(`(${text(part('left'))})`), whole(`(${text(part('right'))})`)];
    case 'BinaryExpression': {
      const { start } = part('right');
      const from = code.indexOf(node['operator'] as string, part('left').end);
      return (OPERATORS[node['operator'] as string] ?? []).map((other): Edit => [from, start, `${other} `]);
    }
    case 'UnaryExpression':
      return [whole(text(part('argument')))];
    case 'BlockStatement':
      return (node['body'] as readonly Node[])
        .filter(({ type }) => type === 'VariableDeclaration')
        .map(({ start, end }): Edit => [start, end, ';']);
    case 'ReturnStatement':
    case 'ExpressionStatement':
    case 'ForOfStatement':
      return [whole(';'), ...(node['argument'] ? [whole('return null;')] : [])];
    case 'MemberExpression':
      return node['optional'] === true ? [[part('object').end, part('object').end + 2, '.']] : [];
    case 'ArrayExpression':
      return withoutEach(node, 'elements', text, ['[', ']']);
    case 'ObjectExpression':
      return withoutEach(node, 'properties', text, ['{ ', ' }']);
    case 'ArrowFunctionExpression':
      return node['expression'] === true && part('body').type !== 'ObjectExpression'
        ? [[part('body').start, part('body').end, '(null)']]
        : [];
    case 'Literal':
      return literalEdits(node, whole);
    case 'TemplateLiteral':
      return [whole("'another'")];
    default:
      return [];
  }
}

function negated(test: Node, text: (one: Node) => string): Edit {
  return [test.start, test.end, `!(${text(test)})`];
}

function literalEdits(node: Node, whole: (replacement: string) => Edit): readonly Edit[] {
  const { value } = node;
  if (typeof value === 'string') return [whole(JSON.stringify(value === '' ? 'another' : `${value}~`))];
  if (typeof value === 'boolean') return [whole(String(!value))];
  if (typeof value === 'number') return [whole(String(value + 1))];
  if (typeof value === 'bigint') return [whole(`${value + 1n}n`)];
  return [];
}

/** A list or an object without each of its parts, and a list with each two neighbours the other way round. */
function withoutEach(node: Node, key: string, text: (one: Node) => string, [open, close]: readonly [string, string]): Edit[] {
  const parts = (node[key] as readonly Node[]).map(text);
  const put = (some: readonly string[], said: string): Edit => [node.start, node.end, `${open}${some.join(', ')}${close}`, said];
  const dropped = parts.map((part, gone) => put(parts.toSpliced(gone, 1), `without ${short(part)}`));
  if (key === 'properties') return dropped;
  const swapped = parts.slice(1).map((part, at) => {
    const before = parts[at] as string;
    return put(parts.toSpliced(at, 2, part, before), `${short(part)} before ${short(before)}`);
  });
  return [...dropped, ...swapped];
}
