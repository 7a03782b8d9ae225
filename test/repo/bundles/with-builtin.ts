import { readFileSync } from 'node:fs';

/** A workflow that reads a file. */
export async function readInWorkflow(path: string): Promise<string> {
  return readFileSync(path, 'utf8');
}
