/** Programs that an operator runs once: on a managed Postgres, on one that is still starting, and where they cannot work. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startProxy } from '../support/proxy.ts';
import { query } from '../support/sql.ts';

const cluster = join(inject('parts').folder, 'command-lines-postgres');
const folder = mkdtempSync(join(tmpdir(), 'command-lines-'));
let postgres: Postgres;
let managed: string;

beforeAll(async () => {
  postgres = await startPostgres({ folder: cluster });
  const { superUrl } = postgres.urlsOf('postgres');
  for (const statement of ['drop database svc', 'drop role svc_owner', 'drop role svc_app']) await query(superUrl, statement);
  await query(superUrl, "create role master login createrole createdb password 'managed'");
  managed = `postgres://master:managed@127.0.0.1:${postgres.port}/postgres`;
  for (const name of ['owner', 'app']) writeFileSync(join(folder, `database_${name}_password`), `${name}-password`);
});
afterAll(async () => {
  await postgres?.stop();
  removeCluster(cluster);
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}
/** Runs a program with its environment and input; `onStart` is told once something was said. */
function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
  onSaid?: () => void,
): Promise<Ended> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    onSaid?.();
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}
const secret = (name: string): string => readFileSync(join(folder, name), 'utf8');
const hasNoStack = ({ err }: Ended): boolean => !/^\s+at /m.test(err);

test('roles and database are made by the administrator of a managed Postgres, who is no superuser, and a second time too', async () => {
  for (let time = 0; time < 2; time += 1) {
    expect(await run(['bin/roles.ts', folder], {}, managed)).toMatchObject({ code: 0, err: '' });
  }
  expect(await run(['bin/migrate.ts'], { DATABASE_OWNER_URL: secret('database_owner_url') })).toMatchObject({ code: 0 });
  expect(await query(secret('database_url'), 'select current_user as name')).toEqual([{ name: 'svc_app' }]);
});

test('a migration waits for a Postgres that is still starting', async () => {
  const proxy = await startProxy(postgres.port);
  proxy.cut();
  const url = Object.assign(new URL(secret('database_owner_url')), { port: String(proxy.port) }).href;
  const ended = await run(['bin/migrate.ts'], { DATABASE_OWNER_URL: url }, '', () => proxy.mend());
  expect(ended).toMatchObject({
    code: 0,
    out: 'the schema is up to date\n',
    err: expect.stringMatching(/^Postgres is awaited: /),
  });
  await proxy.close();
});

test('what cannot work ends with one sentence and status 1, and no stack', async () => {
  const nowhere = 'postgres://svc_app:password@127.0.0.1:1/svc';
  const wrong = managed.replace(':managed@', ':wrong@');
  const pepper = { API_KEY_PEPPER: 'p'.repeat(32) };
  const ended = await Promise.all([
    run(['bin/roles.ts', folder], {}, wrong),
    run(['bin/migrate.ts'], {}),
    run(['bin/namespace.ts'], {}),
    run(['bin/rollups.ts', 'check'], { DATABASE_URL: nowhere }),
    run(['bin/admin.ts', 'alert', 'list'], { DATABASE_URL: nowhere, ...pepper }),
  ]);
  for (const one of ended) {
    expect([one.code, one.out, hasNoStack(one)], one.err).toEqual([1, '', true]);
    expect(one.err.trim()).not.toBe('');
  }
  expect(JSON.parse(ended[4]?.err ?? '')).toEqual({ error: expect.stringContaining('ECONNREFUSED') });
});
