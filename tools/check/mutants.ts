import { readFileSync } from 'node:fs';
import { MUTANTS } from '../../test/mutants/list.ts';
import { problemsOf } from '../../test/mutants/mutant.ts';

/** The step of `npm run check`: null when every mutant still finds the line that it changes; one that does not tries nothing. */
export async function checkMutants(): Promise<string | null> {
  const problems = MUTANTS.flatMap((mutant) => problemsOf(mutant, (file) => readFileSync(file, 'utf8')));
  return problems.length === 0 ? null : problems.join('\n');
}
