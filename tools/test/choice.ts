/** What `npm test -- --quick` runs: the pure rules, the contracts, what the repository promises, and purchases over real parts. */
const QUICK = ['test/unit/', 'test/property/', 'test/contract/', 'test/repo/', 'test/e2e/accounts-agree.test.ts'];

/** The arguments for vitest: `--quick` anywhere stands for its files, all others are left as they are. */
export function chooseTests(words: readonly string[]): string[] {
  const others = words.filter((word) => word !== '--quick');
  return others.length === words.length ? others : [...QUICK, ...others];
}
