import type { NamedTest } from '../support/named-tests.ts';

/** A bug put in on purpose, and the test that must notice it (safety 26). */
export interface Mutant {
  readonly id: string;
  /** The rule of docs/invariants.md that it breaks. */
  readonly rule: number;
  /** What somebody could plausibly have done. */
  readonly bug: string;
  readonly edits: readonly Edit[];
  readonly test: NamedTest;
}

/** One change of a source file. */
export interface Edit {
  /** From the root of the checkout. */
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly search: string;
  readonly replace: string;
}

/** True when its test needs neither Postgres nor a chain. */
export function isCheap(mutant: Mutant): boolean {
  return /^test\/(unit|property|simulation)\//.test(mutant.test.file);
}

/** What keeps a mutant from being put in: a search text that is not there once. */
export function problemsOf(mutant: Mutant, read: (file: string) => string): string[] {
  return mutant.edits.flatMap(({ file, search }) => {
    const count = read(file).split(search).length - 1;
    return count === 1 ? [] : [`${mutant.id}: ${file} holds its search text ${count} times`];
  });
}
