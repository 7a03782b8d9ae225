/** The folder of this machine's owner. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `CONTENT_SETTLEMENT_HOME`, or `.content-settlement` in the owner's home. */
export function homeOf(environment: Readonly<Record<string, string | undefined>>): string {
  return environment['CONTENT_SETTLEMENT_HOME'] || join(homedir(), '.content-settlement');
}
