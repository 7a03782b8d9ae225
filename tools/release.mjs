/**
 * `npm run release [-- <folder>]`: what is attached to a release, in `release/` unless told: the tarballs of the packages for npm, a wheel of the one for
 * Python, SHA256SUMS, and `provenance.json`, which says of what commit and with which tools they were made. Needs Node 18 with npm, and of this
 * repository nothing installed; without python3 the wheel is left out and named. The same commit and the same tools give the
 * same bytes: npm and the wheel give every file one time (SOURCE_DATE_EPOCH, of the commit unless told).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NPM_PACKAGES = ['publisher', 'agent'];
const folder = resolve(process.argv[2] ?? join(ROOT, 'release'));
const say = (line) => process.stdout.write(`${line}\n`);
const output = (command, args, options = {}) => execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', ...options }).trim();
const git = (...args) => {
  try {
    return output('git', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null; // not a clone: an archive of the sources has no commit
  }
};
const epoch = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct') ?? '0';
const env = { ...process.env, SOURCE_DATE_EPOCH: epoch };

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of NPM_PACKAGES) {
  const args = ['pack', '--silent', '--pack-destination', folder];
  execFileSync('npm', args, { cwd: join(ROOT, 'packages', name), env, stdio: ['ignore', 'ignore', 'inherit'] });
}
try {
  execFileSync('python3', [join(ROOT, 'packages/python/wheel.py'), folder], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
} catch (error) {
  if (error.code !== 'ENOENT') throw error;
  say('NOT BUILT: the wheel, since there is no python3 here');
}
const files = readdirSync(folder).sort();
const sums = files.map((name) => [
  createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex'),
  name,
]);
writeFileSync(join(folder, 'SHA256SUMS'), sums.map(([sum, name]) => `${sum}  ${name}\n`).join(''));
const { devDependencies, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const provenance = {
  version,
  commit: git('rev-parse', 'HEAD'),
  changed: git('status', '--porcelain') !== '',
  sourceDateEpoch: Number(epoch),
  tools: { node: process.version, npm: output('npm', ['--version']), typescript: devDependencies.typescript },
  again: 'git checkout <commit> && npm run release, with these tools; then sha256sum -c SHA256SUMS',
  files: Object.fromEntries(sums.map(([sum, name]) => [name, { sha256: sum }])),
};
writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(provenance, null, 2)}\n`);
for (const [sum, name] of sums) say(`${sum}  ${name}`);
