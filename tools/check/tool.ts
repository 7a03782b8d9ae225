import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Manifest {
  readonly bin?: string | Readonly<Record<string, string>>;
}

/** The script of an installed package's command, so that it runs under this very Node. */
function commandPath(packageName: string, command: string): string {
  const folder = `${ROOT}node_modules/${packageName}/`;
  const { bin } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as Manifest;
  const path = typeof bin === 'string' ? bin : bin?.[command];
  if (path === undefined) throw new Error(`The package ${packageName} has no command ${command}.`);
  return folder + path;
}

/** Runs a script under this Node in the repository's folder; resolves to null when it ends with 0, else to its output. */
export function runScript(script: string, parameters: readonly string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...parameters], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString('utf8');
      resolve(code === 0 ? null : output || `${script} ended with ${code ?? signal} and said nothing.`);
    });
  });
}

/** Runs a package's command; see `runScript`. */
export function runTool(packageName: string, command: string, parameters: readonly string[]): Promise<string | null> {
  return runScript(commandPath(packageName, command), parameters);
}
