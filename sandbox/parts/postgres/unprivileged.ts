import { execFileSync, spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';

/** User and group numbers that a part runs as. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Who Postgres runs as: null for ourselves when we are not root. Postgres refuses root, so as root it is the user `postgres`,
 * made if there is none, or else `nobody`. Throws when root has no such user to give.
 */
export function postgresIdentity(): Identity | null {
  if (userInfo().uid !== 0) return null;
  const found = identityOf('postgres');
  if (found !== null) return found;
  try {
    execFileSync('groupadd', ['--system', 'postgres'], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--no-create-home', '-g', 'postgres', 'postgres'], { stdio: 'ignore' });
  } catch {
    // No such command, or a read-only system: `nobody` will do.
  }
  const identity = identityOf('postgres') ?? identityOf('nobody');
  if (identity === null)
    throw new Error('Postgres does not run as root, and there is no user `postgres` or `nobody` to run it as');
  return identity;
}

function identityOf(user: string): Identity | null {
  const ask = (flag: string): number =>
    Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return null;
  }
}

/** Whether that user can enter `folder` (a home of mode 0700 above it is what usually forbids it). */
export function canEnter(folder: string, identity: Identity): boolean {
  const result = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...identity, cwd: '/', stdio: 'ignore' });
  return result.status === 0;
}
