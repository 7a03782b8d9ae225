import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createServiceSecrets } from '../../process/serviceSecrets.ts';
import { choosePort, listenOnFreePort } from '../../sandbox/parts/ports.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startTemporal } from '../../sandbox/parts/temporal.ts';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import { serviceEnvironment, startApiProcess } from '../../sandbox/processes-of-service.ts';
import { createDatabase, startTestChain, useTemporal } from '../support/parts.ts';

const folder = (): string => join(inject('parts').folder, `ports-${randomUUID()}`);
let squatter: Server;
let taken = 0;

/** Somebody else's server, which answers whatever it is asked as if it were ours. */
beforeAll(async () => {
  squatter = createServer((_request, response) => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'));
  await new Promise<void>((done) => squatter.listen(0, '127.0.0.1', done));
  taken = (squatter.address() as AddressInfo).port;
});
afterAll(() => void squatter.close());

/** A choice that is lost: by the time the part binds its first port, somebody has it. */
function losingTheFirst(): typeof choosePort {
  let choices = 0;
  return async (preferred) => {
    choices += 1;
    return choices === 1 ? taken : choosePort(preferred);
  };
}

test('a chain, and an API, whose port is taken between choosing and binding take another, and are not mistaken for who answers there', async () => {
  const chain = await startTestChain({}, { choosePort: losingTheFirst() });
  expect([chain.port !== taken, chain.process.isRunning()]).toEqual([true, true]);
  const { urls, temporal } = { urls: await createDatabase(), temporal: useTemporal() };
  const settings = { databaseUrl: urls.appUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets: createServiceSecrets() };
  const environment = serviceEnvironment({ ...settings, temporal: { ...temporal, uiUrl: null } });
  const api = await startApiProcess({ environment, logFile: join(folder(), 'api.log'), choosePort: losingTheFirst() });
  expect([new URL(api.url).port !== String(taken), api.process.isRunning()]).toEqual([true, true]);
  expect(await (await fetch(`${api.url}/healthz`)).text()).not.toContain('jsonrpc');
  await Promise.all([api.stop(), chain.stop()]);
});

test('so does a Postgres', async () => {
  const postgres = await startPostgres({ folder: folder(), choosePort: losingTheFirst() });
  expect([postgres.port !== taken, postgres.process.isRunning()]).toEqual([true, true]);
  await postgres.stop();
});

test('so does a Temporal', async () => {
  const sources = temporalSources(process.env, folder());
  const options = { sources, folder: folder(), uiPort: null, progress: () => undefined };
  const temporal = await startTemporal({ ...options, choosePort: losingTheFirst() });
  expect([temporal.address !== `127.0.0.1:${taken}`, temporal.process?.isRunning()]).toEqual([true, true]);
  await temporal.stop();
});

test('so does a server of the sandbox’s own', async () => {
  const server = createServer();
  const port = await listenOnFreePort(server, 0, losingTheFirst());
  expect([port !== taken, (server.address() as AddressInfo).port]).toEqual([true, port]);
  server.close();
});
