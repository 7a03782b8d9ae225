/** The files of the console as browsers get them: types stripped, named by their bytes, compressed once. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Encoded } from '../../services/compressed.ts';
import { compressible } from '../../services/compressed.ts';

/** Where everything of the console is. */
export const CONSOLE_PATH = '/_svc/console';
const ASSETS = `${CONSOLE_PATH}/assets/`;

/** Bytes and how they may be sent. */
export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
  /** In the best coding of those that `Accept-Encoding` names; null: as they are. Compressed at the first asking, off this thread, and kept. */
  encoded(accepted: string): Promise<Encoded>;
}

/** The console, ready to be served. */
export interface ConsoleFiles {
  readonly page: Body;
  /** The `Content-Security-Policy` of the page: its own files, and its import map by its hash. */
  readonly policy: string;
  /** By path. */
  readonly assets: ReadonlyMap<string, Body>;
}

/** Where files are read from. */
export interface ConsoleSources {
  /** The folder of the console, with a slash at its end. */
  readonly folder: URL;
  /** What browser code imports by a bare name, and what `index.html` may name, by that name: the file to read, and what is put behind it. */
  readonly packages: Readonly<Record<string, { readonly file: URL; readonly footer?: string }>>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
};
const IMPORT = /^\s*(?:import|export)\b[^'"`;]*?(?:\bfrom\s*)?['"]([^'"\n]+)['"]/gm;
/** What the page starts with. */
const FIRST = 'app.ts';

interface File {
  /** As sources name it. */
  readonly name: string;
  readonly path: string;
  readonly body: Body;
  readonly text: string;
}

/** Reads the console. Throws when a file cannot be read or stripped, or when the page names one that is not there. */
export function openConsoleFiles({ folder, packages }: ConsoleSources): ConsoleFiles {
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|css|svg)$/.test(name) && !name.endsWith('.d.ts'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
    .map((name) => fileOf(name, readFileSync(new URL(name, folder), 'utf8')));
  const foreign = Object.entries(packages).map(([name, { file, footer = '' }]) =>
    fileOf(name, `${readFileSync(file, 'utf8')}${footer}`, file.pathname.endsWith('.css') ? 'css' : 'js'),
  );
  const html = readFileSync(new URL('index.html', folder), 'utf8');
  const isAsked = ({ name }: File): boolean =>
    html.includes(`"${name}"`) || own.some(({ text }) => importsOf(text).includes(name));
  const byName = new Map([...own, ...foreign.filter(isAsked)].map((file) => [file.name, file]));
  const imports = Object.fromEntries(
    [...byName.values()]
      .filter(({ path }) => path.endsWith('.js'))
      .map(({ name, path }) => [name.endsWith('.ts') ? `${ASSETS}${name}` : name, path]),
  );
  const map = JSON.stringify({ imports });
  return {
    page: bodyOf('text/html; charset=utf-8', Buffer.from(writePage(html, map, byName))),
    policy: policyOf(map),
    assets: new Map([...byName.values()].map(({ path, body }) => [path, body])),
  };
}

function fileOf(name: string, source: string, kind = name.endsWith('.ts') ? 'ts' : (name.split('.').at(-1) ?? '')): File {
  // Printed anew: without comments, which are a tenth of it.
  const text = kind === 'ts' ? stripTypeScriptTypes(source, { mode: 'transform' }) : source;
  const extension = kind === 'ts' ? 'js' : kind;
  const bytes = Buffer.from(text);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const stem = name.replace(/\.(ts|css|svg)$/, '').replaceAll('@', '');
  const body = bodyOf(TYPES[extension] ?? 'application/octet-stream', bytes);
  return { name, path: `${ASSETS}${stem}.${hash}.${extension}`, body, text };
}

/** The page with the names of its files as they are served, the import map, and what its first screen needs told ahead. */
function writePage(source: string, map: string, byName: ReadonlyMap<string, File>): string {
  const named = source.replaceAll(/\b(href|src)="(?!https?:|\/|data:|#)([^"]+)"/g, (_, attribute: string, name: string) => {
    const file = byName.get(name);
    if (!file) throw new Error(`console/index.html names ${name}, which is not there`);
    return `${attribute}="${file.path}"`;
  });
  const ahead = firstModules(byName).map((path) => `<link rel="modulepreload" href="${path}">`);
  const head = [`<script type="importmap">${map}</script>`, ...ahead].join('\n');
  if (!named.includes('</head>')) throw new Error('console/index.html has no </head>');
  // An import map must stand before the first module.
  return named.includes('<head>') ? named.replace('<head>', `<head>\n${head}`) : named.replace('</head>', `${head}\n</head>`);
}

function importsOf(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map(([, specifier = '']) => specifier);
}

/** Every module that the first one imports, through any number of others, itself included; not what is imported when it is needed. */
function firstModules(byName: ReadonlyMap<string, File>): readonly string[] {
  const found = new Map<string, File>();
  const visit = (name: string): void => {
    const file = byName.get(name);
    if (!file || found.has(name)) return;
    found.set(name, file);
    for (const specifier of importsOf(file.text)) {
      visit(specifier.startsWith('.') ? join(name, '..', specifier).replaceAll('\\', '/') : specifier);
    }
  };
  visit(FIRST);
  return [...found.values()].map(({ path }) => path);
}

function policyOf(map: string): string {
  const hash = createHash('sha256').update(map).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** Files are small, and kept for good by whoever got them: compressed as well as can be. */
const BEST_BROTLI = 11;

function bodyOf(type: string, bytes: Buffer): Body {
  return { type, bytes, encoded: compressible(bytes, BEST_BROTLI) };
}
