/**
 * `node prune.mjs <folder of node_modules>`: takes out of installed packages what the image never runs. Node loads no TypeScript
 * from node_modules, so types, sources and source maps are dead weight there; so is native code of other machines. Ends with 1
 * where the native code of this machine is missing: the image would be built, and no process of it would start.
 * In a checkout, `tools/installPackages.mjs` calls `prune`, which then keeps what a compiler reads. Plain JavaScript for any Node from 18 on.
 */
import { existsSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Ends of the names of files that nothing loads. */
const DEAD_FILES = /\.(?:d\.[cm]?ts|[cm]?tsx?|map|md|markdown|flow|tsbuildinfo|h|c|cc|cpp|gypi?|java|rs)$/i;
/** Of those, what not even a compiler loads. Native packages keep their sources: they may have to be built. */
const DEAD_IN_DEVELOPMENT = /(?:(?<!\.d)\.[cm]?tsx?|\.map|\.md|\.markdown|\.flow|\.tsbuildinfo)$/i;
/** Folders that are not loaded, wherever they stand in a package. */
const DEAD_FOLDERS = new Set(['.yarn', '.github', '__tests__']);
/** Packages that only serve a compiler, and the elliptic-curve code in JavaScript that must never take the place of the native one. */
const DEAD_PACKAGES = [
  'typescript',
  '@typescript',
  '@types',
  'elliptic',
  'viem/_types',
  'ox/_types',
  'secp256k1/src',
  'keccak/src',
];
/** What packages bring beside the half we load. */
const DEAD_PARTS = [
  '@temporalio/core-bridge/sdk-core',
  '@graphql-yoga/render-graphiql/cjs',
  'node/node_modules',
  'rxjs/src',
  'zod/src',
];
/**
 * Second builds for a bundler or a browser, in packages whose `main` is another one. Two of OpenTelemetry's name theirs in `exports`, where a
 * bundler finds no other: workflows that are traced are bundled with it.
 */
const DEAD_BUILDS =
  /\/@opentelemetry\/(?:[\w-]+\/build\/esnext|(?!(?:api|semantic-conventions)\/)[\w-]+\/build\/esm)$|\/@(?:aws-sdk|smithy)\/[\w-]+\/dist-es$/;

/**
 * Fonts: of each family one file a range of letters is read (adapters/pdf/fontFiles.ts), upright, with the axes that statements use; the
 * others are other cuts of the same letters.
 */
const DEAD_FONTS =
  /\/@fontsource-variable\/(?:noto-sans\/files\/.*(?<!-standard-normal)|noto-sans-\w+\/files\/.*(?<!-wght-normal))\.woff2$/;

const CORE_MACHINES = { x64: 'x86_64', arm64: 'aarch64' };
const coreRelease = `${CORE_MACHINES[process.arch]}-unknown-linux-gnu`;
const prebuild = new RegExp(`^${process.platform}-(?:.*\\+)?${process.arch}(?:\\+.*)?$`);

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}

/** Native code of machines other than this one, in the two layouts there are. */
function isForeign(folder, name) {
  if (folder.endsWith('/prebuilds')) return !prebuild.test(name);
  return folder.endsWith('@temporalio/core-bridge/releases') && name !== coreRelease;
}

function walk(folder, deadFiles) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (DEAD_FOLDERS.has(entry.name) || DEAD_BUILDS.test(path) || isForeign(folder, entry.name)) remove(path);
      else walk(path, deadFiles);
    } else if (entry.isFile() && (deadFiles.test(entry.name) || DEAD_FONTS.test(path))) remove(path);
  }
}

/** Takes out of a folder of packages what is never loaded; `development` keeps types, and what tests and compilers need. */
export function prune(modules, { development }) {
  for (const name of development ? DEAD_PARTS : [...DEAD_PACKAGES, ...DEAD_PARTS]) remove(join(modules, name));
  walk(modules, development ? DEAD_IN_DEVELOPMENT : DEAD_FILES);
  const links = join(modules, '.bin');
  for (const name of existsSync(links) ? readdirSync(links) : []) {
    if (!existsSync(resolve(links, readlinkSync(join(links, name))))) remove(join(links, name));
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const modules = resolve(process.argv[2] ?? 'node_modules');
  prune(modules, { development: false });
  const require = createRequire(join(modules, 'none.js'));
  try {
    for (const name of ['keccak/bindings.js', 'secp256k1/bindings.js', '@temporalio/core-bridge', '@swc/core']) require(name);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nnative code is missing: see the Dockerfile\n`);
    process.exit(1);
  }
}
