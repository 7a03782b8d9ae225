import fc from 'fast-check';
import type { GraphQLField, GraphQLInputType, GraphQLNamedType, GraphQLResolveInfo } from 'graphql';
import {
  buildSchema,
  execute,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { DEAREST } from '../../bench/dearestQueries.ts';
import { COST_LIMIT, DEFAULT_PAGE, VALUE_LIMIT } from '../../graphql/limits/limits.ts';
import { mostOf } from '../../graphql/limits/lists.ts';
import { judge } from '../../graphql/limits/plugins.ts';
import { describeSchema, schema } from '../../graphql/schema/schema.ts';

/**
 * Random legal queries over the schema that is served, executed on the largest site that there can be: every list is as long as it may
 * be. What comes of it is never more than what the query was said to cost.
 */

const RUNS = 400;
/** The same schema without resolvers: here a row is made of its type alone. */
const bare = buildSchema(describeSchema());

/** A row of the largest site: which types it was reached by, `[]` for a list, and how long its pages are. */
interface Row {
  readonly way: readonly string[];
  readonly first: number;
}

/** What executing a query on the largest site comes to: how many values, and the ways to its rows. */
async function onLargestSite(query: string): Promise<{ readonly values: number; readonly ways: ReadonlySet<string> }> {
  let values = 0;
  const ways = new Set<string>();
  const fieldResolver = ({ way, first }: Row, args: { first?: number }, _context: unknown, info: GraphQLResolveInfo): unknown => {
    values += 1;
    const type = getNamedType(info.returnType);
    const isList = isListType(getNullableType(info.returnType));
    const isPage = info.fieldName === 'nodes' || info.fieldName === 'edges';
    const row: Row = { way: [...way, ...(isList ? ['[]'] : []), type.name], first: args.first ?? DEFAULT_PAGE };
    if (isCompositeType(type)) ways.add(row.way.join(' '));
    const one = isCompositeType(type) ? (isInterfaceType(type) ? { ...row, __typename: 'Tenant' } : row) : leafOf(type);
    if (!isList) return one;
    const length = isPage ? first : mostOf(info.parentType.name, info.fieldName);
    values += length;
    return Array.from({ length }, () => one);
  };
  const { errors } = await execute({
    schema: bare,
    document: parse(query),
    rootValue: { way: ['Query'], first: 0 },
    fieldResolver,
  });
  expect(errors).toBeUndefined();
  return { values, ways };
}

function leafOf(type: GraphQLNamedType): unknown {
  if (isEnumType(type)) return type.getValues()[0]?.value;
  return { Boolean: true, Float: 1, Int: 1 }[type.name] ?? '1';
}

/** A value that an argument takes: of an input object what must be given. */
function literalOf(given: GraphQLInputType): string {
  const type = getNullableType(given);
  if (isListType(type)) return `[${literalOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (!isInputObjectType(type)) return '"x"';
  const needed = Object.values(type.getFields()).filter(isRequiredInputField);
  return `{ ${needed.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')} }`;
}

/** Draws numbers: below `n`. */
type Draw = (n: number) => number;

/** A query of `tenant` drawn at random: many fields or few, deep or flat, long pages or short ones, aliases and fragments. */
function drawQuery(draw: Draw): string {
  const fragments: string[] = [];
  const aliases = { left: 15 };
  const selection = (type: GraphQLNamedType, depth: number): string => {
    if (!isObjectType(type)) return '{ __typename }';
    const all = Object.values(type.getFields()).filter((field) => depth > 1 || !isCompositeType(getNamedType(field.type)));
    const wanted = 1 + draw(draw(3) === 0 ? all.length : 3);
    const fields = all.map((field) => ({ field, at: draw(1_000) })).sort((a, b) => a.at - b.at);
    const picked = fields.slice(0, wanted).map(({ field }) => fieldText(field, depth));
    const inside = picked.length === 0 ? '__typename' : picked.join(' ');
    if (draw(6) > 0) return `{ ${inside} }`;
    const name = `f${fragments.length}`;
    fragments.push(`fragment ${name} on ${type.name} { ${inside} }`);
    return draw(2) === 0 ? `{ ...${name} }` : `{ ... on ${type.name} { ...${name} } }`;
  };
  const fieldText = (field: GraphQLField<unknown, unknown>, depth: number): string => {
    const type = getNamedType(field.type);
    const given = field.args.flatMap(({ name, ...arg }) => {
      if (name === 'first' && draw(4) > 0) return [`first: ${[1, 5, 24, 100][draw(4)]}`];
      return isRequiredArgument({ name, ...arg }) ? [`${name}: ${literalOf(arg.type)}`] : [];
    });
    const text = `${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}`;
    const once = isCompositeType(type) ? `${text} ${selection(type, depth - 1)}` : text;
    const copies = draw(5) === 0 ? draw(aliases.left + 1) : 0;
    aliases.left -= copies;
    return [once, ...Array.from({ length: copies }, (_, n) => `a${aliases.left + n}: ${once}`)].join(' ');
  };
  const tenant = schema.getType('Tenant');
  const inside = selection(tenant as GraphQLNamedType, 2 + draw(6));
  const query = draw(8) === 0 ? `{ node(id: "x") { id ... on Tenant ${inside} } }` : `{ tenant ${inside} }`;
  return [query, ...fragments].join(' ');
}

const drawn = fc.infiniteStream(fc.nat(1_000_000)).map((numbers) => drawQuery((n) => Number(numbers.next().value) % n));

/** True when rows of a type stand below a row of that type, with a list between. */
function goesBackUp(way: string): boolean {
  const steps = way.split(' ');
  return steps.some((type, at) => type !== '[]' && steps.slice(at + 1, steps.lastIndexOf(type)).includes('[]'));
}

test('a query within the cost never comes to more values than it costs, and never goes back up through a list', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(drawn, async (query) => {
      const document = parse(query);
      expect(validate(schema, document)).toEqual([]);
      const { cost, refusal } = judge({ schema, document });
      if (refusal) return;
      accepted += 1;
      const { values, ways } = await onLargestSite(query);
      expect(values).toBeLessThanOrEqual(cost);
      expect(cost).toBeLessThanOrEqual(COST_LIMIT);
      expect([...ways].filter(goesBackUp)).toEqual([]);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(accepted).toBeGreaterThan(RUNS / 4);
});

test('no legal query comes to more values than the dearest one that the bench asks, but for one in forty', async () => {
  for (const query of Object.values(DEAREST)) {
    expect(validate(schema, parse(query))).toEqual([]);
    const { cost, refusal } = judge({ schema, document: parse(query) });
    expect([refusal?.message, cost <= COST_LIMIT]).toEqual([undefined, true]);
  }
  const { values } = await onLargestSite(DEAREST.values);
  expect(values).toBeGreaterThan(0.975 * Math.min(COST_LIMIT, VALUE_LIMIT));
});
