/** The tarball that publishers install: it runs and has types without anything of this repository. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** All that it needs. */
const PACKAGES = ['http-message-sig', 'isbot', 'jose'];
const ENTRIES = ['', '/express', '/fetch', '/next'];
const folder = mkdtempSync(join(tmpdir(), 'tarball-'));
const modules = join(folder, 'node_modules');
const installed = join(modules, '@content-settlement', 'publisher');
/** As at a publisher's: nothing that makes Node look for our sources. */
const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' };

/** A copy of the package is packed: packing changes its manifest for a moment, and other tests read that. */
const copy = join(folder, 'repository', 'packages', 'publisher');

beforeAll(() => {
  cpSync(join(ROOT, 'packages/publisher'), copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'repository', 'tsconfig.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'repository', 'node_modules'));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy, encoding: 'utf8' });
  const [name = ''] = packed.trim().split('\n').slice(-1);
  execFileSync('tar', ['-xzf', join(folder, name), '-C', folder]);
  mkdirSync(join(modules, '@content-settlement'), { recursive: true });
  renameSync(join(folder, 'package'), installed);
  for (const one of [...PACKAGES, 'structured-headers', '@types', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', one), join(modules, one));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every entry loads under plain Node, and what it gives is there', () => {
  const script = `for (const one of ${JSON.stringify(ENTRIES)}) console.log(Object.keys(await import('@content-settlement/publisher' + one)).sort().join(' '))`;
  writeFileSync(join(folder, 'load.mjs'), script);
  const told = execFileSync(process.execPath, ['load.mjs'], { cwd: folder, env, encoding: 'utf8' });
  expect(told.trim().split('\n')).toEqual(['createClient createGate', ...ENTRIES.slice(1).map(() => 'contentSettlement')]);
});

test('it sells without the repository: options are read, and wrong ones are named', () => {
  const script = `import { contentSettlement } from '@content-settlement/publisher/fetch';
    try { contentSettlement({ serviceUrl: 'nowhere' }) } catch (error) { console.log(error.message) }
    const log = () => undefined;
    const site = contentSettlement({ serviceUrl: 'http://127.0.0.1:1', apiKey: 'k', log })(() => new Response('page'));
    console.log((await site(new Request('https://a.example/', { headers: { 'user-agent': 'Mozilla/5.0 Firefox/145.0' } }))).status);`;
  writeFileSync(join(folder, 'sell.mjs'), script);
  const told = execFileSync(process.execPath, ['sell.mjs'], { cwd: folder, env, encoding: 'utf8' });
  expect(told.trim().split('\n')).toEqual([expect.stringContaining('serviceUrl (or SVC_URL)'), '200']);
});

test('its types are those of a publisher’s three lines', () => {
  const lines = `import { contentSettlement as forExpress } from '@content-settlement/publisher/express';
    import { contentSettlement as forFetch } from '@content-settlement/publisher/fetch';
    import { contentSettlement as forNext } from '@content-settlement/publisher/next';
    import { createClient } from '@content-settlement/publisher';
    import type { RequestHandler } from 'express';
    export const middleware: RequestHandler = forExpress({ serviceUrl: 'https://svc.example', apiKey: 'k', charge: 'everyone' });
    export const handler: (request: Request) => Promise<Response> = forFetch()(async (_request: Request) => new Response('page'));
    export const proxy = forNext({ classify: (request: Request) => (request.headers.has('x-bot') ? 'agent' : undefined) });
    export const GET = proxy.route(async (request: Request, _context: { params: Promise<{ slug: string }> }) => new Response(request.url));
    export const price = async () => (await createClient({ serviceUrl: '', apiKey: '' }).quote({ resource: '' })).ok;
    // @ts-expect-error: there is no such option
    forExpress({ apikey: 'k' });`;
  writeFileSync(join(folder, 'site.ts'), lines);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2023,dom',
    '--types',
    'node',
  ];
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'site.ts'], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
});

test('it holds what runs and nothing else, with the licences of what it is made of', () => {
  const names = readdirSync(installed).sort();
  expect(names).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  expect(readFileSync(join(installed, 'dist/core/robots.generated.js'), 'utf8')).toContain('MIT License');
  const { dependencies, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies).sort()).toEqual(PACKAGES);
  for (const files of Object.values<Record<string, string>>(exports)) {
    for (const file of Object.values(files)) expect(existsSync(join(installed, file)), file).toBe(true);
  }
});

test('the repository’s manifest is as it was before it was packed', () => {
  const manifest = (at: string) => readFileSync(join(at, 'package.json'), 'utf8');
  expect(manifest(copy)).toBe(manifest(join(ROOT, 'packages/publisher')));
});

const sources = readSources(/^packages\/publisher\/src\/.*\.ts$/);

test('what runs in Workers names no module of Node, and nothing imports the service', () => {
  const importsOf = (text: string) =>
    [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)].map(([, name = '']) => name);
  const foreign = sources.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((name) => !name.startsWith('./') && !name.startsWith('../') && !PACKAGES.includes(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(foreign.filter((line) => !/^packages\/publisher\/src\/(express\.ts|cli\/)/.test(line))).toEqual([]);
  const outside = sources.filter(
    ({ text }) =>
      /from '(\.\.\/){3,}/.test(text) ||
      /from '(\.\.\/)+(activities|api|bin|console|db|graphql|modules|platform|process|workflows)\//.test(text),
  );
  expect(outside.map(({ path }) => path)).toEqual([]);
});
