/** The tarball that buyers install: it runs and has types without anything of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';
import type { Tarball } from '../support/tarball.ts';
import { installTarball } from '../support/tarball.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What npm installs with it. */
const PACKAGES = ['@modelcontextprotocol/server', '@x402/evm', '@x402/extensions', '@x402/fetch', 'viem', 'zod'];
let tarball: Tarball;
beforeAll(() => {
  tarball = installTarball('agent', PACKAGES);
});
afterAll(() => tarball?.remove());

const command = (...argv: string[]): string => tarball.node(join(tarball.installed, 'dist/cli/main.js'), ...argv);

test('the command runs under plain Node: it helps, makes a key, and tells its address', () => {
  expect(command('--help')).toMatch(/^content-settlement-agent: reads paid pages/);
  const made = command('key', 'new');
  expect(made).toMatch(/^0x[0-9a-fA-F]{40}\n$/);
  expect(command('key', 'address')).toBe(made);
});

test('its fetch has types, and refuses what is no address of a page', () => {
  const script = `import { payingFetch } from '@content-settlement/agent';
    await payingFetch({ home: ${JSON.stringify(join(tarball.folder, 'home'))} })('http://a.example/').catch(({ code }) => console.log(code));`;
  expect(tarball.run('read.mjs', script)).toBe('address_refused\n');
  const lines = `import { AgentError, parseEnvelope, payingFetch } from '@content-settlement/agent';
    import type { Budget, Envelope } from '@content-settlement/agent';
    const budget: Budget = { maxMicro: 10_000n, home: '/tmp/x' };
    export const read: typeof fetch = payingFetch(budget);
    export const envelope: Envelope | string = parseEnvelope('{}');
    export const isOver = (error: unknown): boolean => error instanceof AgentError && error.code === 'over_limit';
    // @ts-expect-error: there is no such limit
    payingFetch({ maxUsd: 1 });`;
  tarball.check('buyer.ts', lines);
  tarball.check(
    'required.cts',
    `import { payingFetch } from '@content-settlement/agent';
    const read = payingFetch({ maxMicro: 10_000n });
    const page = async () => await (await read('https://news.example/articles/trio')).text();
    export = page;`,
  );
  // As the package's page has it.
  const program = `
import { payingFetch } from '@content-settlement/agent';
const read = payingFetch({ maxMicro: 10_000n });
const page = await (await read('https://news.example/articles/trio')).text();
export { page };`;
  tarball.check('program.ts', program);
});

test('it holds what runs and nothing else, and its manifest in the repository is as it was before it was packed', () => {
  expect(readdirSync(tarball.installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync(join(tarball.installed, 'package.json'), 'utf8'));
  expect(Object.keys({ ...dependencies, ...peerDependencies }).sort()).toEqual(PACKAGES);
  const { types, default: entry } = exports['.'];
  for (const file of [types.require, types.default, entry]) expect(existsSync(join(tarball.installed, file)), file).toBe(true);
  const [before, after] = tarball.manifests();
  expect(after).toBe(before);
});

test('the versions it names are those of this repository, and nothing in it imports the service', () => {
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const pinned = { ...ours.dependencies, ...ours.peerDependencies };
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/agent/package.json'), 'utf8'));
  for (const [name, version] of Object.entries({ ...dependencies, ...peerDependencies }))
    expect([name, version]).toEqual([name, pinned[name]]);
  const sources = readSources(/^packages\/agent\/src\/.*\.ts$/);
  expect(sources.length).toBeGreaterThan(15);
  expect(sources.filter(({ text }) => /from '(\.\.\/){3,}/.test(text)).map(({ path }) => path)).toEqual([]);
});
