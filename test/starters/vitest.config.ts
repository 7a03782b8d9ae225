import { defineConfig } from 'vitest/config';
import { scaled } from '../support/patience.ts';

/** The tests of the starter apps: real parts as for the others, and apps that `run.ts` has installed. */
export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/starters/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    allowOnly: false,
    retry: 0,
    isolate: false,
    testTimeout: scaled(180_000),
    hookTimeout: scaled(180_000),
    teardownTimeout: scaled(30_000),
    expect: { poll: { timeout: scaled(60_000), interval: 50 } },
  },
});
