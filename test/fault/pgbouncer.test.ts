/** PgBouncer in front of Postgres, pooling by transaction (docs/going-live.md): sales go on through it, also past its restart. Skipped where it is not installed. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';
import { postgresIdentity } from '../../sandbox/parts/postgres/unprivileged.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import { createNamespace } from '../support/namespace.ts';
import { createDatabase } from '../support/parts.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { balancesOf } from '../support/shop.ts';
import { query } from '../support/sql.ts';

const isThere = spawnSync('pgbouncer', ['--version']).status === 0;
const START = 1_000_000n;
/** Fewer than the processes' pools have, so that connections of Postgres are shared. */
const SERVER_CONNECTIONS = 6;

describe.skipIf(!isThere)(`behind PgBouncer${isThere ? '' : ' (skipped: apt-get install pgbouncer)'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  let port: number;
  let pooler: ChildProcess;
  let service: TestService;

  const startPooler = (): ChildProcess =>
    spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...(postgresIdentity() ?? {}), cwd: '/' });
  const killPooler = async (): Promise<void> => {
    const ended = new Promise((resolve) => pooler.once('exit', resolve));
    pooler.kill('SIGKILL');
    await ended;
  };

  beforeAll(async () => {
    port = await choosePort(0);
    const urls = await createDatabase();
    const { username, password, hostname, port: direct, pathname } = new URL(urls.appUrl);
    const settings = [
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      `auth_type = scram-sha-256\nauth_file = ${join(folder, 'users.txt')}`,
      `pool_mode = transaction\ndefault_pool_size = ${SERVER_CONNECTIONS}\nmax_client_conn = 500`,
      'ignore_startup_parameters = statement_timeout',
    ];
    const config = `[databases]\n* = host=${hostname} port=${direct}\n[pgbouncer]\n${settings.join('\n')}\n`;
    const identity = postgresIdentity();
    for (const [name, text] of [
      ['pgbouncer.ini', config],
      ['users.txt', `"${username}" "${password}"\n`],
    ] as const) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      if (identity !== null) chownSync(join(folder, name), identity.uid, identity.gid);
    }
    if (identity !== null) chownSync(folder, identity.uid, identity.gid);
    pooler = startPooler();
    const pooled = `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
    for (let tries = 0; ; tries += 1) {
      const isUp = await query(pooled, 'select 1').then(
        () => true,
        () => false,
      );
      if (isUp) break;
      if (tries > 100) throw new Error('PgBouncer does not answer');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const environment = { ...CALM, DATABASE_URL: pooled, DATABASE_DIRECT_URL: urls.appUrl, DATABASE_STATEMENT_NAMES: 'false' };
    service = await startTestService({ on: { urls, temporal: await createNamespace() }, environment });
  });
  afterAll(async () => {
    await service?.stop();
    if (pooler) await killPooler();
    releasePort(port);
    rmSync(folder, { recursive: true, force: true });
  });

  test('pages are sold over shared connections, and go on to be sold when it is killed in the middle and started again', async () => {
    const site = await service.site();
    const signed = await Promise.all(
      ['solo', 'duo', 'trio', 'solo', 'duo', 'trio', 'solo', 'duo'].map(async (slug) => {
        const payer = await service.payer(START);
        const quote = await askQuote(service.baseUrl, site.key, slug);
        return { payer, quote, payment: await payFor(payer, quote) };
      }),
    );
    const show = ({ quote, payment }: (typeof signed)[number]) => sellUntilDecided(service.baseUrl, site.key, quote, payment);
    for (const { body } of await Promise.all(signed.slice(0, 4).map(show))) expect(body).toMatchObject({ ok: true });
    const count =
      "select count(*)::int as n from pg_stat_activity where datname = $$DATABASE$$ and application_name ~ '^svc (api|worker)'";
    const connected = await query(service.urls.superUrl, count.replace('DATABASE', service.urls.name));
    expect(connected[0]?.['n']).toSatisfy((n: number) => n > 0 && n <= SERVER_CONNECTIONS);

    const selling = Promise.all(signed.slice(4).map(show));
    await killPooler();
    pooler = startPooler();
    for (const { body } of await selling) expect(body).toMatchObject({ ok: true });
    const prices = signed.map(({ quote }) => START - BigInt(quote.price));
    expect(
      await balancesOf(
        service,
        signed.map(({ payer }) => payer.address),
      ),
    ).toEqual(prices);
    await checkService(service);
  });
});
