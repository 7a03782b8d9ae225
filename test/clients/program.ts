/** Runs the program of a client, and writes down what came of it for the table. */
import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scaled } from '../support/patience.ts';
import type { Kits } from './kits.ts';
import { commandOf } from './kits.ts';
import type { HeldClient } from './table.ts';
import { rowOf } from './table.ts';

/** Where `run.ts` installed the kits. */
const FOLDER = process.env['CLIENTS_FOLDER'] ?? '';

/** The file of `FOLDER` that says which kits are here. */
export const KITS_FILE = 'kits.json';
/** The file of `FOLDER` with the clients that bought, a line each, by `rowOf`. */
export const BOUGHT_FILE = 'bought.json';

/** Those of the clients whose kit is here. */
export function runnable(clients: readonly HeldClient[]): readonly HeldClient[] {
  const kits = JSON.parse(readFileSync(join(FOLDER, KITS_FILE), 'utf8')) as Kits;
  return clients.filter(({ kit }) => kits[kit] === null);
}

/** What a program said of a purchase; status 0: its client threw. */
export interface Said {
  readonly status: number;
  readonly page: string;
  /** The receipt's header, base64; empty or null: there was none. */
  readonly receipt: string | null;
}

const run = promisify(execFile);

/** Runs a client's program with a key on pages, and says what came of each. Rejects with what it wrote if it takes over 45 s, or is no program. */
export async function buyWith(
  client: HeldClient,
  { privateKey, env = {} }: { readonly privateKey: string; readonly env?: Readonly<Record<string, string>> },
  ...urls: readonly string[]
): Promise<readonly Said[]> {
  const { command, args, env: own } = commandOf(FOLDER, client);
  const options = {
    cwd: FOLDER,
    timeout: scaled(45_000),
    env: { ...process.env, ...own, ...env, BUYER_PRIVATE_KEY: privateKey },
  };
  const { stdout } = await run(command, [...args, ...urls], options);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Said);
}

/** Remembers that a client bought everything it was asked to. */
export function noteBought(client: HeldClient): void {
  appendFileSync(join(FOLDER, BOUGHT_FILE), `${rowOf(client)}\n`);
}
