/**
 * The manifest that is packed names no source: `npm pack` runs `packed.mjs hide` before it and `packed.mjs show` after it. In this repository the
 * condition `settlement-source` leads to src/, which Node runs as it stands; whoever installs it has dist/ alone. After a pack that was cut
 * off, `show` mends the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const MANIFEST = new URL('../package.json', import.meta.url);

const [how] = process.argv.slice(2);
if (how !== 'hide' && how !== 'show') throw new TypeError('packed.mjs takes hide or show');
const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
for (const [entry, { 'settlement-source': _, ...built }] of Object.entries(manifest.exports)) {
  const source = built.default.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts');
  manifest.exports[entry] = how === 'hide' ? built : { 'settlement-source': source, ...built };
}
writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
