import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FAULTS } from '../fault/list.ts';
import { MUTANTS } from '../mutants/list.ts';
import { problemsOf } from '../mutants/mutant.ts';
import type { NamedTest } from '../support/named-tests.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** True when the file holds a test of that name: as it stands there, or, of a table, the part of it that every row has. */
function exists({ file, name }: NamedTest): boolean {
  const text = read(file);
  if (text.includes(name)) return true;
  const titles = [...text.matchAll(/['"`]([^'"`\n]*%s[^'"`\n]*)['"`]/g)].map(([, title]) => title ?? '');
  return titles.some((title) => {
    const [before, after] = title.split('%s') as [string, string];
    const rest = name.slice(before.length);
    const at = rest.indexOf(after.slice(0, 20));
    const value = at < 0 ? rest.split(after.slice(0, 2))[0] || rest : rest.slice(0, at);
    const isKnown = text.includes(value) || existsSync(join(ROOT, 'test/histories', value));
    return name.startsWith(before) && value !== '' && isKnown;
  });
}

test('each fault has its number, without a gap, and names tests that exist', () => {
  expect(FAULTS.map((fault) => fault.id)).toEqual(FAULTS.map((_, at) => at + 1));
  expect(FAULTS.flatMap(({ tests }) => tests).filter((test) => !exists(test))).toEqual([]);
  expect(FAULTS.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test('every named bug can still be put in, and names a test that exists', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(14);
  expect(new Set(MUTANTS.map((mutant) => mutant.id)).size).toBe(MUTANTS.length);
  expect(MUTANTS.flatMap((mutant) => problemsOf(mutant, read))).toEqual([]);
  expect(MUTANTS.filter((mutant) => !exists(mutant.test)).map((mutant) => mutant.id)).toEqual([]);
});
