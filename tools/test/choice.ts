/** What `npm test -- --quick` runs: the pure rules, the contracts, what the repository promises, and purchases over real parts. */
const QUICK = ['test/unit/', 'test/property/', 'test/contract/', 'test/repo/', 'test/e2e/accounts-agree.test.ts'];

/** Has a whole run write down how long each file took. */
export const DURATIONS_FLAG = '--durations';

/** The arguments for vitest: `--quick` anywhere stands for its files, what is ours alone is left out, all others are left as they are. */
export function chooseTests(words: readonly string[]): string[] {
  const others = words.filter((word) => word !== '--quick' && word !== DURATIONS_FLAG);
  return words.includes('--quick') ? [...QUICK, ...others] : others;
}
