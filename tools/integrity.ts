/**
 * `node tools/integrity.ts`: writes into package-lock.json the hash of every locked package that has none, as far as the registry tells
 * it. npm checks what it downloads against these hashes. Says what is still without one; a second run asks for those alone.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LOCK = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly version?: string; integrity?: string }>>;
};

for (const [path, locked] of Object.entries(lock.packages)) {
  if (path === '' || locked.integrity !== undefined) continue;
  const name = `${path.replace(/^.*node_modules\//, '')}@${locked.version}`;
  const { stdout = '' } = spawnSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8', timeout: 30_000 });
  const integrity = stdout.trim();
  if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) locked.integrity = integrity;
  else console.log(`${name}: the registry tells no hash`);
}
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
