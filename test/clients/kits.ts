/**
 * The kits that the clients come in, installed into a folder: packages of npm, of PyPI, of Go. A kit that cannot be had here is named with the
 * reason, and its clients do not run; whatever else fails is an error. Each installation ends after 100 s at most.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npm, whyNpmIsAway } from '../support/registries.ts';
import type { HeldClient, Kit } from './table.ts';
import { CLOUDFLARE, PAGE_BUYERS, SUPERTAB, SUPERTAB_PYTHON } from './table.ts';

/** Why a kit is not here; null: it is. */
export type Kits = Readonly<Record<Kit, string | null>>;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LIMIT_MS = 100_000;
const run = promisify(execFile);

/** What pip and Go say when a registry is away, does not have something, or wants a newer runtime than there is. */
const PIP_AWAY =
  /No matching distribution|Temporary failure|ConnectionError|NewConnectionError|Max retries|timed out|HTTP error|ensurepip/i;
const GO_AWAY = /\b(403|404|410) |dial tcp|no such host|i\/o timeout|connection refused|requires go >=|toolchain not available/i;

/** Installs every kit at once into a folder that is empty. */
export async function installKits(folder: string): Promise<Kits> {
  cpSync(join(HERE, 'buyers'), join(folder, 'buyers'), { recursive: true });
  const installingNode = installed(() => installNode(folder), whyNpmIsAway);
  const [node, python, go, goX402, supertab, supertabPython] = await Promise.all([
    installingNode,
    installed(() => installPython(folder), whyAway('Python 3 with venv', PIP_AWAY)),
    installed(() => buildGo(folder, 'go'), whyAway('Go', GO_AWAY)),
    installed(() => buildGo(folder, 'go-x402'), whyAway('Go', GO_AWAY)),
    installingNode.then((why) => why ?? installed(() => installSupertab(folder), whyNpmIsAway)),
    installed(() => installSupertabPython(folder), whyAway('Python 3.12 with venv', PIP_AWAY)),
  ]);
  return { node, python, go, 'go-x402': goX402, supertab, 'supertab-python': supertabPython };
}

async function installed(install: () => Promise<void>, why: (error: unknown) => string | null): Promise<string | null> {
  try {
    await install();
    return null;
  } catch (error) {
    if ((error as { killed?: boolean }).killed === true) return `not installed within ${LIMIT_MS / 1_000} s`;
    const reason = why(error);
    if (reason === null) throw error;
    return reason;
  }
}

function whyAway(tool: string, away: RegExp): (error: unknown) => string | null {
  return (error) => {
    const { code, stderr = '', stdout = '' } = error as { code?: unknown; stderr?: string; stdout?: string };
    if (code === 'ENOENT') return `there is no ${tool} here`;
    const line = `${stderr}\n${stdout}`.split('\n').find((text) => away.test(text));
    return line === undefined ? null : `not available from its registry here (${line.trim().slice(-80)})`;
  };
}

/** Packages of npm. Cloudflare's is unpacked as it is and without its peers, of which its payment client needs those beside it alone. */
async function installNode(folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), readFileSync(join(HERE, 'installed.json')));
  await npm(folder, ['install', '--no-audit', '--no-fund', '--ignore-scripts'], LIMIT_MS);
  await unpack(folder, CLOUDFLARE);
}

/** Puts a package among those of npm as it was published, with nothing that it depends on. `from`: a folder that has it, instead of the registry. */
async function unpack(
  folder: string,
  { name, version, from = `${name}@${version}` }: { readonly name: string; readonly version: string; readonly from?: string },
): Promise<void> {
  const there = join(folder, 'packed', name);
  mkdirSync(there, { recursive: true });
  await npm(folder, ['pack', from, '--ignore-scripts', '--pack-destination', there], LIMIT_MS);
  const tarball = readdirSync(there).find((file) => file.endsWith('.tgz')) ?? '';
  await run('tar', ['-xzf', tarball], { cwd: there, timeout: LIMIT_MS });
  const found = JSON.parse(readFileSync(join(there, 'package/package.json'), 'utf8')).version;
  if (found !== version) throw new Error(`${name} is here in version ${found}, and the table says ${version}`);
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  renameSync(join(there, 'package'), place);
}

