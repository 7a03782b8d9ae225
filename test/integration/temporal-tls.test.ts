/** Temporal behind TLS that wants a client's certificate and a key, as Temporal Cloud and guarded servers of one's own do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTemporal, requireTemporal } from '../../platform/temporal/connection.ts';
import { ensureNamespace } from '../../platform/temporal/namespace.ts';
import type { Environment } from '../../process/config.ts';
import { readNamespaceConfig } from '../../process/config.ts';
import { temporalServerOf } from '../../process/temporal.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import type { TemporalFront } from '../support/temporalFront.ts';
import { AUTHORITY, CLIENT_CERTIFICATE, CLIENT_KEY, FRONT_NAME, startTemporalFront } from '../support/temporalFront.ts';

const API_KEY = 'a key of these tests';
const folder = mkdtempSync(join(tmpdir(), 'temporal-tls-'));
const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

let service: TestService;
let front: TemporalFront;
let secured: Record<string, string>;

beforeAll(async () => {
  service = await startTestService({ apis: 0, worker: false });
  front = await startTemporalFront(service.temporal.address, API_KEY);
  secured = {
    TEMPORAL_ADDRESS: front.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    TEMPORAL_API_KEY_FILE: written('key', API_KEY),
    TEMPORAL_TLS_CLIENT_CERT_PATH: written('client.pem', CLIENT_CERTIFICATE),
    TEMPORAL_TLS_CLIENT_KEY_PATH: written('client.key', CLIENT_KEY),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: written('ca.pem', AUTHORITY),
    TEMPORAL_TLS_SERVER_NAME: FRONT_NAME,
  };
});
afterAll(async () => {
  await service.stop();
  await front.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks Temporal as a process with this environment does. */
async function ask(environment: Environment): Promise<void> {
  const connection = openTemporal(temporalServerOf(readNamespaceConfig(environment)), 'brief');
  try {
    await requireTemporal(connection);
  } finally {
    await connection.close();
  }
}

test('an API and a worker that reach Temporal by TLS, with a certificate and a key, settle a payment to its end', async () => {
  const site = await service.site();
  await service.startWorker(secured);
  const { url } = await service.startApi(secured);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const payer = await service.payer(1_000_000n);
  const quote = await askQuote(url, site.key, 'trio');
  const answer = await sellUntilDecided(url, site.key, quote, await payFor(payer, quote));
  expect(answer.body).toMatchObject({ ok: true });
  expect(front.calls.allowed).toBeGreaterThan(10);
  expect(front.calls.refused).toBe(0);
});

test('the namespace is made ready over the same connection, twice', async () => {
  const server = temporalServerOf(readNamespaceConfig(secured));
  await ensureNamespace(server, service.temporal.namespace);
  await ensureNamespace(server, service.temporal.namespace);
});

test.each([
  ['another key', { TEMPORAL_API_KEY_FILE: undefined, TEMPORAL_API_KEY: 'another' }],
  ['no key', { TEMPORAL_API_KEY_FILE: undefined }],
  ['no certificate', { TEMPORAL_TLS_CLIENT_CERT_PATH: undefined, TEMPORAL_TLS_CLIENT_KEY_PATH: undefined }],
  ['authorities that Node knows alone', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: undefined }],
  ['another name', { TEMPORAL_TLS_SERVER_NAME: 'other.example' }],
])('a process with %s reaches nothing', async (_what, change: Record<string, string | undefined>) => {
  await ask(secured);
  await expect(ask({ ...secured, ...change })).rejects.toThrow();
});
