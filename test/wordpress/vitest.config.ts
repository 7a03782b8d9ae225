import { defineConfig } from 'vitest/config';
import { scaled } from '../support/patience.ts';

/** Tests on a WordPress: they begin with a Postgres and a Temporal as the others do, and run one after the other. */
export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    pool: 'forks',
    fileParallelism: false,
    include: ['test/wordpress/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    allowOnly: false,
    retry: 0,
    testTimeout: scaled(120_000),
    hookTimeout: scaled(300_000),
    expect: { poll: { timeout: scaled(30_000), interval: 50 } },
  },
});
