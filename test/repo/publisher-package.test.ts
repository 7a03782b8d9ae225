/** The tarball that publishers install: it runs and has types without anything of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';
import type { Tarball } from '../support/tarball.ts';
import { installTarball } from '../support/tarball.ts';

/** All that it needs. */
const PACKAGES = ['@mdream/js', 'http-message-sig', 'isbot', 'jose'];
const ENTRIES = ['', '/express', '/fetch', '/next'];
let tarball: Tarball;
beforeAll(() => {
  tarball = installTarball('publisher', [...PACKAGES, 'structured-headers']);
});
afterAll(() => tarball?.remove());

test('every entry loads under plain Node, and what it gives is there', () => {
  const script = `for (const one of ${JSON.stringify(ENTRIES)}) console.log(Object.keys(await import('@content-settlement/publisher' + one)).sort().join(' '))`;
  const told = tarball.run('load.mjs', script);
  expect(told.trim().split('\n')).toEqual(['createClient createGate', ...ENTRIES.slice(1).map(() => 'contentSettlement')]);
});

test('it sells without the repository: options are read, and wrong ones are named', () => {
  const script = `import { contentSettlement } from '@content-settlement/publisher/fetch';
    try { contentSettlement({ serviceUrl: 'nowhere' }) } catch (error) { console.log(error.message) }
    const log = () => undefined;
    const site = contentSettlement({ serviceUrl: 'http://127.0.0.1:1', apiKey: 'k', log })(() => new Response('page'));
    console.log((await site(new Request('https://a.example/', { headers: { 'user-agent': 'Mozilla/5.0 Firefox/145.0' } }))).status);`;
  const told = tarball.run('sell.mjs', script);
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
  tarball.check('site.ts', lines);
});

test('it holds what runs and nothing else, with the licences of what it is made of, and packing leaves the repository’s manifest as it was', () => {
  const [before, after] = tarball.manifests();
  expect(after).toBe(before);
  const names = readdirSync(tarball.installed).sort();
  expect(names).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  expect(readFileSync(join(tarball.installed, 'dist/core/robots.generated.js'), 'utf8')).toContain('MIT License');
  const { dependencies, exports } = JSON.parse(readFileSync(join(tarball.installed, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies).sort()).toEqual(PACKAGES);
  for (const files of Object.values<Record<string, string>>(exports)) {
    for (const file of Object.values(files)) expect(existsSync(join(tarball.installed, file)), file).toBe(true);
  }
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
