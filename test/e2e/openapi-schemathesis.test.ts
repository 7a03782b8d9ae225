import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { afterAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import type { TestService } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

const VERSION = '4.32.5';
const RUN_MS = 600_000;
/** What buyer accounts ask for. */
const BUYERS = '^/_svc/(licenses|accounts)';
/** Generated cases of one operation and phase; the phases try every parameter and body besides. */
const EXAMPLES = 8;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
].join(',');

let service: TestService | null = null;
afterAll(() => service?.stop());

interface Ended {
  readonly code: number;
  readonly text: string;
}

function run(program: string, args: readonly string[], timeoutMs: number): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: timeoutMs, maxBuffer: 32 * 1024 * 1024 }, (error, out, err) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : 1) : 0, text: `${out}${err}` });
    });
  });
}

/** The program in a virtual environment of its own, made once a version; null when Python or its registry is not to be had. */
async function findSchemathesis(): Promise<string | null> {
  const home = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'content-settlement', `schemathesis-${VERSION}`);
  const program = join(home, 'bin', 'schemathesis');
  if (existsSync(join(home, 'complete'))) return program;
  await rm(home, { recursive: true, force: true });
  await mkdir(join(home, '..'), { recursive: true });
  if ((await run('python3', ['-m', 'venv', home], 60_000)).code !== 0) return null;
  const installed = await run(join(home, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`], 120_000);
  if (installed.code !== 0) return null;
  await mkdir(join(home, 'complete.new'), { recursive: true });
  await rename(join(home, 'complete.new'), join(home, 'complete'));
  return program;
}

test(
  'schemathesis finds no server error and no answer that is not described, with a publisher key and a buyer account',
  async (context: TestContext) => {
    const program = await findSchemathesis();
    if (program === null) return context.skip('Python with venv and pip, or its package registry, is not available');
    service = await startTestService({ environment: CALM });
    const site = await service.site();
    const { token } = await createBuyerAccount({ database: service.database, pepper: pepperOf(service.secrets) });
    const document = `${service.baseUrl}/_svc/openapi.json`;
    const base = [
      'run',
      document,
      '--url',
      service.baseUrl,
      '--seed',
      '7',
      '--max-examples',
      String(EXAMPLES),
      '--checks',
      CHECKS,
      '--request-timeout',
      '60', // seconds; of ten, its own limit, a busy machine once needed more for a PDF
      '--generation-database',
      'none', // a run has the cases of its seed, whatever earlier ones found
      '--no-color',
    ];
    const asBuyer = ['-H', `Authorization: Bearer ${token}`, '--include-path-regex', BUYERS];
    const asPublisher = ['-H', `Authorization: Bearer ${site.key}`, '--exclude-path-regex', BUYERS];
    const runs = await Promise.all([asPublisher, asBuyer].map((role) => run(program, [...base, ...role], RUN_MS)));
    for (const { code, text } of runs) expect([code, code === 0 ? '' : text]).toEqual([0, '']);
  },
  RUN_MS + 240_000,
);
