import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** The release that runs: `version` of package.json. */
export const VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

/** Postgres keeps so many bytes of a name. */
const LONGEST_NAME = 63;

/** What a process calls itself at the database, where `admin doctor` reads which release runs on which machine. */
export function processName(process: 'api' | 'worker'): string {
  return `svc ${process} ${VERSION} on ${hostname()}`.slice(0, LONGEST_NAME);
}
