/**
 * `npm run test:clients [-- vitest options]`: installs published x402 clients of npm, PyPI and Go into a temporary folder, lets each of them buy from a
 * service of its own, and writes test/clients/README.md. Ends with `N passed, N failed`, and with status 1 if something failed.
 * What cannot be had here is named, `NOT RUN: …`, and is no fault. Ends by itself within four minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderClients } from './document.ts';
import type { Kits } from './kits.ts';
import { installKits } from './kits.ts';
import { BOUGHT_FILE, KITS_FILE } from './program.ts';
import type { Kit } from './table.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const PAGE = join(ROOT, 'test/clients/README.md');
const WHAT: Readonly<Record<Kit, string>> = {
  node: 'the clients of npm',
  python: 'the clients of PyPI',
  go: 'the Go client mark3labs/x402-go',
  'go-x402': 'the Go client x402-foundation/x402/go/v2',
  supertab: "Supertab's client of npm",
  'supertab-python': "Supertab's client of PyPI",
};
/** Of the whole run, installation included. */
const LIMIT_MS = 400_000;

const startedAt = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}`);
const folder = mkdtempSync(join(tmpdir(), 'clients-'));

try {
  process.exitCode = await testClients();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function testClients(): Promise<number> {
  say('installing clients of npm, PyPI and Go');
  const kits = await installKits(folder);
  for (const [kit, why] of Object.entries(kits)) if (why !== null) console.log(`NOT RUN: ${WHAT[kit as Kit]}, ${why}`);
  writeFileSync(join(folder, KITS_FILE), JSON.stringify(kits));
  writeFileSync(join(folder, BOUGHT_FILE), '');
  if (Object.values(kits).every((why) => why !== null)) return 0;
  say('testing');
  const status = await runTests();
  if (process.argv.length === 2) writePage(kits); // of all clients or of none
  say('done');
  return status;
}

async function runTests(): Promise<number> {
  const options = ['--config', join(HERE, 'vitest.config.ts'), ...process.argv.slice(2)];
  const env = { ...process.env, CLIENTS_FOLDER: folder };
  const child = spawn(process.execPath, ['tools/test.ts', ...options], { cwd: ROOT, env, stdio: 'inherit' });
  const late = setTimeout(() => child.kill('SIGTERM'), LIMIT_MS - (performance.now() - startedAt));
  const [status] = await once(child, 'exit');
  clearTimeout(late);
  return status ?? 1;
}

function writePage(kits: Kits): void {
  const bought = readFileSync(join(folder, BOUGHT_FILE), 'utf8').split('\n');
  let before = '';
  try {
    before = readFileSync(PAGE, 'utf8');
  } catch {
    // The first run writes it.
  }
  writeFileSync(PAGE, renderClients(kits, new Set(bought), before));
}
