import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText, takeLock } from '../sandbox/parts/lock.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
export const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.install-stamp');
const LOCK_FILE = join(ROOT, 'package-lock.json');
const LOCK = join(ROOT, '.install-lock');
const LOCK_LIMIT_MS = 20 * 60_000;
const STOP_MS = 1_000;

/**
 * What is installed: `start` is what the service and the parts beside it need (dependencies and peerDependencies), `all` that and the
 * packages of development.
 * @typedef {'start' | 'all'} Extent
 */

/**
 * Sees to it that the packages of the lock file are there. What is there already stays: `all` after `start` adds what is missing, `start`
 * after `all` changes nothing, so that a sandbox that runs keeps its packages. Two commands at once: one installs, the other waits.
 * Throws an `Error` with npm's own words if it fails.
 * @param {Extent} extent
 * @param {import('../sandbox/parts/progress.mjs').Progress} progress
 */
export async function installPackages(extent, progress) {
  if (missingOf(extent) === null && !existsSync(LOCK)) return;
  const onWait = (/** @type {number} */ pid) => progress(`process ${pid} installs them`);
  const release = await takeLock(LOCK, { waitMs: LOCK_LIMIT_MS, onWait });
  try {
    const missing = missingOf(extent);
    if (missing === null) return;
    await runNpm(missing === 'everything' ? ['ci'] : ['install', '--no-save'], extent, progress);
    mkdirSync(MODULES, { recursive: true });
    writeFileSync(`${STAMP}.part`, `${lockHash()} ${extent}`);
    renameSync(`${STAMP}.part`, STAMP);
  } finally {
    release();
  }
}

function lockHash() {
  return createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex');
}

/**
 * What lacks: null for nothing, `development` when the rest is there. By our stamp, or, after an install by hand, by npm's own record of
 * what it installed, package for package. Optional ones (those of other platforms) may be absent; the code that needs one says so.
 * @param {Extent} extent
 * @returns {null | 'development' | 'everything'}
 */
function missingOf(extent) {
  const [hash, installed] = (readText(STAMP) ?? '').split(' ');
  const isStamped = hash === lockHash();
  if (isStamped && (installed === 'all' || extent === 'start')) return null;
  const record = readText(join(MODULES, '.package-lock.json'));
  if (record === null) return 'everything';
  const there = JSON.parse(record).packages ?? {};
  const wanted = Object.entries(lockedPackages()).filter(([path]) => path !== '');
  const lacks = ([path, { version, optional, devOptional }]) =>
    there[path]?.version !== version && (!(optional || devOptional) || there[path] !== undefined);
  const lacking = wanted.filter(lacks);
  if (lacking.length === 0) return null;
  if (!lacking.every(([path, { dev, devOptional }]) => (dev || devOptional) && there[path] === undefined)) return 'everything';
  return extent === 'start' ? null : 'development';
}

/**
 * @param {readonly string[]} command
 * @param {Extent} extent
 * @param {import('../sandbox/parts/progress.mjs').Progress} progress
 */
async function runNpm(command, extent, progress) {
  const { program, first } = npm();
  const extents = [extent === 'all' ? '--include=dev' : '--omit=dev', '--include=optional', '--include=peer'];
  const quiet = ['--no-audit', '--no-fund', '--loglevel=http', '--no-progress'];
  const args = [...first, ...command, ...extents, ...quiet, '--no-legacy-peer-deps'];
  const child = spawn(program, args, { cwd: ROOT, env: installEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let fetched = 0;
  const total = countOf(extent);
  progress('asking npm');
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      for (const line of text.split('\n')) {
        if (!/^npm http /.test(line)) said = `${said}${line}\n`.slice(-20_000);
        else if (/^npm http fetch .*\.tgz /.test(line)) progress(`${++fetched} of ${total}`);
      }
    });
  }
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    progress('stopping');
    child.kill(signal);
    setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref(); // npm puts a first signal off
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
  const code = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (status, signal) => done(status ?? signal));
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
  if (code === 0) return;
  const told = said.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('npm warn'));
  const words = told.slice(0, 40).join('\n').trim();
  throw new Error(`${words}\nnpm ${command[0]} failed (${code}): the packages are not installed`);
}

/** About how many packages npm will fetch on this machine. */
function countOf(extent) {
  const suits = (names, own) => names === undefined || names.includes(own);
  const wanted = Object.entries(lockedPackages()).filter(
    ([path, { dev, os, cpu }]) =>
      path !== '' && (extent === 'all' || !dev) && suits(os, process.platform) && suits(cpu, process.arch),
  );
  return wanted.length;
}

function lockedPackages() {
  return JSON.parse(readFileSync(LOCK_FILE, 'utf8')).packages ?? {};
}

/** The npm that runs us, if one does; else that of PATH. */
function npm() {
  const script = process.env.npm_execpath;
  if (script?.endsWith('npm-cli.js') && existsSync(script)) return { program: outsideNode(), first: [script] };
  return { program: process.platform === 'win32' ? 'npm.cmd' : 'npm', first: [] };
}

/** A Node outside node_modules, which npm ci removes before it fills it again. */
function outsideNode() {
  const candidates = [process.env.npm_node_execpath, process.execPath];
  return candidates.find((file) => file && existsSync(file) && !resolve(file).startsWith(MODULES)) ?? process.execPath;
}

function installEnvironment() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !resolve(folder).startsWith(MODULES));
  return { ...process.env, PATH: path.join(delimiter) };
}
