import { defineConfig } from 'vitest/config';

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
    testTimeout: 90_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 30_000, interval: 50 } },
  },
});
