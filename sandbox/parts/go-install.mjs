import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';

/** @typedef {import('./progress.mjs').Progress} Progress */

/** How long a build may take, in milliseconds, and how long to wait for another process's build. */
export const BUILD_LIMIT_MS = 20 * 60_000;

/** No debugging information: nobody looks at it, and it takes time to make. */
const FLAGS = ['-trimpath', '-ldflags=-s -w', '-gcflags=all=-dwarf=false'];

/**
 * Where a build runs.
 * @typedef {object} GoOptions
 * @property {string} folder Of the caller's own; `go` below it is ours to write where there is no home, and the caller's to remove.
 * @property {string} target Where the program goes.
 * @property {string | undefined} path `PATH`; `/usr/local/go/bin` is looked at as well.
 * @property {NodeJS.ProcessEnv} environment What the build runs with.
 * @property {number} packages About how many it takes, for the lines of progress.
 * @property {Progress} progress
 * @property {number} [nice] How far it stands back from other processes; not at all unless told.
 */

/**
 * Builds a program by `go install` (minutes for a Temporal on two cores), and says how many packages are compiled. It ends with this
 * process. Throws an `Error` of one line when there is no Go here, and with Go's last line when the build fails. A second call is fast
 * where Go's own cache is warm.
 * @param {string} wanted
 * @param {GoOptions} options
 */
export async function goInstall(wanted, { folder, target, path, environment, packages, progress, nice = 0 }) {
  const go = findGo(path);
  if (go === null) throw new Error('go install: no `go` on PATH');
  progress('Go gets the sources');
  const env = { ...environment, ...goFolders(folder, environment), GOBIN: target };
  let sources = 0;
  let compiled = 0;
  await runLines(go, ['install', '-v', ...FLAGS, wanted], { cwd: folder, env, nice }, (line) => {
    if (line.startsWith('go: downloading')) progress(`Go gets the sources, ${++sources} modules`);
    else if (line.trim() !== '') progress(`Go compiles, ${++compiled} of about ${packages}`);
  });
}

/**
 * Runs a program; `onLine` gets the lines of its error stream.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, nice: number }} options
 * @param {(line: string) => void} onLine
 * @returns {Promise<void>}
 */
function runLines(program, args, { cwd, env, nice }, onLine) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: BUILD_LIMIT_MS });
    const end = () => child.kill();
    process.once('exit', end);
    if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice); // what it starts has it too
    let last = '';
    createInterface(child.stderr).on('line', (line) => {
      if (line.trim() !== '') last = line.trim();
      onLine(line);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('exit', end);
      if (code === 0) resolve();
      else reject(new Error(`go ${args[0]}: ${last || code || signal}`));
    });
  });
}

/**
 * The `go` program; null when there is none.
 * @param {string | undefined} path
 * @returns {string | null}
 */
export function findGo(path) {
  const places = [...(path ?? '').split(delimiter), '/usr/local/go/bin'].map((place) => join(place, 'go'));
  return places.find((file) => isAbsolute(file) && existsSync(file)) ?? null;
}

/**
 * Whether files can be made in a folder; it is made if it is not there.
 * @param {string} folder
 * @returns {boolean}
 */
export function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * What `<file> --version` prints, or why it does not run.
 * @param {string} file
 * @returns {{ readonly version: string } | { readonly refusal: string }}
 */
export function askVersion(file) {
  const { status, stdout, stderr, error } = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  if (status === 0) return { version: stdout.trim() };
  return { refusal: `${file} does not run: ${(stderr?.trim() || error?.message || `status ${status}`).split('\n')[0]}` };
}

/**
 * Go's caches in our folder for a user without a home; else Go's own, which may hold what it needs already.
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} environment
 * @returns {NodeJS.ProcessEnv}
 */
function goFolders(folder, environment) {
  const home = environment['HOME'];
  if (home !== undefined && isWritable(home)) return {};
  return { GOPATH: join(folder, 'go'), GOCACHE: join(folder, 'go', 'cache'), GOFLAGS: '-modcacherw' };
}
