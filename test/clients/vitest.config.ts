import { defineConfig } from 'vitest/config';
import { scaled } from '../support/patience.ts';

/** The tests of published clients: real parts as for the others, and clients that `run.ts` has installed. */
export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/clients/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    allowOnly: false,
    retry: 0,
    isolate: false,
    testTimeout: scaled(90_000),
    hookTimeout: scaled(60_000),
    teardownTimeout: scaled(20_000),
    expect: { poll: { timeout: scaled(30_000), interval: 50 } },
  },
});
