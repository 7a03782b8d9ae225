import { execFile } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILD_LIMIT_MS, firstLine, goInstall, isWritable } from './go-install.ts';
import { takeLock } from './lock.ts';
import type { Progress } from './progress.ts';
import { sayWhile } from './progress.ts';

const run = promisify(execFile);

/** The one version of the Temporal CLI this project runs on, and the server inside it. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
export const TEMPORAL_SERVER_VERSION = '1.29.1';

const PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;
const DOWNLOAD_SCRIPT = fileURLToPath(new URL('temporal-download.ts', import.meta.url));

/** Where to look; `bin/` reads these from the environment (`temporalSources`). */
export interface TemporalSources {
  /** `TEMPORAL_ADDRESS`: a server that runs already; nothing is started then. */
  readonly address?: string;
  /** `PATH`. */
  readonly path?: string;
  /** Our cache folders, best first; the first that can be written is where a download or a build goes. */
  readonly cacheFolders: readonly string[];
  /** What a build runs with. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The sources an environment names: `TEMPORAL_ADDRESS`, `PATH`, `XDG_CACHE_HOME` or `HOME`, and last `fallbackFolder`. */
export function temporalSources(environment: NodeJS.ProcessEnv, fallbackFolder: string): TemporalSources {
  const { TEMPORAL_ADDRESS: address, PATH: path, XDG_CACHE_HOME: cache, HOME: home } = environment;
  const folders = [
    ...(cache !== undefined && isAbsolute(cache) ? [cache] : []),
    ...(home !== undefined && isAbsolute(home) ? [join(home, '.cache')] : []),
  ].map((folder) => join(folder, 'content-settlement'));
  return {
    environment,
    ...(address ? { address } : {}),
    ...(path ? { path } : {}),
    cacheFolders: [...folders, fallbackFolder].map((folder) => join(folder, `temporal-${TEMPORAL_CLI_VERSION}`)),
  };
}

/**
 * A `temporal` program of the pinned version: on PATH, in our cache, by the SDK's own download, built by `go install` (about
 * 3 minutes, once; two processes do not build at the same time). Download and build go to the cache.
 * Throws one error that says what each source answered and what to do.
 */
export async function findTemporal(sources: TemporalSources, progress: Progress): Promise<string> {
  const reasons: string[] = [];
  for (const [where, file] of candidates(sources)) {
    const refusal = await refusalOf(file);
    if (refusal === null) return file;
    reasons.push(`${where}: ${refusal}`);
  }
  const folder = sources.cacheFolders.find(isWritable);
  if (folder === undefined) throw notToBeHad([...reasons, `no cache folder can be written (${sources.cacheFolders.join(', ')})`]);
  const release = await takeLock(`${folder}.lock`, {
    waitMs: BUILD_LIMIT_MS,
    onWait: (pid) => progress(`waiting for process ${pid}, which is getting Temporal ${TEMPORAL_CLI_VERSION}`),
  });
  try {
    const cached = join(folder, programName());
    if ((await refusalOf(cached)) === null) return cached;
    for (const get of [download, build]) {
      const file = await get(folder, sources, progress).catch((error: Error) => {
        reasons.push(error.message);
        return null;
      });
      if (file === null) continue;
      const refusal = await refusalOf(file);
      if (refusal === null) {
        renameSync(file, cached);
        for (const left of ['download', 'build', 'go']) rmSync(join(folder, left), { recursive: true, force: true });
        return cached;
      }
      reasons.push(refusal);
    }
  } finally {
    release();
  }
  throw notToBeHad(reasons);
}

function* candidates(sources: TemporalSources): Generator<readonly [string, string]> {
  for (const folder of (sources.path ?? '').split(delimiter)) {
    const file = join(folder, programName());
    if (isAbsolute(folder) && existsSync(file)) yield ['PATH', file];
  }
  for (const folder of sources.cacheFolders) {
    const file = join(folder, programName());
    if (existsSync(file)) yield ['cache', file];
  }
}

function programName(): string {
  return process.platform === 'win32' ? 'temporal.exe' : 'temporal';
}

/** Null for the pinned version. One built by `go install` calls itself 0.0.0-DEV and is known by the server inside it. */
async function refusalOf(file: string): Promise<string | null> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: 20_000 });
    const [, cli, server] = /version v?(\S+) \(Server v?([^,)]+)/.exec(stdout) ?? [];
    const pinned = cli === TEMPORAL_CLI_VERSION || (cli === '0.0.0-DEV' && server === TEMPORAL_SERVER_VERSION);
    return pinned ? null : `${file} is ${stdout.trim()}, needed is ${TEMPORAL_CLI_VERSION} (server ${TEMPORAL_SERVER_VERSION})`;
  } catch (error) {
    return `${file} does not run: ${firstLine(error)}`;
  }
}

/** In a process of its own: the SDK's runtime is one a process, and the sandbox may want its own. */
async function download(folder: string, _sources: TemporalSources, progress: Progress): Promise<string> {
  progress(`getting Temporal ${TEMPORAL_CLI_VERSION}: trying the SDK's download`);
  const target = join(folder, 'download');
  const work = run(process.execPath, [DOWNLOAD_SCRIPT, target, TEMPORAL_CLI_VERSION], { timeout: 180_000 });
  const { stdout } = await sayWhile(progress, (seconds) => `downloading Temporal: ${seconds} s`, work).catch((error: unknown) => {
    throw new Error(`the SDK's download: ${firstLine(error)}`);
  });
  return stdout.trim();
}

async function build(folder: string, { path, environment }: TemporalSources, progress: Progress): Promise<string> {
  const target = await goInstall([PACKAGE], { folder, path, environment, name: `Temporal ${TEMPORAL_CLI_VERSION}`, progress });
  return join(target, programName());
}

function notToBeHad(reasons: readonly string[]): Error {
  const tried = reasons.map((reason) => `  - ${reason}`).join('\n');
  return new Error(
    `Temporal ${TEMPORAL_CLI_VERSION} is not to be had here.\n${tried}\nDo one of these and try again:\n` +
      `  - put the program \`temporal\` ${TEMPORAL_CLI_VERSION} on PATH (https://github.com/temporalio/cli/releases/tag/v${TEMPORAL_CLI_VERSION})\n` +
      `  - install Go, and reach its module proxy: we build it then\n` +
      `  - set TEMPORAL_ADDRESS to the host:port of a Temporal server ${TEMPORAL_SERVER_VERSION} that runs already`,
  );
}
