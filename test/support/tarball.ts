/** A package of this repository as somebody installs it: its tarball in a folder where nothing else of the repository is. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Type checks as a user of the installed package runs them. */
const TSC = '--noEmit --strict --skipLibCheck --target es2022 --module node16 --lib es2023,dom --types node'.split(' ');

/** An installed package. */
export interface Tarball {
  /** The folder that it is installed in, and the package's own in there. */
  readonly folder: string;
  readonly installed: string;
  /** The file that npm packed. */
  readonly packed: string;
  /** Runs Node there, without what makes it look for our sources; what it printed. Throws where it fails. */
  node(...args: readonly string[]): string;
  /** Runs a module with this text. */
  run(name: string, text: string): string;
  /** Throws where a file with this text has an error of types; `.cts` is CommonJS. */
  check(name: string, text: string): void;
  /** The manifest of the repository, before the package was packed and after. */
  manifests(): readonly [before: string, after: string];
  remove(): void;
}

/** Packs `packages/<name>` and installs it beside `dependencies`, which are ours. Packing changes the manifest for a moment, so a copy is packed. */
export function installTarball(name: 'agent' | 'publisher', dependencies: readonly string[]): Tarball {
  const folder = mkdtempSync(join(tmpdir(), `${name}-tarball-`));
  const modules = join(folder, 'node_modules');
  const installed = join(modules, '@content-settlement', name);
  const repository = join(folder, 'repository');
  const copy = join(repository, 'packages', name);
  const env = { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1', CONTENT_SETTLEMENT_HOME: join(folder, 'home') };
  cpSync(join(ROOT, 'packages', name), copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  for (const file of ['tsconfig.json', 'package.json', 'packages/pack.mjs']) cpSync(join(ROOT, file), join(repository, file));
  symlinkSync(join(ROOT, 'node_modules'), join(repository, 'node_modules'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy });
  const [packed = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder]);
  mkdirSync(dirname(installed), { recursive: true });
  renameSync(join(folder, 'package'), installed);
  for (const one of [...dependencies, '@types', 'undici-types']) {
    mkdirSync(dirname(join(modules, one)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', one), join(modules, one));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const node = (...args: readonly string[]): string =>
    execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  return {
    folder,
    installed,
    packed: join(folder, packed),
    node,
    run: (file, text) => {
      writeFileSync(join(folder, file), text);
      return node(file);
    },
    check: (file, text) => {
      writeFileSync(join(folder, file), text);
      node(join(ROOT, 'node_modules/typescript/bin/tsc'), ...TSC, file);
    },
    manifests: () =>
      [join(ROOT, 'packages', name), copy].map((at) => readFileSync(join(at, 'package.json'), 'utf8')) as [string, string],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
