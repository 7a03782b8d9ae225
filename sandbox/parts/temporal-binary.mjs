import { execFile } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { askVersion, BUILD_LIMIT_MS, goInstall, isWritable } from './go-install.mjs';
import { sayInLock, takeLock } from './lock.mjs';

/** @typedef {import('./progress.mjs').Progress} Progress */

const run = promisify(execFile);

/** The one version of the Temporal CLI this project runs on, and the server inside it. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
export const TEMPORAL_SERVER_VERSION = '1.29.1';

/** Where Temporal's SDKs download their server of development from. */
const DOWNLOADS = 'https://temporal.download';
const ANSWER_LIMIT_MS = 10_000;
const DOWNLOAD_LIMIT_MS = 180_000;
const PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;
/** Of Go's library and of modules, for the lines of progress. */
const PACKAGES = 1_298;

/**
 * Where to look; `bin/` reads these from the environment (`temporalSources`).
 * @typedef {object} TemporalSources
 * @property {string} [address] `TEMPORAL_ADDRESS`: a server that runs already; nothing is started then.
 * @property {string} [path] `PATH`.
 * @property {string} [downloads] Where it is downloaded from; Temporal's own place unless told.
 * @property {readonly string[]} cacheFolders Our cache folders, best first; the first that can be written is where a download or a build goes.
 * @property {NodeJS.ProcessEnv} environment What a build runs with.
 */

/**
 * The sources an environment names: `TEMPORAL_ADDRESS`, `PATH`, `XDG_CACHE_HOME` or `HOME`, and last `fallbackFolder`.
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} fallbackFolder
 * @returns {TemporalSources}
 */
