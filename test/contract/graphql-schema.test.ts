import { readFileSync } from 'node:fs';
import type { GraphQLNamedType } from 'graphql';
import {
  getNamedType,
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
import {
  ALIAS_LIMIT,
  ANSWER_LIMIT_BYTES,
  CATALOGUE_COST,
  CHANGE_COST_LIMIT,
  COST_LIMIT,
  COUNT_COST,
  DEPTH_LIMIT,
  DIRECTIVE_LIMIT,
  LIST_COST,
  QUERY_LIMIT_MS,
  REPORT_COST,
  ROW_COST,
  TOKEN_LIMIT,
  VALUE_LIMIT,
} from '../../graphql/limits/limits.ts';
import type { BoundedList } from '../../graphql/limits/lists.ts';
import { MOST_OF } from '../../graphql/limits/lists.ts';
import { EXAMPLES } from '../../graphql/schema/examples.ts';
import { describeSchema, schema } from '../../graphql/schema/schema.ts';

const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));

function* parts(type: GraphQLNamedType): Generator<[string, string | null | undefined]> {
  yield [type.name, type.description];
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const arg of field.args) yield [`${type.name}.${field.name}(${arg.name})`, arg.description];
    }
  }
  if (isEnumType(type)) {
    for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description];
  }
}

test('the schema, and every type, field, argument and value of it, says what it is', () => {
  expect(schema.description?.trim()).toBeTruthy();
  const silent = types.flatMap((type) => [...parts(type)]).filter(([, description]) => !description?.trim());
  expect(silent.map(([name]) => name)).toEqual([]);
});

test('a field whose values are listed in its description is an enum', () => {
  const listing = /^(?:[a-z_]+, )+(?:or|and) [a-z_]+\.?$|: (?:[a-z]+_[a-z_]+, )+(?:or )?[a-z_]+/;
  const fields = types.filter(isObjectType).flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })));
  const strings = fields.filter(({ field }) => String(getNamedType(field.type)) === 'String');
  const open = strings.filter(({ field }) => listing.test(field.description ?? ''));
  expect(open.map(({ type, field }) => `${type.name}.${field.name}`)).toEqual([]);
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

test('every document of the documentation is valid', () => {
  const docs = readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8');
  const blocks = [...docs.matchAll(/```graphql\n(.*?)```/gs)].map(([, block = '']) => block);
  for (const block of blocks) expect([block, validate(schema, parse(block))]).toEqual([block, []]);
  expect(blocks.length).toBeGreaterThan(EXAMPLES.length);
});

test('every list of the schema that is no page stands in the table of what lists hold at most, and the table names no other', () => {
  const lists = types
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => isListType(getNullableType(field.type)) && !['nodes', 'edges'].includes(field.name))
    .map(({ type, field }) => `${type.name}.${field.name}`);
  expect(Object.keys(MOST_OF).toSorted()).toEqual(lists.toSorted());
});

test('the documentation says the limits as they are', () => {
  const docs = readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8');
  const rows = [
    ['cost', COST_LIMIT],
    ['cost of a change', CHANGE_COST_LIMIT],
    ['levels of fields', DEPTH_LIMIT],
    ['aliases, those of `__typename` included', ALIAS_LIMIT],
    ['directives', DIRECTIVE_LIMIT],
    ['tokens of a document', TOKEN_LIMIT],
    ['values that an execution comes to', VALUE_LIMIT],
    ['bytes of an answer', ANSWER_LIMIT_BYTES],
  ] as const;
  for (const [what, most] of rows) expect(docs).toContain(`| ${what} | ${most.toLocaleString('en-US')} |`);
  expect(docs).toContain(`| time of a query, once its turn has come | ${QUERY_LIMIT_MS / 1_000} s |`);
  for (const [list] of docs.matchAll(/(?<=\| `)[A-Z]\w+\.\w+(?=` \| \d)/g)) {
    expect(docs).toContain(`| \`${list}\` | ${MOST_OF[list as BoundedList]} |`);
  }
  const prices = `a page ${LIST_COST}, a report ${REPORT_COST}, a row that is read for another row ${ROW_COST}, \`totalCount\` ${COUNT_COST} for each row of the page`;
  const flowing = docs.replaceAll('\n', ' ');
  expect(flowing).toContain(prices);
  expect(flowing).toContain(`\`priceEffect\` ${CATALOGUE_COST.toLocaleString('en-US')},`);
});

test('no type shows a secret, a hash or a signature', () => {
  const names = types.flatMap((type) => (isObjectType(type) ? Object.keys(type.getFields()) : []));
  expect(names.filter((name) => /hash$/i.test(name) && name !== 'txHash')).toEqual([]);
  expect(names.filter((name) => /signature|sealed|pepper|privateKey/i.test(name))).toEqual([]);
});
