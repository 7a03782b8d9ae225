/** A test runner that stays up and runs tests by name, one after another: parts are started once for all of them. */
// biome-ignore lint/suspicious/noDeprecatedImports: only its former overload with a mode is deprecated
import { createVitest } from 'vitest/node';

/** A test, by its file from the root of the checkout and its name or the beginning of it. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** What the tests of a name did: all passed, one failed, or none ran (no such name, or a file that cannot be loaded). */
export type Verdict = 'passed' | 'failed' | 'missing';

/** The runner. */
export interface NamedTests {
  run(test: NamedTest): Promise<Verdict>;
  /** What the last run's failures said, the first line of each; empty when nothing failed. */
  said(): readonly string[];
  /** How long the last run's tests took themselves, ms, without the parts they run on. */
  tookMs(): number;
  /** Forgets what it knows of a file that has changed. */
  forget(path: string): void;
  close(): Promise<void>;
}

/** Starts the runner on the tree at `root`, where the process must stand. The caller closes it. */
export async function openNamedTests(root: string): Promise<NamedTests> {
  const vitest = await createVitest({ root, watch: false, reporters: [{}], maxWorkers: 1 });
  await vitest.standalone();
  let said: readonly string[] = [];
  let tookMs = 0;
  return {
    run: async ({ file, name }) => {
      vitest.setGlobalTestNamePattern(new RegExp(`(^|\\s)${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
      const { testModules: all } = await vitest.runTestSpecifications(await vitest.globTestSpecifications([file]));
      const testModules = all.filter((module) => module.moduleId.endsWith(`/${file}`)); // it lists those of earlier runs too
      const tests = testModules.flatMap((module) => [...module.children.allTests()]);
      const suites = testModules.flatMap((module) => [module, ...module.children.allSuites()]);
      const errors = [...suites.flatMap((suite) => suite.errors()), ...tests.flatMap((test) => test.result().errors ?? [])];
      said = errors.map((error) => error.message.split('\n')[0] ?? '');
      tookMs = tests.reduce((sum, test) => sum + (test.diagnostic()?.duration ?? 0), 0);
      const states = tests.map((test) => test.result().state);
      if (states.includes('failed')) return 'failed';
      return states.includes('passed') ? 'passed' : 'missing';
    },
    said: () => said,
    tookMs: () => tookMs,
    forget: (path) => vitest.invalidateFile(path),
    close: () => vitest.close(),
  };
}
