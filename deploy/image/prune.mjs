/**
 * `node prune.mjs <folder of node_modules>`: takes out of installed packages what the image never runs. Node loads no TypeScript
 * from node_modules, so types, sources and source maps are dead weight there; so is native code of other machines. Ends with 1
 * where the native code of this machine is missing: the image would be built, and no process of it would start.
 */
import { existsSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const modules = resolve(process.argv[2] ?? 'node_modules');

/** Ends of the names of files that nothing loads. */
const DEAD_FILES = /\.(?:d\.[cm]?ts|[cm]?tsx?|map|md|markdown|flow|tsbuildinfo|h|c|cc|cpp|gypi?|java|rs)$/i;
/** Folders that are not loaded, wherever they stand in a package. */
const DEAD_FOLDERS = new Set(['.yarn', '.github', '__tests__']);
/** Packages that only serve a compiler, and the elliptic-curve code in JavaScript that must never take the place of the native one. */
const DEAD_PACKAGES = ['typescript', '@typescript', '@types', 'elliptic'];
/** What packages bring beside the half we load. */
const DEAD_PARTS = [
  '@temporalio/core-bridge/sdk-core',
  '@graphql-yoga/render-graphiql/cjs',
  'secp256k1/src',
  'keccak/src',
  'viem/_types',
  'ox/_types',
  'rxjs/src',
  'zod/src',
];

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

function walk(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (DEAD_FOLDERS.has(entry.name) || isForeign(folder, entry.name)) remove(path);
      else walk(path);
    } else if (entry.isFile() && DEAD_FILES.test(entry.name)) remove(path);
  }
}

for (const name of [...DEAD_PACKAGES, ...DEAD_PARTS]) remove(join(modules, name));
walk(modules);
const links = join(modules, '.bin');
for (const name of existsSync(links) ? readdirSync(links) : []) {
  if (!existsSync(resolve(links, readlinkSync(join(links, name))))) remove(join(links, name));
}

const require = createRequire(join(modules, 'none.js'));
try {
  for (const name of ['keccak/bindings.js', 'secp256k1/bindings.js', '@temporalio/core-bridge', '@swc/core']) require(name);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\nnative code is missing: see the Dockerfile\n`);
  process.exit(1);
}
