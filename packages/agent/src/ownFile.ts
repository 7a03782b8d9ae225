/** Files of the machine's owner that decide about money: nobody else may write them, and nobody else reads them. */
import type { Stats } from 'node:fs';
import { chmodSync, fchmodSync, fstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentError } from './errors.ts';

const OTHERS = 0o077;
const OTHERS_WRITE = 0o002;

/**
 * Keeps an open file from everybody but its owner (0600), also where it was there before. Throws `code` where it belongs to somebody else than
 * this user and root, or where anybody might have written it: what stands in it may be a stranger's. Modes mean nothing on Windows.
 */
export function keepToOwner(file: number, path: string, code: 'envelope_unreadable' | 'ledger_unreadable'): void {
  if (process.platform === 'win32') return;
  const facts = fstatSync(file);
  const isTrusted = isMine(facts) || facts.uid === 0;
  if (!isTrusted || (facts.mode & OTHERS_WRITE) !== 0)
    throw new AgentError(
      code,
      `Others than its owner may write ${path}, so nothing is bought by it. Check what it says, then make it yours alone: chmod 600 ${path}`,
    );
  if (isMine(facts) && (facts.mode & OTHERS) !== 0) unlessReadOnly(() => fchmodSync(file, 0o600));
}

/** Makes the folder of a file, for its owner alone (0700), also where it was there before. */
export function makeOwnFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  const facts = statSync(folder);
  if (isMine(facts) && (facts.mode & OTHERS) !== 0) unlessReadOnly(() => chmodSync(folder, 0o700));
}

function isMine({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}

/** On a file system that is read-only nobody writes anything. */
function unlessReadOnly(change: () => void): void {
  try {
    change();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
  }
}
