/** Pages of a batch on disk. A page that is there is whole. */
import { createHash, randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadPage } from '../buying/page.ts';

/** The file of an address: its host and the end of its path, for people, and a digest of all of it, so that no two are one. */
export function nameOf(address: string): string {
  const url = new URL(address);
  const digest = createHash('sha256').update(url.href).digest('hex').slice(0, 16);
  const path = url.pathname.replace(/[^A-Za-z0-9-]+/g, '-').slice(-60);
  return `${url.hostname.replace(/[^A-Za-z0-9.-]/g, '')}${path}.${digest}.txt`;
}

/** Writes pages into a folder: half a page never has the page's name. */
export function keepIn(folder: string): (page: ReadPage) => void {
  return ({ url, text }) => {
    const draft = join(folder, `.${randomUUID()}`);
    writeFileSync(draft, text);
    renameSync(draft, join(folder, nameOf(url)));
  };
}
