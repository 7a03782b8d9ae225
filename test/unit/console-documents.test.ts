import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

const FILES = readdirSync(new URL('console', ROOT), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

/** Every constant named `…_DOCUMENT` that the browser's code exports, as it is sent. */
async function documents(): Promise<readonly { readonly name: string; readonly file: string; readonly text: string }[]> {
  const found = await Promise.all(
    FILES.filter((file) => file !== 'app.ts').map(async (file) => {
      const exported: Record<string, unknown> = await import(new URL(`console/${file}`, ROOT).href);
      const named = Object.entries(exported).filter(([name]) => name.endsWith('_DOCUMENT'));
      return named.map(([name, text]) => ({ name, file, text: String(text) }));
    }),
  );
  return found.flat();
}

test('every document of the console is one operation that the schema knows', async () => {
  const schema = buildSchema(readFileSync(new URL('schema.graphql', ROOT), 'utf8'));
  const found = await documents();
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
  const named = FILES.flatMap((file) =>
    [...readFileSync(new URL(`console/${file}`, ROOT), 'utf8').matchAll(/\b(?:const|let) (\w+_DOCUMENT)\b/g)].map(
      ([, name]) => name,
    ),
  );
  const found = (await documents()).map(({ name }) => name);
  expect(found.sort()).toEqual(named.sort());
});
