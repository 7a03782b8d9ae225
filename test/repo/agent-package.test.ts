/** The tarball that buyers install: it runs and has types without anything of this repository. */
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
/** What npm installs with it. */
const PACKAGES = ['@modelcontextprotocol/server', '@x402/evm', '@x402/extensions', '@x402/fetch', 'viem', 'zod'];
const folder = mkdtempSync(join(tmpdir(), 'agent-tarball-'));
const modules = join(folder, 'node_modules');
const installed = join(modules, '@content-settlement', 'agent');
/** As at a buyer's: nothing that makes Node look for our sources. */
const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1', CONTENT_SETTLEMENT_HOME: join(folder, 'home') };

/** A copy of the package is packed: packing changes its manifest for a moment, and other tests read that. */
const copy = join(folder, 'repository', 'packages', 'agent');

beforeAll(() => {
  cpSync(join(ROOT, 'packages/agent'), copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'repository', 'tsconfig.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'repository', 'node_modules'));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy, encoding: 'utf8' });
  const [name = ''] = packed.trim().split('\n').slice(-1);
  execFileSync('tar', ['-xzf', join(folder, name), '-C', folder]);
  for (const scope of ['@content-settlement', '@modelcontextprotocol', '@x402'])
    mkdirSync(join(modules, scope), { recursive: true });
  renameSync(join(folder, 'package'), installed);
  for (const one of [...PACKAGES, '@types', 'undici-types']) symlinkSync(join(ROOT, 'node_modules', one), join(modules, one));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const command = (...argv: string[]): string =>
  execFileSync(process.execPath, [join(installed, 'dist/cli/main.js'), ...argv], { cwd: folder, env, encoding: 'utf8' });

test('the command runs under plain Node: it helps, makes a key, and tells its address', () => {
  expect(command('--help')).toMatch(/^content-settlement-agent: reads paid pages/);
  const made = command('key', 'new');
  expect(made).toMatch(/^0x[0-9a-fA-F]{40}\n$/);
  expect(command('key', 'address')).toBe(made);
});

test('its fetch has types, and refuses what is no address of a page', () => {
  const script = `import { payingFetch } from '@content-settlement/agent';
    await payingFetch({ home: ${JSON.stringify(env.CONTENT_SETTLEMENT_HOME)} })('http://a.example/').catch(({ code }) => console.log(code));`;
  writeFileSync(join(folder, 'read.mjs'), script);
  expect(execFileSync(process.execPath, ['read.mjs'], { cwd: folder, env, encoding: 'utf8' })).toBe('address_refused\n');
  const lines = `import { AgentError, parseEnvelope, payingFetch } from '@content-settlement/agent';
    import type { Budget, Envelope } from '@content-settlement/agent';
    const budget: Budget = { maxMicro: 10_000n, home: '/tmp/x' };
    export const read: typeof fetch = payingFetch(budget);
    export const envelope: Envelope | string = parseEnvelope('{}');
    export const isOver = (error: unknown): boolean => error instanceof AgentError && error.code === 'over_limit';
    // @ts-expect-error: there is no such limit
    payingFetch({ maxUsd: 1 });`;
  writeFileSync(join(folder, 'buyer.ts'), lines);
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
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'buyer.ts'], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
});

test('it holds what runs and nothing else, and its manifest in the repository is as it was before it was packed', () => {
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys({ ...dependencies, ...peerDependencies }).sort()).toEqual(PACKAGES);
  for (const file of Object.values<string>(exports['.'])) expect(existsSync(join(installed, file)), file).toBe(true);
  const manifest = (at: string) => readFileSync(join(at, 'package.json'), 'utf8');
  expect(manifest(copy)).toBe(manifest(join(ROOT, 'packages/agent')));
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
