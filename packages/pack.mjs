/**
 * What `npm pack` does in a package of this repository, before (prepack) and after (postpack), told by the names of these steps:
 *
 * - `build` writes dist/ with TypeScript alone: the repository's own, if its packages are installed, else the one that npm fetches. Sources are copied to
 *   where no package is, and are not checked (`npm run check` does that): so nothing else is needed, and everybody who packs gets the same bytes.
 *   Declarations are written for CommonJS, too (`.d.cts`): what is required there is the same ES module.
 * - `hide` takes the sources out of the manifest, `show` puts them back. In this repository the condition `settlement-source` leads to src/, which Node
 *   runs as it stands; who installs the package has dist/ alone. After a pack that was cut off, `show` mends the file.
 *
 * Plain JavaScript for any Node from 18 on, no packages.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = process.cwd();
const MANIFEST = join(PACKAGE, 'package.json');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

const STEPS = { build, hide: () => rewrite('hide'), show: () => rewrite('show') };
for (const step of process.argv.slice(2)) {
  if (!Object.hasOwn(STEPS, step)) throw new TypeError(`pack.mjs takes ${Object.keys(STEPS).join(', ')}`);
  STEPS[step]();
}

function build() {
  const folder = mkdtempSync(join(tmpdir(), 'pack-'));
  const dist = join(PACKAGE, 'dist');
  rmSync(dist, { recursive: true, force: true });
  try {
    cpSync(join(PACKAGE, 'src'), join(folder, 'src'), { recursive: true });
    const { compilerOptions } = readJson(join(ROOT, 'tsconfig.json'));
    const own = readJson(join(PACKAGE, 'tsconfig.json')).compilerOptions;
    const options = { ...compilerOptions, ...own, types: [], noCheck: true, outDir: dist };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: readJson(MANIFEST).type }));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['src/**/*.ts'] }));
    compile(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  declare(dist);
}

function compile(folder) {
  const options = { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] };
  const installed = join(ROOT, 'node_modules/typescript/bin/tsc');
  if (existsSync(installed)) return execFileSync(process.execPath, [installed, '-p', '.'], options);
  const version = readJson(join(ROOT, 'package.json')).devDependencies.typescript;
  return execFileSync('npm', ['exec', '--yes', '--package', `typescript@${version}`, '--', 'tsc', '-p', '.'], {
    ...options,
    // npm tells what it runs about the package that is packed, which this is none of.
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_(config_(workspace|dry_run)|package_|lifecycle_)/.test(name)),
    ),
  });
}

/** Declarations name what was built and not the sources, and stand beside themselves for CommonJS; commands are run, not imported. */
function declare(dist) {
  for (const name of readdirSync(dist, { recursive: true }).map(String)) {
    if (!name.endsWith('.d.ts')) continue;
    const file = join(dist, name);
    const text = readFileSync(file, 'utf8');
    const naming = (extension) => text.replace(/(['"])(\.{1,2}\/[^'"]+)\.[jt]s\1/g, `$1$2.${extension}$1`);
    writeFileSync(file, naming('js'));
    if (!name.startsWith('cli')) writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), naming('cjs'));
  }
}

function rewrite(how) {
  const manifest = readJson(MANIFEST);
  for (const [entry, { 'settlement-source': _, ...built }] of Object.entries(manifest.exports)) {
    const source = built.default.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts');
    manifest.exports[entry] = how === 'hide' ? built : { 'settlement-source': source, ...built };
  }
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}
