/**
 * One holder at a time, over all processes of a machine. A lock is a file named by a number that only grows; its text says who holds it, or that
 * nobody does. To take the lock is to make the next file, which one process alone can (`link` fails where the file is there). Nobody ever takes
 * away the file with the highest number, so a process that was asleep sees that it came too late. A holder that died is found by its process id and
 * the time it began.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from '../errors.ts';

const WAIT_MS = 30_000;
const LOOK_MS = 10;

/** Ours, one after the other, before files are asked. */
const queues = new Map<string, Promise<unknown>>();

/** Runs `work` while nobody else holds the lock at `path`. Rejects with `ledger_locked` when it is not free within half a minute. */
export function withLock<T>(path: string, work: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const run = (queues.get(path) ?? Promise.resolve()).then(async () => {
    const release = await take(path, waitMs);
    try {
      return await work();
    } finally {
      release();
    }
  });
  const quiet = run.catch(() => undefined);
  queues.set(path, quiet);
  void quiet.then(() => queues.get(path) === quiet && queues.delete(path));
  return run;
}

async function take(path: string, waitMs: number): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const highest = highestOf(path);
    const holder = highest === 0 ? null : holderOf(`${path}.${highest}`);
    if ((holder === null || !isAlive(holder)) && make(path, highest + 1)) return () => release(path, highest + 1);
    if (performance.now() > deadline) {
      const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
      throw new AgentError('ledger_locked', `The ledger is held by ${who}. If that is gone, remove ${path}.*`);
    }
    await sleep(LOOK_MS);
  }
}

/** True when this process holds number `n` now. */
function make(path: string, n: number): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(
    draft,
    JSON.stringify({ pid: process.pid, began: beganOf(process.pid), host: hostname(), space: spaceOfPids() }),
    { mode: 0o600 },
  );
  try {
    linkSync(draft, `${path}.${n}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const numbers = numbersOf(path);
  // A process that was suspended since it looked makes a number that others have already used and left.
  if (numbers.some((other) => other > n)) {
    rmSync(`${path}.${n}`, { force: true });
    return false;
  }
  for (const older of numbers) if (older < n) rmSync(`${path}.${older}`, { force: true });
  return true;
}

function release(path: string, n: number): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, 'free', { mode: 0o600 });
  renameSync(draft, `${path}.${n}`);
}

interface Holder {
  readonly pid: number;
  readonly began: string;
  readonly host: string;
  /** Where its number means it. */
  readonly space: string;
}

/** Who holds a file; null when nobody does. One that cannot be read is held by somebody. */
function holderOf(file: string): Holder | null {
  try {
    const text = readFileSync(file, 'utf8');
    return text === 'free' ? null : (JSON.parse(text) as Holder);
  } catch {
    return { pid: 0, began: '', host: 'an unknown machine', space: '' };
  }
}

/** Processes of another machine, or of another container of this one, cannot be asked: they are alive. */
function isAlive({ pid, began, host, space }: Holder): boolean {
  if (host !== hostname() || space !== spaceOfPids()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  return began === beganOf(pid);
}

/** When a process began, as Linux tells it, so that a number that was given again is not taken for it; empty elsewhere. */
function beganOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** The space of process ids, as Linux names it: containers that share a name of their machine count processes apart. Empty elsewhere. */
function spaceOfPids(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function numbersOf(path: string): readonly number[] {
  const name = `${basename(path)}.`;
  return readdirSync(dirname(path)).flatMap((file) => {
    const rest = file.startsWith(name) ? file.slice(name.length) : '';
    return /^\d{1,15}$/.test(rest) ? [Number(rest)] : [];
  });
}

function highestOf(path: string): number {
  return Math.max(0, ...numbersOf(path));
}
