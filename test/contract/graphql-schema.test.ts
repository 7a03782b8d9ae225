import { readFileSync } from 'node:fs';
import type { GraphQLNamedType } from 'graphql';
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../graphql/examples.ts';
import { MOST_OF } from '../../graphql/limits/lists.ts';
import { describeSchema, schema } from '../../graphql/schema.ts';

const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));

function* parts(type: GraphQLNamedType): Generator<[string, string | null | undefined]> {
  yield [type.name, type.description];
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const arg of field.args) yield [`${type.name}.${field.name}(${arg.name})`, arg.description];
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description];
  }
}

test('every type, field and argument of the schema says what it is', () => {
  const silent = types.flatMap((type) => [...parts(type)]).filter(([, description]) => !description?.trim());
  expect(silent.map(([name]) => name)).toEqual([]);
  expect(types.filter(isEnumType).every((type) => type.description)).toBe(true);
});

test('the committed schema is the one that is served', () => {
  expect(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')).toBe(describeSchema());
});

test('every example of GraphiQL is a valid document, and the documentation has it', () => {
  const docs = readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8');
  for (const { name, question, query } of EXAMPLES) {
    expect(validate(schema, parse(query)), name).toEqual([]);
    expect(docs).toContain(query);
    expect(docs).toContain(question);
  }
});

test('every list of the schema that is no page stands in the table of what lists hold at most, and the table names no other', () => {
  const lists = types
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => isListType(getNullableType(field.type)) && !['nodes', 'edges'].includes(field.name))
    .map(({ type, field }) => `${type.name}.${field.name}`);
  expect(Object.keys(MOST_OF).toSorted()).toEqual(lists.toSorted());
});

test('no type shows a secret, a hash or a signature', () => {
  const names = types.flatMap((type) => (isObjectType(type) ? Object.keys(type.getFields()) : []));
  expect(names.filter((name) => /hash$/i.test(name) && name !== 'txHash')).toEqual([]);
  expect(names.filter((name) => /signature|sealed|pepper|privateKey/i.test(name))).toEqual([]);
});
