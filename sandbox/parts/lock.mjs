import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A lock folder younger than this may belong to a process that has not written its number yet. */
const UNSIGNED_MS = 5_000;

/**
 * Takes the lock `folder` (made by one atomic mkdir, signed with our process number) and returns the release.
 * Waits while a living process holds it, calling `onWait` at each look with that process's number and what it said last (`sayInLock`);
 * takes over what a dead one left. With `waitMs` 0 it throws at once if the lock is held; else after that time.
 * @param {string} folder
 * @param {{ waitMs: number, onWait?: (pid: number, said: string | null) => void }} options
 * @returns {Promise<() => void>}
 */
export async function takeLock(folder, options) {
  mkdirSync(dirname(folder), { recursive: true });
  const deadline = performance.now() + options.waitMs;
  for (;;) {
    if (tryTake(folder)) return () => rmSync(folder, { recursive: true, force: true });
    const holder = holderOf(folder);
    if (holder === null) continue;
    if (performance.now() >= deadline) throw new Error(`${folder} is held by the running process ${holder}`);
    options.onWait?.(holder, readText(join(folder, 'said')));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Leaves a line for those who wait for the lock; only its holder may.
 * @param {string} folder
 * @param {string} line
 */
export function sayInLock(folder, line) {
  try {
    writeFileSync(join(folder, 'said'), line);
  } catch {
    // Nobody has to hear it.
  }
}

/** @param {string} folder */
function tryTake(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  return true;
}

/**
 * The living holder, 0 for one that has not signed yet; null when the lock was free or a dead one's, which is cleared.
 * @param {string} folder
 */
function holderOf(folder) {
  const pid = Number(readText(join(folder, 'pid')) ?? 0);
  if (pid > 0 && isAlive(pid)) return pid;
  if (!(pid > 0)) {
    const since = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    if (since === undefined) return null;
    if (Date.now() - since < UNSIGNED_MS) return 0;
  }
  rmSync(folder, { recursive: true, force: true });
  return null;
}

/**
 * Whether a process of this number exists, ours or another user's.
 * @param {number} pid
 * @returns {boolean}
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * A file's text; null where there is none.
 * @param {string} file
 * @returns {string | null}
 */
export function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
