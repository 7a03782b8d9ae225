import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A lock folder younger than this may belong to a process that has not written its number yet. */
const UNSIGNED_MS = 5_000;

/**
 * Takes the lock `folder` (made by one atomic mkdir, signed with our process number) and returns the release.
 * Waits while a living process holds it, calling `onWait` once with that process's number; takes over what a dead one left.
 * With `waitMs` 0 it throws at once if the lock is held; else after that time.
 */
export async function takeLock(folder: string, options: { waitMs: number; onWait?: (pid: number) => void }): Promise<() => void> {
  mkdirSync(dirname(folder), { recursive: true });
  const deadline = performance.now() + options.waitMs;
  let told = false;
  for (;;) {
    if (tryTake(folder)) return () => rmSync(folder, { recursive: true, force: true });
    const holder = holderOf(folder);
    if (holder === null) continue;
    if (performance.now() >= deadline) throw new Error(`${folder} is held by the running process ${holder}`);
    if (!told) options.onWait?.(holder);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function tryTake(folder: string): boolean {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  return true;
}

/** The living holder, 0 for one that has not signed yet; null when the lock was free or a dead one's, which is cleared. */
function holderOf(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    if (pid > 0 && isAlive(pid)) return pid;
  } catch {
    try {
      if (Date.now() - statSync(folder).mtimeMs < UNSIGNED_MS) return 0;
    } catch {
      return null;
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return null;
}

/** Whether a process of this number exists, ours or another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
