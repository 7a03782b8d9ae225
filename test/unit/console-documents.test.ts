import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** Every constant named `…_DOCUMENT` of the browser's code, as it stands in the source. */
function documents(): readonly { readonly name: string; readonly file: string; readonly text: string }[] {
  const files = readdirSync(new URL('console', ROOT), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.flatMap((file) => {
    const source = readFileSync(new URL(`console/${file}`, ROOT), 'utf8');
    return [...source.matchAll(/\b(\w+_DOCUMENT) = ?\n?\s*(?:'([^'\n]*)'|`([^`]*)`)/g)].map(([, name = '', quoted, ticked]) => {
      return { name, file, text: quoted ?? ticked ?? '' };
    });
  });
}

test('every document of the console is one operation that the schema knows', () => {
  const schema = buildSchema(readFileSync(new URL('schema.graphql', ROOT), 'utf8'));
  const found = documents();
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

test('every document of the console is found by this test', () => {
  const sources = readdirSync(new URL('console', ROOT), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const named = sources.flatMap((file) =>
    [...readFileSync(new URL(`console/${file}`, ROOT), 'utf8').matchAll(/\b(?:const|let) (\w+_DOCUMENT)\b/g)].map(
      ([, name]) => name,
    ),
  );
  expect(
    documents()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(named.sort());
});
