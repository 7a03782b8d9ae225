/** The tarball that publishers install: it runs and has types without anything of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';
import type { Tarball } from '../support/tarball.ts';
import { installTarball } from '../support/tarball.ts';

const MOST_DEPENDENCIES = 4;
/** All that it needs. */
const PACKAGES = ['@mdream/js', 'http-message-sig', 'isbot', 'jose'];
const ENTRIES = ['', '/astro', '/express', '/fastify', '/fetch', '/next', '/sveltekit'];
interface Entry {
  readonly types: { readonly require: string; readonly default: string };
  readonly default: string;
}
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
  for (const { types, default: file } of Object.values<Entry>(exports)) {
    for (const one of [types.require, types.default, file]) expect(existsSync(join(tarball.installed, one)), one).toBe(true);
  }
});

test('CommonJS requires every entry, and has its types', () => {
  const script = `for (const one of ${JSON.stringify(ENTRIES)}) console.log(Object.keys(require('@content-settlement/publisher' + one)).sort().join(' '))`;
  expect(tarball.run('load.cjs', script)).toBe(tarball.run('load.mjs', script.replace('require(', 'await import(')));
  const lines = `import express = require('@content-settlement/publisher/express');
    import fastify = require('@content-settlement/publisher/fastify');
    import { createGate } from '@content-settlement/publisher';
    import type { IncomingMessage, ServerResponse } from 'node:http';
    const middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void = express.contentSettlement();
    export = { middleware, plugin: fastify.contentSettlement({ charge: 'everyone' }), createGate };`;
  tarball.check('site.cts', lines);
});

test('its declarations are whole without its dependencies: nothing in them became any', () => {
  const at = join(tarball.installed, 'dist');
  const declared = readdirSync(at, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.d.ts'));
  expect(declared.length).toBeGreaterThan(40);
  for (const name of declared) expect([name, readFileSync(join(at, name), 'utf8').match(/[:<|] any\b/g)]).toEqual([name, null]);
});

test('two that pack get the same bytes, and few packages besides', () => {
  const first = readFileSync(tarball.packed);
  const again = installTarball('publisher', []);
  expect(readFileSync(again.packed).equals(first)).toBe(true);
  again.remove();
  expect(PACKAGES.length).toBeLessThanOrEqual(MOST_DEPENDENCIES);
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
