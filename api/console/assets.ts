/** The files of the console as browsers get them: types stripped, modules in one file, named by their bytes, compressed once. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type { Encoded } from '../../platform/compressed.ts';
import { compressible } from '../../platform/compressed.ts';
import { packModules } from './pack.ts';

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
  /** The modules that browser code imports by a bare name, by that name. */
  readonly packages: Readonly<Record<string, URL>>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
};
/** What the page starts with. */
const FIRST = 'app.ts';

interface File {
  /** As sources name it. */
  readonly name: string;
  readonly path: string;
  readonly body: Body;
  readonly text: string;
}

/** Reads the console. Throws when a file cannot be read or packed, or when the page names one that is not there. */
export function openConsoleFiles({ folder, packages }: ConsoleSources): ConsoleFiles {
  const html = readFileSync(new URL('index.html', folder), 'utf8');
  const packed = packModules(FIRST, (name) => readModule(folder, name));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  const own = names
    .filter((name) => /\.(css|svg)$/.test(name))
    .toSorted()
    .map((name) => fileOf(name, readFileSync(new URL(name, folder), 'utf8')));
  const foreign = Object.entries(packages).map(([name, file]) => fileOf(name, readFileSync(file, 'utf8'), 'js'));
  const files = [fileOf(FIRST, packed.text, 'js'), ...own, ...asked(foreign, packed.packages)];
  const byName = new Map(files.map((file) => [file.name, file]));
  const modules = files.filter(({ path }) => path.endsWith('.js'));
  const map = JSON.stringify({ imports: Object.fromEntries(modules.slice(1).map(({ name, path }) => [name, path])) });
  const page = writePage(html, map, byName, modules);
  return {
    page: bodyOf('text/html; charset=utf-8', Buffer.from(page)),
    policy: policyOf(map),
    assets: new Map(files.map(({ path, body }) => [path, body])),
  };
}

/** A module without its types and comments, which are a tenth of it; null when there is none. */
function readModule(folder: URL, name: string): string | null {
  const url = new URL(name, folder);
  return existsSync(url) ? stripTypeScriptTypes(readFileSync(url, 'utf8'), { mode: 'transform' }) : null;
}

/** Of the packages those that are imported, by us or by another that is. */
function asked(files: readonly File[], imported: readonly string[]): readonly File[] {
  const isImported = ({ name }: File): boolean =>
    imported.includes(name) || files.some(({ name: by, text }) => imported.includes(by) && text.includes(`from"${name}"`));
  return files.filter(isImported);
}

function fileOf(name: string, text: string, extension = name.split('.').at(-1) ?? ''): File {
  const bytes = Buffer.from(text);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const stem = name.replace(/\.(ts|css|svg)$/, '').replaceAll('@', '');
  const body = bodyOf(TYPES[extension] ?? 'application/octet-stream', bytes);
  return { name, path: `${ASSETS}${stem}.${hash}.${extension}`, body, text };
}

/** The page with the names of its files as they are served, the import map, and its modules told ahead. */
function writePage(source: string, map: string, byName: ReadonlyMap<string, File>, modules: readonly File[]): string {
  const named = source.replaceAll(/\b(href|src)="(?!https?:|\/|data:|#)([^"]+)"/g, (_, attribute: string, name: string) => {
    const file = byName.get(name);
    if (!file) throw new Error(`console/index.html names ${name}, which is not there`);
    return `${attribute}="${file.path}"`;
  });
  // An import map must stand before the first module.
  const ahead = modules.map(({ path }) => `<link rel="modulepreload" href="${path}">`);
  const head = [`<script type="importmap">${map}</script>`, ...ahead].join('\n');
  if (!named.includes('<head>')) throw new Error('console/index.html has no <head>');
  return named.replace('<head>', `<head>\n${head}`);
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

/** Files are small and cached for good: the best compression pays. */
const BEST_BROTLI = 11;

function bodyOf(type: string, bytes: Buffer): Body {
  return { type, bytes, encoded: compressible(bytes, BEST_BROTLI) };
}
