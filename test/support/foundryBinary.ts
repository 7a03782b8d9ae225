import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where a native program of Foundry lies, and not its wrapper, so that a `pid` is its own. Throws where npm installed none for this platform. */
export function foundryBinary(tool: 'anvil' | 'forge'): string {
  const fromHere = createRequire(import.meta.url);
  const fromWrapper = createRequire(join(dirname(fromHere.resolve(`@foundry-rs/${tool}/package.json`)), 'package.json'));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const manifest = fromWrapper.resolve(`@foundry-rs/${tool}-${process.platform}-${architecture}/package.json`);
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? `${tool}.exe` : tool);
}
