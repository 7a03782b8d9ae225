/**
 * The service's image, built from the Dockerfile without a registry: `buildah --isolation chroot`, on two bases made of this
 * machine's own files. They stand in for the images that the Dockerfile names, and hold less than those.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartProcess } from '../../sandbox/parts/processes.ts';
import { startProcess } from '../../sandbox/parts/processes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Why no image can be built and entered here, or null. */
export const whyNoImage = ((): string | null => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can enter a file system';
  const missing = ['buildah', 'unshare', 'chroot', 'ldd'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (missing.length > 0) return `${missing.join(', ')} missing (apt-get install buildah)`;
  return spawnSync('unshare', ['--mount', 'true']).status === 0 ? null : 'no mount namespace can be made';
})();

/** An image that was built, and its file system as it lies on disk. */
export interface BuiltImage {
  /** The folder that is its `/`. */
  readonly root: string;
  readonly config: {
    readonly User: string;
    readonly WorkingDir: string;
    readonly Cmd: readonly string[];
    readonly Env: readonly string[];
  };
  /** Of all files in it, as a registry counts them. */
  readonly bytes: number;
  /** Runs Node in it: as uid 1000, with a root that cannot be written and an empty /tmp, on this machine's network. */
  start(script: string, environment: Readonly<Record<string, string>>, logFile: string): Promise<PartProcess>;
  remove(): void;
}

/** Copies a program with the libraries it is linked to, each to where it is found. */
function copyProgram(base: string, from: string, to = from): void {
  const libraries = execFileSync('ldd', [from], { encoding: 'utf8' }).matchAll(/(?:=> )?(\/\S+) \(0x/g);
  for (const [file, at] of [[from, to], ...[...libraries].map(([, library = '']) => [library, library])] as const) {
    mkdirSync(dirname(join(base, at)), { recursive: true });
    copyFileSync(file, join(base, at));
  }
}

/** Libraries of glibc beside those that Node is linked to; every image with glibc has them. */
const GLIBC = ['librt.so.1', 'libresolv.so.2'];

/** What both bases hold: the libraries of Node, certificates, a name. That of the packages also Node, npm and a shell. */
function makeBase(base: string, parts: { readonly tools: boolean }): void {
  copyProgram(base, process.execPath, '/usr/local/bin/node');
  const libraries = dirname(
    /=> (\/\S+\/libc\.so\.6)/.exec(execFileSync('ldd', [process.execPath], { encoding: 'utf8' }))?.[1] ?? '/lib/',
  );
  for (const name of GLIBC) copyFileSync(join(libraries, name), join(base, libraries, name));
  for (const folder of ['tmp', 'proc', 'dev', 'root']) mkdirSync(join(base, folder), { recursive: true });
  chmodSync(join(base, 'tmp'), 0o1777);
  mkdirSync(join(base, dirname(CERTIFICATES)), { recursive: true });
  if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(base, CERTIFICATES));
  writeFileSync(join(base, 'etc/passwd'), 'root:x:0:0:root:/root:/sbin/nologin\n');
  if (!parts.tools) {
    rmSync(join(base, 'usr/local/bin/node'));
    return;
  }
  for (const program of ['/bin/sh', '/usr/bin/env']) copyProgram(base, program);
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
  cpSync(npm, join(base, 'usr/local/lib/node_modules/npm'), { recursive: true });
  writeFileSync(join(base, 'usr/local/bin/npm'), '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n', {
    mode: 0o755,
  });
}

/** What the packages in the image depend on, and the bases that are made of this machine's Node. */
const INPUTS = ['Dockerfile', 'package.json', 'package-lock.json', '.npmrc', 'deploy/image/prune.mjs', 'test/support/image.ts'];
const KEPT_MS = 7 * 86_400_000;

