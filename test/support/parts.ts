import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Chain, ChainOptions } from '../../sandbox/parts/chain.ts';
import { startChain } from '../../sandbox/parts/chain.ts';
import type { ChainSetup, PreparedChain } from '../../sandbox/parts/chain-setup.ts';
import { prepareChain } from '../../sandbox/parts/chain-setup.ts';
import type { DatabaseUrls } from '../../sandbox/parts/postgres/postgres.ts';
import { createDatabase as create, dropDatabase } from '../../sandbox/parts/postgres/roles.ts';
import { scaled } from './patience.ts';

/** The database all migrations have run on; tests copy it and never connect to it. */
export const TEMPLATE_DATABASE = 'svc_template';
/** What a statement or a turn may take where a test is not about that, ms: on a busy machine more than the service gives it. */
export const PATIENT_MS = scaled(240_000);

/** What the global setup shares with every test file of the run. */
export interface SharedParts {
  /** The run's folder; removed at its end. */
  readonly folder: string;
  readonly template: DatabaseUrls;
  /** The superuser on the cluster's `svc` database. */
  readonly superUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string };
}

declare module 'vitest' {
  interface ProvidedContext {
    parts: SharedParts;
  }
}

/** A database of one test's own, with the whole schema and no rows. */
export interface TestDatabase extends DatabaseUrls {
  readonly name: string;
  /** Removes it, cutting connections; at the end of the run all go anyway. */
  drop(): Promise<void>;
}

/** Copies the migrated template into a new database. Every call makes another one. */
export async function createDatabase(): Promise<TestDatabase> {
  const { superUrl, template } = inject('parts');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await create(superUrl, name, TEMPLATE_DATABASE);
  const on = (url: string): string => url.replace(/\/[^/]*$/, `/${name}`);
  return {
    name,
    ownerUrl: on(template.ownerUrl),
    appUrl: on(template.appUrl),
    superUrl: on(template.superUrl),
    drop: () => dropDatabase(superUrl, name),
  };
}

/** The run's Temporal, and a task queue of the caller's own: workers of two tests never share one. */
export function useTemporal(): { readonly address: string; readonly namespace: string; readonly taskQueue: string } {
  return { ...inject('parts').temporal, taskQueue: `test-${randomUUID()}` };
}

/** A chain of the caller's own with test USDC, Multicall3 and router in place. */
export type TestChain = Chain & PreparedChain;

/**
 * Starts a chain as the sandbox has it (a block a second and at once for a transaction, `safe` one block behind), prepared with
 * what `setup` asks for. The caller stops it; it does not outlive the test process. Every call starts another one.
 */
export async function startTestChain(
  setup: Omit<ChainSetup, 'rpcUrl'> = {},
  options: Omit<ChainOptions, 'folder'> & { readonly folder?: string } = {},
): Promise<TestChain> {
  const folder = options.folder ?? join(inject('parts').folder, `chain-${randomUUID()}`);
  const chain = await startChain({ ...options, folder });
  try {
    return { ...chain, ...(await prepareChain({ ...setup, rpcUrl: chain.rpcUrl })) };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}
