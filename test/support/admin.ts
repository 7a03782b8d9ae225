/** The operator's command line in this process, over the database of a test API. */
import { expect } from 'vitest';
import { createAdminProgram } from '../../bin/admin/program.ts';
import { openDatabase } from '../../db/database.ts';
import { readAdminConfig } from '../../process/config.ts';
import { serviceEnvironment } from '../../sandbox/processes-of-service.ts';
import type { startTestApi } from './api.ts';
import type { TestService } from './service.ts';

type TestApi = Awaited<ReturnType<typeof startTestApi>>;

/** The environment the program runs with. */
export function adminEnvironment(api: TestApi): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DATABASE_URL: api.urls.appUrl,
    API_KEY_PEPPER: api.deps.pepper.current,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64url'),
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    TEMPORAL_NAMESPACE: 'default',
  };
}

/** Runs a command in this process; what it prints. Throws what the command throws. */
export async function runAdmin(api: TestApi, ...args: string[]): Promise<Record<string, unknown>> {
  const printed: unknown[] = [];
  const program = createAdminProgram({
    open: async () => ({ database: api.deps.database, config: readAdminConfig(adminEnvironment(api)) }),
    print: (value) => printed.push(JSON.parse(JSON.stringify(value))),
  });
  await program.parseAsync(args, { from: 'user' });
  expect(printed).toHaveLength(1);
  return printed[0] as Record<string, unknown>;
}

/** Runs a command in this process over the processes' own database of a running service; what it prints. Exit codes are left alone. */
export async function runServiceAdmin(
  service: Pick<TestService, 'chain' | 'secrets' | 'temporal'>,
  databaseUrl: string,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { chain, secrets, temporal } = service;
  const settings = { databaseUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets, temporal: { ...temporal, uiUrl: null } };
  const environment = { ...serviceEnvironment(settings) };
  const printed: unknown[] = [];
  const database = await openDatabase({ url: databaseUrl, poolSize: 2 });
  const program = createAdminProgram({
    open: async () => ({ database, config: readAdminConfig(environment) }),
    print: (value) => printed.push(value),
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } finally {
    await database.close();
  }
  return printed[0] as Record<string, unknown>;
}