/** The folder that keeps the image's packages until one of their inputs changes; those of other inputs go after a week. */
function findStore(): string {
  const hash = createHash('sha256').update(process.version);
  for (const input of INPUTS) hash.update(readFileSync(join(ROOT, input)));
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'content-settlement');
  const store = join(cache, `image-${hash.digest('hex').slice(0, 16)}`);
  mkdirSync(store, { recursive: true });
  utimesSync(store, new Date(), new Date());
  for (const name of readdirSync(cache).filter((one) => one.startsWith('image-'))) {
    if (Date.now() - statSync(join(cache, name)).mtimeMs > KEPT_MS) rmSync(join(cache, name), { recursive: true, force: true });
  }
  return store;
}

/** The driver that copies nothing, where this file system carries it. */
function findDriver(folders: readonly string[]): string {
  return spawnSync('buildah', [...folders, '--storage-driver', 'overlay', 'images']).status === 0 ? 'overlay' : 'vfs';
}

/**
 * Builds the target `service` in `folder`, which the caller removes at last. Its packages are installed once for a lock file and
 * kept; all else is made anew. Takes about a minute the first time; throws with buildah's words.
 */
export function buildImage(folder: string): BuiltImage {
  const store = findStore();
  const folders = ['--root', join(store, 'store'), '--runroot', join(tmpdir(), basename(store))];
  const options = [...folders, '--storage-driver', findDriver(folders)];
  const buildah = (...args: string[]): string =>
    execFileSync('nice', ['buildah', ...options, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64_000_000,
    });
  const build = (tag: string, context: string, ...args: string[]): string =>
    buildah('build', '--isolation', 'chroot', '--layers', '--pull-never', '--tag', tag, ...args, context);
  const npmSetting = (name: string): string => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const [registry, cache] = [npmSetting('registry'), npmSetting('cache')];
  for (const name of ['node', 'runtime']) {
    if (buildah('images', '--filter', `reference=localhost/${name}`, '--quiet').trim() !== '') continue;
    const context = join(folder, name);
    makeBase(join(context, 'base'), { tools: name === 'node' });
    const trust = `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES} npm_config_registry=${registry} npm_config_cache=/npm-cache npm_config_prefer_offline=true`;
    writeFileSync(join(context, 'Dockerfile'), `FROM scratch\nCOPY base /\n${name === 'node' ? trust : ''}\n`);
    build(`localhost/${name}`, context);
    rmSync(context, { recursive: true });
  }
  const bases = ['NODE_IMAGE=localhost/node', 'RUNTIME_IMAGE=localhost/runtime'].flatMap((base) => ['--build-arg', base]);
  const volume = ['--volume', `${cache}:/npm-cache`];
  build('localhost/packages', ROOT, '--target', 'packages', ...volume, ...bases);
  const service = `localhost/service:${randomUUID()}`; // another run may build its own in the same store
  build(service, ROOT, '--target', 'service', ...volume, ...bases);
  const container = buildah('from', '--pull-never', service).trim();
  const root = buildah('mount', container).trim();
  const inspected = JSON.parse(buildah('inspect', '--type', 'image', service)) as {
    readonly OCIv1: { readonly config: BuiltImage['config'] };
  };
  return {
    root,
    config: inspected.OCIv1.config,
    bytes: bytesIn(root),
    start: (script, environment, logFile) => enter(root, script, environment, logFile),
    remove: () => {
      buildah('umount', container);
      buildah('rm', container);
      buildah('rmi', service);
    },
  };
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : lstatSync(path).size;
  }
  return bytes;
}

/** One process after the other takes the place of the one before, so that what is started is Node itself at last. */
function enter(
  root: string,
  script: string,
  environment: Readonly<Record<string, string>>,
  logFile: string,
): Promise<PartProcess> {
  const steps = [
    'mount --bind "$1" "$1"',
    'mount -o remount,bind,ro "$1"',
    'mount -t tmpfs tmpfs "$1/tmp"',
    'mount -t proc proc "$1/proc"',
    'exec chroot --userspec=1000:1000 --groups= "$1" /usr/local/bin/node "$2"',
  ];
  return startProcess({
    name: script,
    command: 'unshare',
    args: ['--mount', 'sh', '-ec', steps.join('; '), 'sh', root, `/app/${script}`],
    env: { PATH: process.env['PATH'], ...environment },
    logFile,
    graceMs: 10_000,
  });
}
