import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { scaled } from './test/support/patience.ts';
import { InTurns } from './test/support/sequencer.ts';

const files = (...folders: string[]): string[] => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/** Packages of this repository are tested from their source. */
const sourceOf = (file: string): string => fileURLToPath(new URL(`packages/publisher/src/${file}.ts`, import.meta.url));

/**
 * Two projects, so that tests of pure rules and of contracts start neither a Postgres nor a Temporal. They are one group: a process that finds no
 * more files on real parts goes on with pure rules, beside the last of those.
 */
export default defineConfig({
  // One `graphql` for our code and for the packages it is used by, which Node gives its CommonJS build.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      { find: /^@content-settlement\/publisher$/, replacement: sourceOf('index') },
      { find: /^@content-settlement\/publisher\/(\w+)$/, replacement: sourceOf('$1') },
    ],
  },
  test: {
    pool: 'forks',
    maxWorkers: 4, // on two cores: much of a fault is waiting for what follows from it
    fileParallelism: true,
    passWithNoTests: false,
    allowOnly: false,
    retry: 0,
    isolate: false, // files share the modules of the process they run in; loading them anew for each cost a second of CPU a file
    sequence: { sequencer: InTurns },
    projects: [
      {
        extends: true,
        test: {
          name: 'rules',
          include: files('unit', 'property', 'repo', 'simulation', 'contract'),
          ...limits(),
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: files('integration', 'workflow', 'e2e', 'fault'),
          globalSetup: ['test/support/global-setup.ts'],
          ...limits(),
        },
      },
    ],
  },
});

/** How long things may take at most; nothing waits longer than it has to. */
function limits() {
  const longestMs = 900_000; // what hangs must not outlast the run, however slow the machine
  const expect = { poll: { timeout: scaled(60_000), interval: 50 } };
  return {
    testTimeout: Math.min(scaled(300_000), longestMs),
    hookTimeout: Math.min(scaled(300_000), longestMs),
    teardownTimeout: scaled(30_000),
    expect,
  };
}
