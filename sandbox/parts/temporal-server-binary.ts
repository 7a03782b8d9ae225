import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askVersion, BUILD_LIMIT_MS, findGo, goInstall, isWritable } from './go-install.mjs';
import { takeLock } from './lock.mjs';
import type { Progress } from './progress.mjs';
import type { TemporalSources } from './temporal-binary.mjs';
import { TEMPORAL_SERVER_VERSION } from './temporal-binary.mjs';

/** The programs, by the names `go install` gives them. */
const PROGRAMS = {
  server: `go.temporal.io/server/cmd/server@v${TEMPORAL_SERVER_VERSION}`,
  sql: `go.temporal.io/server/cmd/tools/sql@v${TEMPORAL_SERVER_VERSION}`,
} as const;
/** Of Go's library and of modules, for the lines of progress. */
const PACKAGES = 1_250;

/** The Temporal server as a cluster runs it, and the tool that sets up its schema. */
export interface TemporalServerPrograms {
  readonly server: string;
  readonly sql: string;
}

/**
 * The Temporal server and its sql tool of the pinned version: from our cache, or built by `go install` (about 3 minutes, once;
 * two processes do not build at the same time), since the project publishes no packages of them. Throws an `Error` that says
 * what to do when they can be neither found nor built.
 */
export async function findTemporalServer(sources: TemporalSources, progress: Progress): Promise<TemporalServerPrograms> {
  const folders = foldersOf(sources);
  for (const folder of folders) if ((await refusalOf(folder)) === null) return programsIn(folder);
  const folder = folders.find(isWritable);
  if (folder === undefined) throw notToBeHad(`no cache folder can be written (${folders.join(', ')})`);
  const release = await takeLock(`${folder}.lock`, {
    waitMs: BUILD_LIMIT_MS,
    onWait: (pid) => progress(`process ${pid} builds the Temporal server ${TEMPORAL_SERVER_VERSION}`),
  });
  try {
    if ((await refusalOf(folder)) === null) return programsIn(folder);
    const { path, environment } = sources;
    const target = join(folder, 'build');
    for (const wanted of Object.values(PROGRAMS)) {
      await goInstall(wanted, { folder, target, path, environment, packages: PACKAGES, progress }).catch((error: Error) => {
        throw notToBeHad(error.message);
      });
    }
    const refusal = await refusalOf(target);
    if (refusal !== null) throw notToBeHad(refusal);
    for (const program of Object.keys(PROGRAMS)) renameSync(join(target, program), join(folder, program));
    for (const left of ['build', 'go']) rmSync(join(folder, left), { recursive: true, force: true });
    return programsIn(folder);
  } finally {
    release();
  }
}

/** Why no Temporal server can be started at once, as a sentence; null when it is in the cache. */
export async function whyNoBuiltTemporalServer(sources: TemporalSources): Promise<string | null> {
  for (const folder of foldersOf(sources)) if ((await refusalOf(folder)) === null) return null;
  return `the Temporal server ${TEMPORAL_SERVER_VERSION} is not built here; \`npm run cluster\` builds it, once, in minutes`;
}

/** Why no Temporal server can be had here, as a sentence; null when it is in the cache or Go could build it. */
export async function whyNoTemporalServer(sources: TemporalSources): Promise<string | null> {
  if ((await whyNoBuiltTemporalServer(sources)) === null) return null;
  if (findGo(sources.path) !== null) return null;
  return `there is no Temporal server ${TEMPORAL_SERVER_VERSION} in the cache and no \`go\` on PATH to build it with`;
}

/** Beside the folders of the command line tool. */
function foldersOf(sources: TemporalSources): string[] {
  return sources.cacheFolders.map((folder) => join(dirname(folder), `temporal-server-${TEMPORAL_SERVER_VERSION}`));
}

function programsIn(folder: string): TemporalServerPrograms {
  return { server: join(folder, 'server'), sql: join(folder, 'sql') };
}

/** Null when both programs of a folder are of the pinned version. */
async function refusalOf(folder: string): Promise<string | null> {
  for (const file of Object.values(programsIn(folder))) {
    const told = askVersion(file);
    if ('refusal' in told) return told.refusal;
    if (!told.version.includes(` version ${TEMPORAL_SERVER_VERSION}`)) return `${file} is ${told.version}`;
  }
  return null;
}

function notToBeHad(reason: string): Error {
  return new Error(
    `The Temporal server ${TEMPORAL_SERVER_VERSION} is not to be had here: ${reason}.\n` +
      'Install Go (https://go.dev/dl), let it reach its module proxy, and try again: we build the server then.',
  );
}
