/**
 * Modules of one folder as one file: a browser asks once, and text that compresses together is a third smaller. Each module becomes a
 * function that gives what it exports, run in the order of their imports. It knows the forms that `console/` is written in, which
 * Node prints anew before (`stripTypeScriptTypes`), and throws for any other; nothing is renamed and nothing left out.
 */
import { posix } from 'node:path';

/** A file, and the packages that it imports by name. */
export interface Packed {
  readonly text: string;
  readonly packages: readonly string[];
}

const IMPORT = /^\s*import\s+(?:([\w$]+)|\*\s+as\s+([\w$]+)|\{([^}]*)\})\s+from\s+(['"])([^'"]+)\4;/;
const EXPORT = /^export\s+(?:((?:async\s+)?function\s*\*?|const|class)\s+([\w$]+)|\{([^}]*)\};?)?/gm;

interface Module {
  /** What the code says it imports, as one `const`, by what it imports from. */
  readonly imports: readonly { readonly from: string; readonly taken: string; readonly names: readonly string[] }[];
  readonly body: string;
  /** Names inside by names outside. */
  readonly exports: ReadonlyMap<string, string>;
}

/**
 * Packs `first` and all that it imports, through any number of others; `read` gives the JavaScript of a module by its path, null when there is
 * none. Throws for a module that is not there, a cycle, a name that nothing exports, and an export of another form.
 */
export function packModules(first: string, read: (name: string) => string | null): Packed {
  const places = new Map<string, { readonly place: string; readonly exports: ReadonlyMap<string, string> | null } | null>();
  const packages = new Map<string, string>();
  const parts: string[] = [];
  const placeOf = (
    from: string,
    importer: string,
  ): { readonly place: string; readonly exports: ReadonlyMap<string, string> | null } => {
    if (from.startsWith('.')) return visit(posix.join(posix.dirname(importer), from), importer);
    const place = packages.get(from) ?? `$p${packages.size}`;
    packages.set(from, place);
    return { place, exports: null };
  };
  const visit = (name: string, importer: string) => {
    const known = places.get(name);
    if (known) return known;
    const source = known === null ? null : read(name);
    if (source === null)
      throw new Error(`console/${importer} imports ${name}, which is ${known === null ? 'in a circle' : 'not there'}`);
    places.set(name, null);
    const { imports, body, exports } = readModule(name, source);
    const taken = imports.map(({ from, taken: pattern, names }) => {
      const { place, exports: given } = placeOf(from, name);
      const missing = given && names.find((one) => !given.has(one));
      if (missing) throw new Error(`console/${name} imports ${missing}, which ${from} does not export`);
      return `const ${pattern.replace('$', () => place)};`;
    });
    const given = [...exports].map(([outside, inside]) => (outside === inside ? inside : `${outside}:${inside}`));
    const place = `$m${parts.length}`;
    parts.push(`const ${place}=(()=>{${taken.join('')}\n${body.trim()}\nreturn{${given.join(',')}}})();`);
    const made = { place, exports };
    places.set(name, made);
    return made;
  };
  visit(first, first);
  const heads = [...packages].map(([name, place]) => `import*as ${place} from${JSON.stringify(name)};`);
  return { text: `${[...heads, ...parts].join('\n')}\n`, packages: [...packages.keys()] };
}

function readModule(name: string, source: string): Module {
  const imports: Module['imports'][number][] = [];
  let rest = source;
  for (let found = IMPORT.exec(rest); found; found = IMPORT.exec(rest)) {
    const [whole, whole1, all, some = '', , from = ''] = found;
    const pairs = namesOf(some);
    const taken = `{${pairs.map(([outside, inside]) => (outside === inside ? inside : `${outside}:${inside}`)).join(',')}}=$`;
    if (whole1 !== undefined) imports.push({ from, taken: `${whole1}=$.default`, names: ['default'] });
    else if (all !== undefined) imports.push({ from, taken: `${all}=$`, names: [] });
    else imports.push({ from, taken, names: pairs.map(([outside]) => outside) });
    rest = rest.slice(whole.length);
  }
  const late = [...rest.matchAll(/\bimport\s*\(/g)].find(({ index }) => !isInTemplate(rest, index));
  if (late)
    throw new Error(
      `console/${name} imports when it runs, and no file is served for that: ${rest.slice(late.index, late.index + 40)}`,
    );
  const exports = new Map<string, string>();
  const body = rest.replace(
    EXPORT,
    (text: string, ...[kind, one, list, at]: [string | undefined, string | undefined, string | undefined, number]) => {
      if (isInTemplate(rest, at)) return text;
      if (kind !== undefined && one !== undefined) {
        exports.set(one, one);
        return `${kind} ${one}`;
      }
      if (list === undefined) throw new Error(`console/${name} exports in a way that is not known: ${rest.slice(at, at + 40)}`);
      for (const [inside, outside] of namesOf(list)) exports.set(outside, inside);
      return '';
    },
  );
  return { imports, body, exports };
}

/** `a, b as c` as pairs; a name alone stands on both sides. */
function namesOf(list: string): readonly (readonly [string, string])[] {
  return list.split(',').flatMap((one) => {
    const [before = '', after = before] = one.trim().split(/\s+as\s+/);
    return before === '' ? [] : [[before, after] as const];
  });
}

/** Whether text stands inside a template, such as a line of code that is shown to be copied. */
function isInTemplate(text: string, at: number): boolean {
  return (text.slice(0, at).match(/(?<!\\)`/g) ?? []).length % 2 === 1;
}
