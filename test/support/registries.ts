/** What a step of its own installs from the registries that this machine has configured, and how their absence is told from a fault of ours. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Codes with which npm says that it cannot reach a registry, or that the registry does not have something. */
const NPM_AWAY =
  /npm error code (E[45]\d\d|E?(ENOTFOUND|CONN\w+|TIMEDOUT|AI_AGAIN)|ENOTFOUND|E(NET|HOST)UNREACH|ETARGET|ENOTCACHED|ERR_\w+)/;

/** Runs npm in a folder. Rejects with npm's own `stderr`, and after `timeoutMs` if it is given. */
export async function npm(cwd: string, args: readonly string[], timeoutMs?: number): Promise<void> {
  const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  await run('npm', args, { cwd, maxBuffer: 16_777_216, ...limit });
}

/** Why npm could not have a package, if that is what failed; null for any other error. */
export function whyNpmIsAway(error: unknown): string | null {
  const { stderr = '' } = error as { stderr?: string };
  return NPM_AWAY.exec(stderr)?.[1] ?? null;
}
