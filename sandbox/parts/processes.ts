import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { unwatch, watch } from './watchdog.ts';

/** What to run. Output goes to `logFile` (appended); the process is the leader of a group of its own. */
export interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** User and group to run as; only root may set them. */
  readonly identity?: { readonly uid: number; readonly gid: number };
  /** The signal it stops best by; SIGTERM unless told. */
  readonly stopSignal?: NodeJS.Signals;
  /** How long it may take to stop before it is killed; 8 s unless told. */
  readonly graceMs?: number;
}

/** A running part. */
export interface PartProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Settles when the process is gone; never rejects. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  isRunning(): boolean;
  /** The last lines it wrote, for an error text. */
  tail(lines?: number): string;
  /** Ends the whole group: the stop signal, and SIGKILL after the grace. A second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts a process in a group of its own (Ctrl-C does not reach it; we stop it in order), under the watchdog, so that it does
 * not outlive this process even if that is killed. Throws an `Error` that names the command if it cannot be run at all.
 */
export async function startProcess(options: ProcessOptions): Promise<PartProcess> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a', 0o600);
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', log, log],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.identity ?? {}),
  });
  closeSync(log);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new Error(`${options.name}: cannot run ${options.command}: ${cause.message}`, { cause })),
    );
  });
  const pid = child.pid as number;
  watch(pid, stopSignal);
  child.unref();
  let running = true;
  let stopping: Promise<void> | null = null;
  const exited: PartProcess['exited'] = new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      running = false;
      // What the leader leaves behind in its group goes with it.
      signalGroup(pid, 'SIGKILL');
      unwatch(pid);
      resolve({ code, signal });
    });
  });
  const stop = async (): Promise<void> => {
    if (!running) return;
    child.ref();
    signalGroup(pid, stopSignal);
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.graceMs ?? 8_000);
    await exited;
    clearTimeout(timer);
  };
  return {
    name: options.name,
    pid,
    logFile: options.logFile,
    exited,
    isRunning: () => running,
    tail: (lines = 20) => tailOf(options.logFile, lines),
    stop: () => (stopping ??= stop()),
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** The last lines; before them the reason of a Go program that gave up, whose stack is longer than they are. */
function tailOf(file: string, lines: number): string {
  try {
    const all = readFileSync(file, 'utf8').trimEnd().split('\n');
    const reason = all.slice(0, -lines).findLast((line) => /^(?:panic|fatal error): /.test(line));
    return [...(reason === undefined ? [] : [reason]), ...all.slice(-lines)].join('\n');
  } catch {
    return '';
  }
}

/**
 * Asks `probe` every 50 ms until it answers without throwing, and returns its answer. Throws at once, with the part's last
 * output, when the process ends before that, and after `timeoutMs`.
 */
export async function untilReady<T>(part: PartProcess, probe: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await probe();
    } catch (cause) {
      if (!part.isRunning()) throw new Error(`${part.name} ended while starting:\n${part.tail()}`, { cause });
      if (performance.now() > deadline) {
        throw new Error(`${part.name} did not answer within ${timeoutMs} ms:\n${part.tail()}`, { cause });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