export function temporalSources(environment, fallbackFolder) {
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
 * A `temporal` program of the pinned version: on PATH, in our cache, downloaded as Temporal's SDKs do, or built by Go (minutes, once). Needs
 * no package, so that it can be got while those are installed; two processes do not get it at the same time, and the one that waits says how
 * far the other is. Throws one error that says what each source answered and what to do.
 * @param {TemporalSources} sources
 * @param {Progress} progress
 * @returns {Promise<string>}
 */
export async function findTemporal(sources, progress) {
  /** @type {string[]} */
  const reasons = [];
  for (const [where, file] of candidates(sources)) {
    const refusal = refusalOf(file);
    if (refusal === null) return file;
    reasons.push(`${where}: ${refusal}`);
  }
  const folder = sources.cacheFolders.find(isWritable);
  if (folder === undefined)
    throw unavailable([...reasons, `no cache folder can be written (${sources.cacheFolders.join(', ')})`]);
  const lock = `${folder}.lock`;
  const release = await takeLock(lock, {
    waitMs: BUILD_LIMIT_MS,
    onWait: (pid, said) => progress(said ?? `waiting for process ${pid}, which is getting it`),
  });
  try {
    const cached = join(folder, programName());
    if (refusalOf(cached) === null) return cached;
    /** @type {Progress} */
    const tell = (line) => {
      sayInLock(lock, line);
      progress(line);
    };
    for (const get of [download, build]) {
      const file = await get(folder, sources, tell).catch((/** @type {Error} */ error) => void reasons.push(error.message));
      const refusal = file === undefined ? null : refusalOf(file);
      if (file !== undefined && refusal === null) {
        renameSync(file, cached);
        for (const left of ['download', 'build', 'go']) rmSync(join(folder, left), { recursive: true, force: true });
        return cached;
      }
      if (refusal !== null) reasons.push(refusal);
    }
  } finally {
    release();
  }
  throw unavailable(reasons);
}

/** @param {TemporalSources} sources */
function candidates(sources) {
  const onPath = (sources.path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const all = [...onPath.map((folder) => ['PATH', folder]), ...sources.cacheFolders.map((folder) => ['cache', folder])];
  return all.map(([where, folder = '']) => [where, join(folder, programName())]).filter(([, file = '']) => existsSync(file));
}

function programName() {
  return process.platform === 'win32' ? 'temporal.exe' : 'temporal';
}

/**
 * Null for the pinned version. One built by Go calls itself 0.0.0-DEV and is known by the server inside it.
 * @param {string} file
 */
function refusalOf(file) {
  const told = askVersion(file);
  if ('refusal' in told) return told.refusal;
  const [, cli, server] = /version v?(\S+) \(Server v?([^,)]+)/.exec(told.version) ?? [];
  const pinned = cli === TEMPORAL_CLI_VERSION || (cli === '0.0.0-DEV' && server === TEMPORAL_SERVER_VERSION);
  return pinned ? null : `${file} is ${told.version}, needed is ${TEMPORAL_CLI_VERSION} (server ${TEMPORAL_SERVER_VERSION})`;
}

/**
 * What the SDK's own download does, without the SDK, which is one of the packages.
 * @param {string} folder
 * @param {TemporalSources} sources
 * @param {Progress} progress
 */
async function download(folder, { downloads = DOWNLOADS }, progress) {
  progress('asking for the download');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const question = `${downloads}/cli/v${TEMPORAL_CLI_VERSION}?arch=${arch}&platform=${process.platform}&format=tar.gz`;
  const target = join(folder, 'download');
  try {
    const answer = await fetch(question, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    if (!answer.ok) throw new Error(`${downloads} answers ${answer.status}`);
    const { archiveUrl, fileToExtract } = /** @type {{ archiveUrl: string, fileToExtract: string }} */ (await answer.json());
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    const archive = join(target, 'archive.tar.gz');
    await fetchFile(archiveUrl, archive, progress);
    await run('tar', ['-xzf', archive, '-C', target, '--', fileToExtract]);
    return join(target, fileToExtract);
  } catch (error) {
    const { message, cause } = /** @type {Error & { cause?: Error }} */ (error);
    throw new Error(`download: ${[message, cause?.message].filter(Boolean).join(': ').split('\n')[0]}`);
  }
}

/**
 * @param {string} url
 * @param {string} file
 * @param {Progress} progress
 */
async function fetchFile(url, file, progress) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_LIMIT_MS) });
  if (!answer.ok || answer.body === null) throw new Error(`${new URL(url).host} answers ${answer.status}`);
  const size = Number(answer.headers.get('content-length') ?? 0);
  let bytes = 0;
  const counted = Readable.fromWeb(/** @type {import('node:stream/web').ReadableStream} */ (answer.body)).on('data', (chunk) => {
    bytes += chunk.length;
    progress(`downloading, ${Math.round(bytes / 1e6)}${size > 0 ? ` of ${Math.round(size / 1e6)}` : ''} MB`);
  });
  await pipeline(counted, createWriteStream(file));
}

/**
 * @param {string} folder
 * @param {TemporalSources} sources
 * @param {Progress} progress
 */
async function build(folder, { path, environment }, progress) {
  const target = join(folder, 'build');
  rmSync(target, { recursive: true, force: true });
  await goInstall(PACKAGE, { folder, target, path, environment, packages: PACKAGES, progress });
  return join(target, programName());
}

/** @param {readonly string[]} reasons */
function unavailable(reasons) {
  const tried = reasons.map((reason) => `  - ${reason}`).join('\n');
  return new Error(
    `Temporal ${TEMPORAL_CLI_VERSION} is not available here.\n${tried}\nDo one of these and try again:\n` +
      `  - put the program \`temporal\` ${TEMPORAL_CLI_VERSION} on PATH\n` +
      `    (https://github.com/temporalio/cli/releases/tag/v${TEMPORAL_CLI_VERSION})\n` +
      `  - install Go, and reach its module proxy: we build it then\n` +
      `  - set TEMPORAL_ADDRESS to the host:port of a Temporal server\n    ${TEMPORAL_SERVER_VERSION} that runs already`,
  );
}
