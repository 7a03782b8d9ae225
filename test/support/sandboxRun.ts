/** The sandbox as `npm start` runs it, in a folder of a test, on ports that nobody else has. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/sandbox.ts', import.meta.url));
/** Every port the sandbox listens on: any that is free. */
export const ANY_PORT = Object.fromEntries(
  ['PORT', 'PUBLISHER_PORT', 'SINK_PORT', 'SITE_PORT', 'POSTGRES_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'CHAIN_PORT'].map(
    (name) => [name, '0'],
  ),
);

/** A run of the sandbox. */
export interface SandboxRun {
  readonly child: ChildProcess;
  /** Its exit code, once it and its streams have ended. */
  readonly ended: Promise<number | null>;
  /** Everything it said until now. */
  output(): string;
  /** What of it went to the standard output. */
  printed(): string;
}

/** Starts it as the leader of a process group of its own. Its `sandbox.json` is there once it has begun. */
export function startSandbox(folder: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): SandboxRun {
  const child = spawn(process.execPath, [PROGRAM, '--folder', folder, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TEMPORAL_ADDRESS: '', ...ANY_PORT, ...environment },
  });
  let said = '';
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString('utf8')));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, ended, output: () => said, printed: () => printed };
}

/** Resolves once it has begun; rejects with what it said when it ends before. */
export async function hasBegun(run: SandboxRun, folder: string): Promise<void> {
  while (!existsSync(join(folder, 'sandbox.json'))) {
    if (run.child.exitCode !== null) throw new Error(run.output());
    await sleep(100);
  }
}
