/** A cold copy of a service's database, and processes that go on from it: a backup and its restore. */
import { expect } from 'vitest';
import { createDatabase, dropDatabase } from '../../sandbox/parts/postgres/roles.ts';
import type { TestDatabase } from './parts.ts';
import { query } from './sql.ts';

/** A copy, as its roles reach it. */
export interface Backup {
  readonly appUrl: string;
  readonly ownerUrl: string;
  drop(): Promise<void>;
}

/** Copies a database that nobody writes to any more; closes the connections to it that are idle, and waits until there is none. */
export async function backUp(urls: TestDatabase): Promise<Backup> {
  const other = at(urls.superUrl, 'postgres');
  const connections = async (): Promise<number> => {
    await query(other, "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and state = 'idle'", [
      urls.name,
    ]);
    return Number((await query(other, 'select count(*) from pg_stat_activity where datname = $1', [urls.name]))[0]?.['count']);
  };
  await expect.poll(connections, { interval: 250 }).toBe(0);
  const name = `${urls.name}_backup`;
  await createDatabase(other, name, urls.name);
  return { appUrl: at(urls.appUrl, name), ownerUrl: at(urls.ownerUrl, name), drop: () => dropDatabase(other, name) };
}

function at(url: string, database: string): string {
  const moved = new URL(url);
  moved.pathname = `/${database}`;
  return moved.href;
}
