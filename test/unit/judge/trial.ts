import { firstWrong } from './cases.ts';

/** The first row of the table that each of some modules gets wrong, by path; null where it notices nothing. */
export async function tryModules(paths: readonly string[]): Promise<readonly (string | null)[]> {
  const results: (string | null)[] = [];
  for (const path of paths) {
    results.push(firstWrong(await import(/* @vite-ignore */ path)));
  }
  return results;
}
