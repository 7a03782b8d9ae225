/**
 * `npm run test:starters [-- vitest options]`: installs the frameworks and the packed publisher's package into a temporary folder, makes the starter
 * apps there, and runs the tests of this folder on them. Ends with `N passed, N failed`, and with status 1 if something failed.
 * Where npm cannot be reached it says `NOT RUN: …` and ends with 0, and where Deno or Bun cannot be had from there, the others run: that is no
 * fault of ours.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npm, whyNpmIsAway } from '../support/registries.ts';
import { OLD_NODE } from './apps.ts';

/** Other runtimes, as npm has them, the oldest Node that the package is for among them. Bun's puts its program in place by a script of its own. */
const RUNTIMES = [
  { name: 'deno', version: '2.9.6', script: null, program: 'node_modules/.bin/deno' },
  { name: 'bun', version: '1.4.5', script: 'install.js', program: 'node_modules/.bin/bun' },
  { name: OLD_NODE, version: '20.19.0', script: null, program: `node_modules/${OLD_NODE}/bin/node` },
] as const;
/** Apps that are built before they run, and the program of `node_modules` that builds each. */
const BUILT = [
  ['next', 'next/dist/bin/next'],
  ['astro', 'astro/bin/astro.mjs'],
  ['sveltekit', 'vite/bin/vite.js'],
] as const;
/** What the starters of Python are made of, as PyPI has it. */
const OF_PYTHON = ['django==5.2.19', 'fastapi==0.165.0', 'uvicorn==0.54.0'] as const;
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const PACKAGE = '@content-settlement/publisher';

const folder = mkdtempSync(join(tmpdir(), 'starters-'));
const run = promisify(execFile);
const startedAt = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}`);

try {
  process.exitCode = await testStarters();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function testStarters(): Promise<number> {
  say('packing the package');
  await npm(ROOT, ['pack', '--workspace', 'packages/publisher', '--pack-destination', folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const manifest = JSON.parse(readFileSync(join(HERE, 'installed.json'), 'utf8'));
  manifest.dependencies[PACKAGE] = `file:${tarball}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  say('installing the frameworks and the package');
  try {
    await npm(folder, ['install', '--no-audit', '--no-fund', '--ignore-scripts']);
  } catch (error) {
    const why = whyNpmIsAway(error);
    if (why === null) throw error;
    console.log(`NOT RUN: the starter apps, since npm could not install them (${why})`);
    return 0;
  }
  for (const runtime of RUNTIMES) await installRuntime(runtime);
  makeApps();
  for (const [name, program] of BUILT) {
    say(`building ${name}`);
    await run(process.execPath, [join(folder, 'node_modules', program), 'build'], {
      cwd: join(folder, name),
      env: { ...process.env, NODE_OPTIONS: '', NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' },
    });
  }
  await installPython();
  say('testing');
  const options = ['--config', join(HERE, 'vitest.config.ts'), ...process.argv.slice(2)];
  const env = { ...process.env, STARTERS_FOLDER: folder };
  const child = spawn(process.execPath, ['tools/test.ts', ...options], { cwd: ROOT, env, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}

async function installRuntime({ name, version, script, program }: (typeof RUNTIMES)[number]): Promise<void> {
  try {
    await npm(folder, ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`]);
    if (script !== null) await run(process.execPath, [script], { cwd: join(folder, 'node_modules', name) });
    await run(join(folder, program), ['--version']);
  } catch (error) {
    rmSync(join(folder, program), { force: true });
    console.log(`NOT RUN: the starter app on ${name}, which npm could not install here (${String(error).split('\n')[0]})`);
  }
}

/** The Python package and its frameworks, in an environment of their own. The package is copied first: its build leaves files where it stands. */
async function installPython(): Promise<void> {
  const place = join(folder, 'python');
  const options = { cwd: folder, maxBuffer: 16_777_216, timeout: 180_000 };
  try {
    await run('python3', ['-m', 'venv', place], options);
    cpSync(join(ROOT, 'packages/python'), join(folder, 'python-package'), { recursive: true });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...OF_PYTHON, './python-package'];
    await run(join(place, 'bin/python'), pip, options);
  } catch (error) {
    rmSync(place, { recursive: true, force: true });
    const { stderr = '' } = error as { stderr?: string };
    const why = (stderr || String(error)).trim().split('\n').at(-1);
    console.log(`NOT RUN: the starter apps on FastAPI and Django, which need python3 with venv and PyPI (${why})`);
  }
}

/** Each app is its starter with the files of the example over it; those that are not built stand without a gate, too. */
function makeApps(): void {
  for (const name of readdirSync(join(HERE, 'sites'))) {
    if (!BUILT.some(([built]) => built === name))
      cpSync(join(HERE, 'sites', name), join(folder, 'plain', name), { recursive: true });
    cpSync(join(HERE, 'sites', name), join(folder, name), { recursive: true });
    cpSync(join(ROOT, 'examples', name), join(folder, name), { recursive: true });
  }
  cpSync(join(HERE, 'added'), folder, { recursive: true });
  for (const name of ['workerd.js', 'bun.js']) cpSync(join(HERE, name), join(folder, 'hono', name));
}
