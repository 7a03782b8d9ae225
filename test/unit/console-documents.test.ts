import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { consoleDocuments, consoleSources } from '../support/console-documents.ts';

test('every document of the console is one operation that the schema knows', async () => {
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
  const found = await consoleDocuments();
  expect(found.length).toBeGreaterThan(3);
  for (const { name, file, text } of found) {
    const parsed = parse(text);
    expect(parsed.definitions.filter(({ kind }) => kind === 'OperationDefinition').length, `${name} of ${file}`).toBe(1);
    expect(
      validate(schema, parsed).map(({ message }) => message),
      `${name} of ${file}`,
    ).toEqual([]);
  }
});

test('every document of the console is found by this test', async () => {
  const named = consoleSources().flatMap((source) =>
    [...source.matchAll(/\b(?:const|let) (\w+_DOCUMENT)\b/g)].map(([, name]) => name),
  );
  const found = (await consoleDocuments()).map(({ name }) => name);
  expect(found.sort()).toEqual(named.sort());
});
