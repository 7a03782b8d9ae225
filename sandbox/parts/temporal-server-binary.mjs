import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askVersion, BUILD_LIMIT_MS, findGo, goInstall, isWritable } from './go-install.mjs';
import { sayInLock, takeLock } from './lock.mjs';
import { TEMPORAL_SERVER_VERSION } from './temporal-binary.mjs';

/** @typedef {import('./progress.mjs').Progress} Progress */
/** @typedef {import('./temporal-binary.mjs').TemporalSources} TemporalSources */

/** The programs, by the names `go install` gives them. */
const PROGRAMS = {
  server: `go.temporal.io/server/cmd/server@v${TEMPORAL_SERVER_VERSION}`,
  sql: `go.temporal.io/server/cmd/tools/sql@v${TEMPORAL_SERVER_VERSION}`,
};
/** Of Go's library and of modules, for the lines of progress. */
const PACKAGES = 1_250;

/**
 * The Temporal server as a cluster runs it, and the tool that sets up its schema.
 * @typedef {object} TemporalServerPrograms
 * @property {string} server
 * @property {string} sql
 */

/**
 * The Temporal server and its sql tool of the pinned version: from our cache, or built by `go install` (about 3 minutes, once;
 * two processes do not build at the same time, and the one that waits says how far the other is), since the project publishes no
 * packages of them. Throws an `Error` that says what to do when they can be neither found nor built.
 * @param {TemporalSources} sources
 * @param {Progress} progress
 * @param {number} [nice] How far a build stands back from what runs beside it; not at all unless told.
 * @returns {Promise<TemporalServerPrograms>}
 */
export async function findTemporalServer(sources, progress, nice = 0) {
  const folders = foldersOf(sources);
  for (const folder of folders) if ((await refusalOf(folder)) === null) return programsIn(folder);
  const folder = folders.find(isWritable);
  if (folder === undefined) throw unavailable(`no cache folder can be written (${folders.join(', ')})`);
  const lock = `${folder}.lock`;
  const release = await takeLock(lock, {
    waitMs: BUILD_LIMIT_MS,
    onWait: (pid, said) => progress(said ?? `process ${pid} builds the Temporal server ${TEMPORAL_SERVER_VERSION}`),
  });
  try {
    if ((await refusalOf(folder)) === null) return programsIn(folder);
    const { path, environment } = sources;
    /** @type {Progress} */
    const tell = (line) => {
      sayInLock(lock, `the Temporal server ${TEMPORAL_SERVER_VERSION}: ${line}`);
      progress(line);
    };
    const target = join(folder, 'build');
    for (const wanted of Object.values(PROGRAMS)) {
      await goInstall(wanted, { folder, target, path, environment, packages: PACKAGES, progress: tell, nice }).catch((error) => {
        throw unavailable(error.message);
      });
    }
    const refusal = await refusalOf(target);
    if (refusal !== null) throw unavailable(refusal);
    for (const program of Object.keys(PROGRAMS)) renameSync(join(target, program), join(folder, program));
    for (const left of ['build', 'go']) rmSync(join(folder, left), { recursive: true, force: true });
    return programsIn(folder);
  } finally {
    release();
  }
}

/**
 * Why no Temporal server can be started at once, as a sentence; null when it is in the cache.
 * @param {TemporalSources} sources
 * @returns {Promise<string | null>}
 */
export async function whyNoBuiltTemporalServer(sources) {
  for (const folder of foldersOf(sources)) if ((await refusalOf(folder)) === null) return null;
  return `the Temporal server ${TEMPORAL_SERVER_VERSION} is not built here; \`npm run cluster\` builds it, once, in minutes`;
}

/**
 * Why no Temporal server can be had here, as a sentence; null when it is in the cache or Go could build it.
 * @param {TemporalSources} sources
 * @returns {Promise<string | null>}
 */
export async function whyNoTemporalServer(sources) {
  if ((await whyNoBuiltTemporalServer(sources)) === null) return null;
  if (findGo(sources.path) !== null) return null;
  return `there is no Temporal server ${TEMPORAL_SERVER_VERSION} in the cache and no \`go\` on PATH to build it with`;
}

/**
 * Beside the folders of the command line tool.
 * @param {TemporalSources} sources
 * @returns {string[]}
 */
function foldersOf(sources) {
  return sources.cacheFolders.map((folder) => join(dirname(folder), `temporal-server-${TEMPORAL_SERVER_VERSION}`));
}

/**
 * @param {string} folder
 * @returns {TemporalServerPrograms}
 */
function programsIn(folder) {
  return { server: join(folder, 'server'), sql: join(folder, 'sql') };
}

/**
 * Null when both programs of a folder are of the pinned version.
 * @param {string} folder
 * @returns {Promise<string | null>}
 */
async function refusalOf(folder) {
  for (const file of Object.values(programsIn(folder))) {
    const told = askVersion(file);
    if ('refusal' in told) return told.refusal;
    if (!told.version.includes(` version ${TEMPORAL_SERVER_VERSION}`)) return `${file} is ${told.version}`;
  }
  return null;
}

/** @param {string} reason */
function unavailable(reason) {
  return new Error(
    `The Temporal server ${TEMPORAL_SERVER_VERSION} is not available here: ${reason}.\n` +
      'Install Go (https://go.dev/dl), let it reach its module proxy, and try again: we build the server then.',
  );
}
