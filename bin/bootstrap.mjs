#!/usr/bin/env node
// node bin/bootstrap.mjs <start|test|check|path of a script> [arguments]
// Installs the packages that it needs if the lock file says so, and gets Temporal beside them, then runs the script under a Node that runs
// TypeScript (24.12 or newer): this one if it is new enough, else the one the package `node` brings. Plain JavaScript for any Node from 18
// on, no packages.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { START_HELP } from '../sandbox/help.mjs';
import { createLine, createWaits } from '../sandbox/parts/progress.mjs';
import { findTemporal, TEMPORAL_CLI_VERSION, temporalSources } from '../sandbox/parts/temporal-binary.mjs';
import { findTemporalServer } from '../sandbox/parts/temporal-server-binary.mjs';
import { installPackages, MODULES, ROOT } from '../tools/installPackages.mjs';

const SCRIPTS = { start: 'bin/sandbox.ts', test: 'tools/test.ts', check: 'tools/check.ts' };
/** What needs no package of development. */
const LIGHT = ['start', 'bin/admin.ts'];
/** What starts Temporal's server of development. */
const WITH_TEMPORAL = ['start', 'test', 'bench/run.ts'];
/** What starts a cluster, whose Temporal server is another program: the slow tests do, and the cluster itself. */
const withServer = (name, args) => name === 'bin/cluster.ts' || (name === 'test' && args.includes('--slow'));
/** How far a build stands back from what runs beside it. */
const BEHIND = 10;
const NEEDED_NODE = [24, 12];

/** For what the person at the keyboard has to mend: told as it stands, without a stack. */
class Refusal extends Error {}

function fail(message) {
  throw new Refusal(message);
}

/**
 * Gets what the script needs, at the same time: the packages, which it waits for, and a Temporal server, which the script itself waits for,
 * by the lock beside it. The one that fails for Temporal is told by the script, which tries once more.
 */
async function prepare(name, args) {
  const line = createLine(process.stderr);
  const waits = createWaits(line.show);
  getTemporal(name, args, waits).catch(() => undefined);
  const extent = LIGHT.includes(name) ? 'start' : 'all';
  try {
    await waits.until('packages', (say) => installPackages(extent, say));
  } catch (error) {
    fail(error.message);
  } finally {
    waits.end();
    line.clear();
  }
}

/**
 * One program after the other: they are mostly the same packages. The second is built while the script runs, which comes first with the processors
 * and waits for it by its lock, so that nothing is shown of it here.
 */
async function getTemporal(name, args, waits) {
  const sources = temporalSources(process.env, join(ROOT, '.sandbox', 'cache'));
  if (WITH_TEMPORAL.includes(name) && !process.env.TEMPORAL_ADDRESS)
    await waits.until(`Temporal ${TEMPORAL_CLI_VERSION}`, (say) => findTemporal(sources, say));
  if (withServer(name, args)) await findTemporalServer(sources, () => undefined, BEHIND);
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
  // Compiled code is kept from one process to the next, by Node's version and each file's text.
  const env = {
    NODE_COMPILE_CACHE: join(MODULES, '.cache', 'node'),
    ...process.env,
    NODE_OPTIONS: withSource(process.env.NODE_OPTIONS),
  };
  const child = spawn(node, [script, ...args], { cwd: ROOT, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
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

/** Packages of this repository are run from their source, by a condition that no other package has; installed ones are compiled. */
function withSource(options = '') {
  return options.includes('--conditions=settlement-source') ? options : `${options} --conditions=settlement-source`.trim();
}

function refuse(error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error.stack}\n`);
  process.exit(1);
}

/** Has Go build Temporal where nothing else has it; for every command that starts one. */
const BUILD_FLAG = '--build-temporal';

async function main([name, ...words]) {
  const args = words.filter((word) => word !== BUILD_FLAG);
  if (args.length < words.length) process.env.BUILD_TEMPORAL = 'true';
  if (name === undefined) fail('usage: node bin/bootstrap.mjs <start|test|check|script> [arguments]');
  if (name === 'start' && args.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(START_HELP);
    return;
  }
  const script = join(ROOT, SCRIPTS[name] ?? name);
  if (!existsSync(script)) fail(`${name}: there is no ${script}`);
  await prepare(name, args);
  runScript(findNode(), script, args);
}

main(process.argv.slice(2)).catch(refuse);
