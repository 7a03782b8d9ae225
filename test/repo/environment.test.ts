import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderEnvExample } from '../../process/config/env-example.ts';
import { VARIABLES } from '../../process/config/variables.ts';
import { checkEnvironmentNames, findStrayReaders, listKnownNames, listNamesIn } from '../../tools/check/env-names.ts';

const committed = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');

test('.env.example is what the schema renders', () => {
  expect(committed).toBe(renderEnvExample());
});

test('.env.example and the schema hold the same names, both ways', () => {
  expect(listNamesIn(committed).sort()).toEqual(listKnownNames().sort());
});

test('what nobody turns is a constant: variables become fewer, or one more is worth changing this number', () => {
  expect(Object.keys(VARIABLES)).toHaveLength(83);
});

test('only bin/, process/ and tools/ read process.env', async () => {
  expect(await checkEnvironmentNames()).toBeNull();
});

test.each([
  'const port = process.env.PORT;',
  "const port = process['env'].PORT;",
  'const { env } = process;',
  "import { env } from 'node:process';",
])('a file outside them that says `%s` is found', (text) => {
  expect(findStrayReaders([{ path: 'modules/quotes/use/issue.ts', text }])).toHaveLength(1);
  expect(findStrayReaders([{ path: 'bin/api.ts', text }])).toEqual([]);
});
