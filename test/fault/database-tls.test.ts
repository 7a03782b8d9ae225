/** Postgres by TLS with a certificate of a private authority (docs/going-live.md): all that is sent is encrypted, and nobody else is believed. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runMigration } from '../../sandbox/cluster/topology.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { postgresIdentity } from '../../sandbox/parts/postgres/unprivileged.ts';
import { serviceEnvironment } from '../../sandbox/processes-of-service.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY, PRIVATE_AUTHORITY, TEST_CERTIFICATE } from '../support/certificate.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { query } from '../support/sql.ts';

const folder = join(inject('parts').folder, `database-tls-${randomUUID().slice(0, 8)}`);
const authority = join(folder, 'authority.pem');
const another = join(folder, 'another.pem');
let postgres: Postgres;
let service: TestService;

/** The address of a server whose certificate says `localhost`. */
const verified = (url: string, host = 'localhost', file = authority): string =>
  `${url.replace('@127.0.0.1:', `@${host}:`)}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;

beforeAll(async () => {
  postgres = await startPostgres({ folder });
  const { data } = postgres.places;
  const identity = postgresIdentity();
  for (const [name, text] of [
    ['server.crt', LOCALHOST_CERTIFICATE],
    ['server.key', LOCALHOST_KEY],
    ['pg_hba.conf', 'host all postgres 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256\n'],
  ] as const) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    if (identity !== null) chownSync(join(data, name), identity.uid, identity.gid);
  }
  writeFileSync(authority, PRIVATE_AUTHORITY);
  writeFileSync(another, TEST_CERTIFICATE);
  await postgres.stop();
  postgres = await startPostgres({ folder, settings: ['ssl=on'] });
  await runMigration(verified(postgres.ownerUrl), folder);
  const { superUrl, ownerUrl, appUrl } = postgres;
  const urls = { superUrl, ownerUrl: verified(ownerUrl), appUrl: verified(appUrl), name: 'svc', drop: async () => undefined };
  service = await startTestService({ on: { urls, temporal: await createNamespace() }, environment: CALM });
});
afterAll(async () => {
  await service?.stop();
  await postgres?.stop();
  removeCluster(folder);
});

test('a page is sold, and no connection of API, worker or their listeners goes without TLS', async () => {
  const { key } = await service.site();
  const quote = await askQuote(service.baseUrl, key, 'duo');
  const { body } = await sellUntilDecided(service.baseUrl, key, quote, await payFor(await service.payer(1_000_000n), quote));
  expect(body).toMatchObject({ ok: true });
  const connected = await query(
    postgres.superUrl,
    "select ssl, count(*)::int as n from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'svc_app' group by ssl",
  );
  expect(connected).toEqual([{ ssl: true, n: expect.any(Number) }]);
});

/** Runs a program of bin/ to its end: its status and what it wrote. */
function run(file: string, args: readonly string[], env: Readonly<Record<string, string>>, input = '') {
  return new Promise<{ code: unknown; said: string }>((resolve) => {
    const path = fileURLToPath(new URL(`../../bin/${file}.ts`, import.meta.url));
    const child = execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', path, ...args],
      { env: { PATH: process.env['PATH'], ...env } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, said: (stdout + stderr).trim() }),
    );
    child.stdin?.end(input);
  });
}

const UNTRUSTED = /Postgres shows a certificate that is not trusted here; name the file of its authority in the address/;
const WRONG_HOST = /Postgres shows a certificate of another host; use the name that it was made for/;

test.each([
  ['of another authority', UNTRUSTED, (url: string) => verified(url, 'localhost', another)],
  ['whose authority nobody named', UNTRUSTED, (url: string) => verified(url).replace(/&sslrootcert=.*/, '')],
  ['of another host', WRONG_HOST, (url: string) => verified(url, '127.0.0.1')],
])('with a certificate %s every program ends at once, and one sentence says what to change', async (_case, sentence, address) => {
  const { chain, secrets, temporal } = service;
  const settings = { rpcUrl: chain.rpcUrl, router: chain.router, secrets, temporal: { ...temporal, uiUrl: null } };
  const env = serviceEnvironment({ ...settings, databaseUrl: address(postgres.appUrl) });
  const rolesFolder = join(folder, randomUUID());
  mkdirSync(rolesFolder);
  const ended = await Promise.all([
    run('api', [], { ...env, PORT: '0' }),
    run('worker', [], env),
    run('admin', ['doctor'], env),
    run('migrate', [], { DATABASE_OWNER_URL: address(postgres.ownerUrl) }),
    run('roles', [rolesFolder], {}, address(postgres.superUrl)),
  ]);
  for (const { code, said } of ended) {
    expect([code, said]).toEqual([1, expect.stringMatching(sentence)]);
    expect(said.split('\n').filter((line) => sentence.test(line))).toHaveLength(1);
    expect(said).not.toMatch(/\n\s+at /);
  }
});