/**
 * Supertab's client beside the packages of npm. A registry that does not have it can be done without: `SUPERTAB_FOLDER` names a checkout of
 * its repository (getsupertab/connect-sdk-typescript at the tag of the version), in which the built package is committed.
 */
async function installSupertab(folder: string): Promise<void> {
  const from = process.env['SUPERTAB_FOLDER'] ?? '';
  await unpack(folder, { ...SUPERTAB, ...(from === '' ? {} : { from }) });
}

/** Supertab's client for Python in an environment of its own: it wants a newer Python than the others. */
async function installSupertabPython(folder: string): Promise<void> {
  const options = { cwd: folder, timeout: LIMIT_MS, maxBuffer: 16_777_216 };
  await venvOfNewPython(join(folder, 'python-supertab'));
  const { name, version } = SUPERTAB_PYTHON;
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', `${name}==${version}`];
  await run(join(folder, 'python-supertab/bin/python'), pip, options);
}

/** Makes an environment with the first Python of 3.12 or newer that is here. */
async function venvOfNewPython(place: string): Promise<void> {
  let failed: unknown = null;
  for (const version of ['3.14', '3.13', '3.12']) {
    try {
      // Where pyenv manages several, it gives a version only to those who name it.
      const options = { timeout: LIMIT_MS, env: { ...process.env, PYENV_VERSION: version } };
      await run(`python${version}`, ['-m', 'venv', '--clear', place], options);
      return;
    } catch (error) {
      failed = error;
    }
  }
  throw Object.assign(new Error('no Python of 3.12 or newer makes an environment'), { cause: failed, code: 'ENOENT' });
}

/** One environment with the newest line and what all need; each older version in a folder of its own, which its programs look into first. */
async function installPython(folder: string): Promise<void> {
  const options = { cwd: folder, timeout: LIMIT_MS, maxBuffer: 16_777_216 };
  await run('python3', ['-m', 'venv', 'python'], options);
  const pip = (...args: string[]) =>
    run(pythonOf(folder), ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', ...args], options);
  const [newest = '', ...older] = versionsOf('python');
  await pip(`x402[clients,evm]==${newest}`);
  for (const version of older) await pip('--no-deps', '--target', join(folder, `python-${version}`), `x402==${version}`);
}

function versionsOf(kit: Kit): readonly string[] {
  return [...new Set(PAGE_BUYERS.filter((one) => one.kit === kit).map(({ version }) => version))];
}

function pythonOf(folder: string): string {
  return join(folder, 'python/bin/python');
}

/** A program of Go, built from its folder of `buyers`; `go.mod` pins what it is of. */
async function buildGo(folder: string, kit: Kit): Promise<void> {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  await run('go', ['build', '-mod=mod', '-o', join(folder, 'bin', kit), '.'], {
    cwd: join(folder, 'buyers', kit),
    timeout: LIMIT_MS,
    maxBuffer: 16_777_216,
    env: { ...process.env, GOFLAGS: '-buildvcs=false' },
  });
}

/** What runs the program of a client: command, arguments, what it needs in its environment. */
export function commandOf(folder: string, { kit, program, version }: Pick<HeldClient, 'kit' | 'program' | 'version'>) {
  const file = join(folder, 'buyers', program);
  if (kit === 'node' || kit === 'supertab') return { command: process.execPath, args: [file], env: { NODE_OPTIONS: '' } };
  if (kit === 'python') {
    const path = [join(folder, `python-${version}`), join(folder, 'buyers')].join(delimiter);
    return { command: pythonOf(folder), args: [file], env: { PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' } };
  }
  if (kit === 'supertab-python') return { command: join(folder, 'python-supertab/bin/python'), args: [file], env: {} };
  return { command: join(folder, 'bin', kit), args: [], env: {} };
}
