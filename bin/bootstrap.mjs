#!/usr/bin/env node
// node bin/bootstrap.mjs <start|test|check|path of a script> [arguments]
// Installs the packages if the lock file says so, then runs the script under a Node that runs TypeScript (24.12 or newer): this
// one if it is new enough, else the one the package `node` brings. Plain JavaScript for any Node from 18 on, no packages.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.install-stamp');
const LOCK = join(ROOT, '.install-lock');
const SCRIPTS = { start: 'bin/sandbox.ts', test: 'bin/test.ts', check: 'bin/check.ts' };
const NEEDED_NODE = [24, 12];

/** For what the person at the keyboard has to mend: told as it stands, without a stack. Thrown, so that locks are released. */
class Refusal extends Error {}

function fail(message) {
  throw new Refusal(message);
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

/**
 * True when the packages are those of the lock file: by our stamp, or, after an install by hand, by npm's own record of what it
 * installed, package for package. Optional ones (those of other platforms) may be absent; whoever needs one says so.
 */
function isInstalled(hash) {
  if (readText(STAMP) === hash) return true;
  const record = readText(join(MODULES, '.package-lock.json'));
  if (record === null) return false;
  const there = JSON.parse(record).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages ?? {};
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    if (path === '' || there[path]?.version === version) continue;
    if (!optional || there[path] !== undefined) return false;
  }
  return true;
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

async function install() {
  if (isInstalled(lockHash()) && !existsSync(LOCK)) return;
  await takeInstallLock();
  try {
    const hash = lockHash();
    if (!isInstalled(hash)) await runNpmCi();
    mkdirSync(MODULES, { recursive: true });
    writeFileSync(`${STAMP}.part`, hash);
    renameSync(`${STAMP}.part`, STAMP);
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

/** Two commands at once: one installs, the other waits. A lock whose owner is gone is taken over. */
async function takeInstallLock() {
  for (let waited = 0; ; waited += 1) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = Number(readText(join(LOCK, 'pid')) ?? 0);
    const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (owner > 0 ? !isAlive(owner) : age > 5_000) rmSync(LOCK, { recursive: true, force: true });
    else if (waited === 10) process.stderr.write('waiting for another command that installs the packages\n');
    await new Promise((done) => setTimeout(done, 200));
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Speaks only when it takes over 2 s; npm's own words are shown if it fails. */
async function runNpmCi() {
  const { command, first } = npm();
  const args = [...first, 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = spawn(command, args, { cwd: ROOT, env: installEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said = (said + text).slice(-20_000);
    });
  const begun = Date.now();
  let timer = setTimeout(function tell() {
    process.stderr.write(`installing packages: ${Math.round((Date.now() - begun) / 1000)} s\n`);
    timer = setTimeout(tell, 5_000);
  }, 2_000);
  const forward = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
  const code = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (status, signal) => done(status ?? signal));
  });
  clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
  if (code !== 0)
    fail(`${said.split('\n').slice(0, 40).join('\n').trim()}\nnpm ci failed (${code}): the packages are not installed`);
}

/** The npm that runs us, if one does; else that of PATH. */
function npm() {
  const script = process.env.npm_execpath;
  if (script?.endsWith('npm-cli.js') && existsSync(script)) return { command: outsideNode(), first: [script] };
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', first: [] };
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

function isNewEnough(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
}

/** This Node, one on PATH, or the package's; the first that is new enough. */
function findNode() {
  if (isNewEnough(process.version)) return process.execPath;
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const file of [...new Set([...onPath, join(MODULES, '.bin', 'node'), join(MODULES, 'node', 'bin', 'node')])]) {
    if (!existsSync(file)) continue;
    const { status, stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
    if (status === 0 && isNewEnough(stdout.trim())) return file;
  }
  return fail(
    `Node ${NEEDED_NODE.join('.')} or newer is needed; this is ${process.version}, and the package \`node\` brought none ` +
      '(its install script may have been refused). Install Node 24, or run `npm rebuild node`.',
  );
}

/**
 * Runs the script with our terminal, forwards signals, and ends as it ends. The channel between us tells it when we are gone in
 * a way that sends no signal; in the same way we watch the npm that started us.
 */
function runScript(node, script, args) {
  const child = spawn(node, [script, ...args], { cwd: ROOT, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid;
    setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1_000).unref();
  }
  child.once('error', (error) => refuse(new Refusal(`cannot run ${node}: ${error.message}`)));
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(1), 100);
  });
}

function refuse(error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error.stack}\n`);
  process.exit(1);
}

async function main([name, ...args]) {
  if (name === undefined) fail('usage: node bin/bootstrap.mjs <start|test|check|script> [arguments]');
  const script = join(ROOT, SCRIPTS[name] ?? name);
  if (!existsSync(script)) fail(`${name}: there is no ${script}`);
  await install();
  runScript(findNode(), script, args);
}

main(process.argv.slice(2)).catch(refuse);
