import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { Progress } from './progress.ts';
import { sayWhile } from './progress.ts';

const run = promisify(execFile);

/** How long a build may take, in milliseconds; whoever waits for another process's build waits as long. */
export const BUILD_LIMIT_MS = 20 * 60_000;

/** Where a build runs. */
export interface GoOptions {
  /** Of the caller's own; `build` and `go` below it are ours to write, and the caller's to remove. */
  readonly folder: string;
  /** `PATH`; `/usr/local/go/bin` is looked at as well. */
  readonly path: string | undefined;
  /** What the build runs with. */
  readonly environment: NodeJS.ProcessEnv;
  /** What is built, for the lines of progress: `Temporal 1.5.1`. */
  readonly name: string;
  readonly progress: Progress;
}

/**
 * Builds programs by `go install` (about 3 minutes for a Temporal on two cores) and returns the folder they are in. Throws an
 * `Error` of one line when there is no Go here, and with Go's last line when the build fails. A second call builds again, fast
 * where Go's own cache is warm.
 */
export async function goInstall(packages: readonly string[], options: GoOptions): Promise<string> {
  const { folder, name, progress } = options;
  const go = findGo(options.path);
  if (go === null) throw new Error('go install: no `go` on PATH');
  progress(`building ${name} with go install (about 3 minutes, once)`);
  const target = join(folder, 'build');
  rmSync(target, { recursive: true, force: true });
  const environment = { ...options.environment, ...goFolders(folder, options.environment), GOBIN: target };
  for (const wanted of packages) {
    const work = run(go, ['install', wanted], { env: environment, timeout: BUILD_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
    await sayWhile(progress, (seconds) => `building ${name}: ${seconds} s of about 3 minutes`, work).catch((error: unknown) => {
      throw new Error(`go install: ${lastLine(error)}`);
    });
  }
  return target;
}

/** The `go` program; null when there is none. */
export function findGo(path: string | undefined): string | null {
  const places = [...(path ?? '').split(delimiter), '/usr/local/go/bin'].map((place) => join(place, 'go'));
  return places.find((file) => isAbsolute(file) && existsSync(file)) ?? null;
}

/** Whether files can be made in a folder; it is made if it is not there. */
export function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first line of what a program that failed wrote to its error stream, else of the error. */
export function firstLine(error: unknown): string {
  return outputOf(error).split('\n')[0] ?? '';
}

function lastLine(error: unknown): string {
  return outputOf(error).split('\n').at(-1) ?? '';
}

function outputOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).trim();
}

/** Go's caches in our folder for a user without a home; else Go's own, which may hold what it needs already. */
function goFolders(folder: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const home = environment['HOME'];
  if (home !== undefined && isWritable(home)) return {};
  return { GOPATH: join(folder, 'go'), GOCACHE: join(folder, 'go', 'cache'), GOFLAGS: '-modcacherw' };
}
