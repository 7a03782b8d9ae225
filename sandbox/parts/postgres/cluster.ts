import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { PostgresBinaries } from './binaries.ts';
import { REACHABLE_FOLDER, reachable } from './binaries.ts';
import type { Identity } from './unprivileged.ts';
import { canEnter } from './unprivileged.ts';

/** What must be remembered of a cluster from run to run. Kept beside its data with mode 0600; the passwords are random. */
export interface ClusterRecord {
  readonly dataFolder: string;
  readonly superPassword: string;
  readonly ownerPassword: string;
  readonly appPassword: string;
  /** False until the roles exist: a first boot cut short is begun anew. */
  readonly complete: boolean;
}

/** The cluster of `folder` as it was left, or null for none (or one whose first boot was cut short: it is removed). */
export function findCluster(folder: string): ClusterRecord | null {
  const file = recordFile(folder);
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, 'utf8')) as ClusterRecord;
  if (record.complete && existsSync(join(record.dataFolder, 'PG_VERSION'))) return record;
  removeCluster(folder);
  return null;
}

/** Writes the record, whole or not at all. */
export function recordCluster(folder: string, record: ClusterRecord): void {
  const part = `${recordFile(folder)}.part`;
  writeFileSync(part, JSON.stringify(record), { mode: 0o600 });
  renameSync(part, recordFile(folder));
}

/** Removes the cluster of `folder`, its data included where root had to put it elsewhere. Nothing there: nothing happens. */
export function removeCluster(folder: string): void {
  const file = recordFile(folder);
  if (existsSync(file)) {
    const { dataFolder } = JSON.parse(readFileSync(file, 'utf8')) as ClusterRecord;
    if (dataFolder.startsWith(`${REACHABLE_FOLDER}/`)) rmSync(resolve(dataFolder, '..'), { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Makes an empty cluster: passwords by SCRAM, UTF-8, collation `C` (the same order on every machine). The record it
 * returns is written already, still incomplete. Throws with initdb's own words.
 */
export async function createCluster(
  folder: string,
  binaries: PostgresBinaries,
  identity: Identity | null,
): Promise<ClusterRecord> {
  removeCluster(folder);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const password = (): string => randomBytes(24).toString('base64url');
  const record: ClusterRecord = {
    dataFolder: placeForData(folder, identity),
    superPassword: password(),
    ownerPassword: password(),
    appPassword: password(),
    complete: false,
  };
  recordCluster(folder, record);
  const passwordFile = `${record.dataFolder}.password`;
  writeFileSync(passwordFile, `${record.superPassword}\n`, { mode: 0o600 });
  mkdirSync(record.dataFolder, { recursive: true, mode: 0o700 });
  for (const path of [passwordFile, record.dataFolder]) if (identity !== null) chownSync(path, identity.uid, identity.gid);
  try {
    await runInitdb(binaries.initdb, record.dataFolder, passwordFile, identity);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  return record;
}

/** `folder/data`, or where the postgres user can reach it: one place a checkout, by the hash of the folder's path. */
function placeForData(folder: string, identity: Identity | null): string {
  const absolute = resolve(folder);
  if (identity === null) return join(absolute, 'data');
  chmodSync(absolute, 0o755);
  if (canEnter(absolute, identity)) return join(absolute, 'data');
  return join(reachable(`data-${createHash('sha256').update(absolute).digest('hex').slice(0, 16)}`), 'data');
}

function runInitdb(initdb: string, dataFolder: string, passwordFile: string, identity: Identity | null): Promise<void> {
  const args = [
    `--pgdata=${dataFolder}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  return new Promise((done, fail) => {
    const child = spawn(initdb, args, {
      ...(identity ?? {}),
      cwd: '/',
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', fail);
    child.once('close', (code) => (code === 0 ? done() : fail(new Error(`initdb failed with status ${code}:\n${said.trim()}`))));
  });
}

function recordFile(folder: string): string {
  return join(folder, 'cluster.json');
}
