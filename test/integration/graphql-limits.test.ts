import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeSchema } from '../../graphql/schema/schema.ts';
import { expectClean, sendGraph, startTestGraphql } from '../support/graphql.ts';
import { slowness } from '../support/turns.ts';

/** One query for each limit of the GraphQL endpoint, and bad input of every other kind. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site();
});
afterAll(() => graph.stop());

const VIEWER = '{ viewer { tenantIds } }';

const DEEP =
  '{ tenant { payments(first: 1) { nodes { successor { successor { successor { successor { successor { slug } } } } } } } } }';
const DEAR =
  '{ tenant { crossings(first: 100) { nodes { legs { toAddress micro } } } payments(first: 100) { nodes { crossings { legs { micro } } } } } }';
/** What looped by one key took other sites' quotes to seconds: from each of 24 legs to all of its crossing's 50, and once more. */
const BACK_UP = '{ tenant { legs(first: 24) { nodes { crossing { legs { crossing { legs { at slug } } } } } } } }';
/** A level deeper with each fragment, and twice as wide: written out it would have 2^40 fields. */
const DOUBLING = Array.from(
  { length: 40 },
  (_, n) => `fragment f${n} on Payment { successor { ...f${n + 1} } licence { payment { ...f${n + 1} } } }`,
).join(' ');
const cursor = (text: string): string => Buffer.from(text).toString('base64url');
const crossingsAfter = (after: string): string => `{ tenant { crossings(after: "${after}") { nodes { slug } } } }`;

test.each<[string, string, RegExp]>([
  ['depth', DEEP, /^this query is 9 levels deep; 8 are allowed$/],
  [
    'depth, in doubling fragments',
    `{ tenant { payments { nodes { ...f0 } } } } ${DOUBLING} fragment f40 on Payment { slug }`,
    /deep/,
  ],
  ['cost', DEAR, /^this query costs 66685; 20000 are allowed/],
  ['going back up', BACK_UP, /^a query must not go back up: below this Leg, a list leads to Leg again/],
  [
    'going back up, in fragments',
    '{ tenant { legs { nodes { ...a } } } } fragment a on Leg { crossing { ...b } } fragment b on Crossing { legs { at } }',
    /^a query must not go back up/,
  ],
  [
    'going back up from events',
    '{ tenant { deliveries { nodes { event { deliveries { state } } } } } }',
    /^a query must not go back up/,
  ],
  [
    'cost, of one field many times',
    `{ tenant { ${'crossings(first: 100) { totalCount } '.repeat(100)} } }`,
    /^this query costs 24005;/,
  ],
  ['cost, in a fragment', `{ tenant { ...dear } } fragment dear on Tenant ${DEAR.slice(9, -1)}`, /^this query costs 66685;/],
  [
    'aliases',
    `{ ${Array.from({ length: 16 }, (_, n) => `a${n}: viewer { isOwner }`).join(' ')} }`,
    /^this document has too many aliases: 15 are allowed$/,
  ],
  [
    'aliases of __typename',
    `{ viewer { ${Array.from({ length: 16 }, (_, n) => `a${n}: __typename`).join(' ')} } }`,
    /too many aliases: 15/,
  ],
  [
    'directives',
    `{ ${'viewer { isOwner @include(if: true) } '.repeat(51)} }`,
    /^this document has too many directives: 50 are allowed$/,
  ],
  ['tokens', `{ ${'viewer { isOwner } '.repeat(300)} }`, /^this document has too many tokens: 1000 are allowed$/],
  ['characters', `{ viewer { isOwner } } #${'x'.repeat(33_000)}`, /longer than 32768 characters/],
  ['page', '{ tenant { crossings(first: 101) { nodes { slug } } } }', /^first: must be at most 100$/],
  ['page below one', '{ tenant { crossings(first: -5) { nodes { slug } } } }', /^first: must be at least 1$/],
  ['introspection, twice', '{ __schema { types { name } } __type(name: "Tenant") { name } }', /introspect the schema once/],
  ['introspection, with aliases', '{ __schema { a: types { name } b: types { name } } }', /introspect the schema once/],
  ['introspection, list in list', '{ __schema { types { fields { type { fields { name } } } } } }', /introspect the schema once/],
  [
    'introspection, list in list of fragments',
    '{ __schema { types { ...f } } } fragment f on __Type { fields { type { ofType { ...g } } } } fragment g on __Type { fields { name } }',
    /introspect the schema once/,
  ],
  [
    'circular fragments',
    '{ tenant { ...a } } fragment a on Tenant { tenantId ...b } fragment b on Tenant { ...a }',
    /^Cannot spread fragment "a" within itself via "b"\.$/,
  ],
  ['unknown field', '{ tenant { secrets } }', /^Cannot query field "secrets"/],
  ['wrong type', '{ tenant { crossings(first: "ten") { nodes { slug } } } }', /^first: Int cannot represent non-integer value/],
  ['wrong scalar', '{ tenant { crossings(filter: { minMicro: 5 }) { nodes { slug } } } }', /Micro is written as a string/],
  ['wrong enum', '{ tenant { crossings(orderBy: PRETTIEST) { nodes { slug } } } }', /does not exist in "AmountOrder" enum/],
  ['syntax', '{ tenant { ', /^Syntax Error/],
  ['empty', '', /./],
  ['no such cursor', crossingsAfter('nonsense'), /^after: not a cursor/],
  ['cursor of another order', crossingsAfter(cursor('["LARGEST","1","x"]')), /^after: not a cursor/],
  ['forged cursor', crossingsAfter(cursor(`["NEWEST","x","'; drop table"]`)), /^after: not a cursor/],
  ['NUL in a cursor', crossingsAfter(cursor('["NEWEST","2026-01-01","\\u0000"]')), /^after: not a cursor/],
  [
    'two beginnings',
    '{ tenant { earnings(window: { lastDays: 1, lastHours: 1 }) { totals { events } } } }',
    /^window: give one of/,
  ],
  [
    'a window that ends before it begins',
    '{ tenant { earnings(window: { from: 20, to: 10 }) { totals { events } } } }',
    /^window: must not end before it begins$/,
  ],
  ['NUL in a filter', '{ tenant { crossings(filter: { slug: "a\\u0000b" }) { nodes { slug } } } }', /not of the form/],
  [
    'an id that is none',
    '{ tenant { deliveries(filter: { endpointId: "x" }) { nodes { state } } } }',
    /^filter.endpointId: is not an id$/,
  ],
])('a query beyond the limit of, or with bad, %s is refused as the caller’s mistake', async (_name, query, sentence) => {
  const answer = await graph.ask(site.key, query);
  expect(answer.errors.map(({ extensions }) => extensions.code)).toContain('BAD_USER_INPUT');
  expect(answer.errors[0]?.message).toMatch(sentence);
  const isLimit = /deep|costs|must not go|too many|introspect/.test(sentence.source);
  expect(answer.errors[0]?.extensions.reason === 'query_limit').toBe(isLimit);
  expect(answer.text).not.toContain('"slug":');
  expectClean(graph, answer);
});

test('an answer says where a query is dear, by the names of the answer', async () => {
  const { extensions } = await graph.ask(
    site.key,
    '{ mine: tenant { ...f } viewer { isOwner } } fragment f on Tenant { few: crossings(first: 1) { nodes { slug } } crossings(first: 50) { nodes { slug } } }',
  );
  const { total, most, left, dearest } = extensions.cost;
  expect([left, dearest[0].path, dearest[1].path]).toEqual([most - total, 'mine.crossings', 'mine.few']);
  expect(dearest[0].cost).toBeGreaterThan(dearest[1].cost);
  expect(dearest.length).toBeLessThanOrEqual(5);
});

test('with @costOnly an operation says what it would cost, and nothing of it is done', async () => {
  const query = '{ tenant { crossings(first: 9) { totalCount nodes { slug } } } }';
  const asked = await graph.ask(site.key, query);
  graph.count();
  const only = await graph.ask(site.key, `query @costOnly ${query}`);
  expect([only.data, only.errors, only.extensions, graph.count()]).toEqual([null, [], asked.extensions, 0]);
  const dear = await graph.ask(site.key, `query @costOnly ${DEAR}`);
  expect([dear.errors[0]?.extensions.limit, dear.extensions.cost.left]).toEqual(['cost', 0]);
  const owner = await graph.owner(site.tenantId);
  const change = 'setPrices(input: { priceUsdc: "0.77" }) { ... on SetPricesPayload { version } }';
  expect((await graph.ask(owner, `mutation @costOnly { ${change} }`)).data).toBeNull();
  expect((await graph.ask(owner, '{ tenant { priceUsdc } }')).data.tenant.priceUsdc).not.toBe('0.77');
});

test('what tools ask of the schema is answered', async () => {
  const { errors, data } = await graph.ask(site.key, getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }));
  expect(errors).toEqual([]);
  expect(describeSchema()).toContain(`type ${data.__schema.queryType.name} {`);
  const one = await graph.ask(site.key, '{ __type(name: "Query") { fields { type { ofType { fields { name } } } } } }');
  expect(one.errors).toEqual([]);
});

test('a fragment that spreads another many times over, sixty levels, costs what it costs once', async () => {
  const bomb = Array.from({ length: 60 }, (_, n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`).join(' ');
  const answer = await graph.ask(site.key, `{ ...f0 } ${bomb} fragment f60 on Query { viewer { isOwner } }`);
  expectClean(graph, answer);
  expect(answer.errors.length + (answer.data ? 1 : 0)).toBeGreaterThan(0);
});

test.each([
  ['a body of ten thousand aliases', 10_000],
  ['as many aliases as a document may be long', 1_300],
])('%s costs at most 50 ms of CPU', async (_name, aliases) => {
  const query = `{ ${Array.from({ length: aliases }, (_, n) => `a${n}: viewer { isOwner }`).join(' ')} }`;
  const spentMs: number[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const before = process.cpuUsage();
    const answer = await graph.ask(site.key, `${query} # ${turn}`);
    const { user, system } = process.cpuUsage(before);
    spentMs.push((user + system) / 1_000);
    expect(answer.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expectClean(graph, answer);
  }
  // The client and all else of this process are in the figure, so the least of ten is the request's.
  expect(Math.min(...spentMs)).toBeLessThanOrEqual(50 * slowness());
});

test.each<[string, string, Record<string, string>]>([
  ['a batch', JSON.stringify([{ query: VIEWER }, { query: VIEWER }]), {}],
  ['no JSON', '{', {}],
  ['JSON that is no object', '"query"', {}],
  ['no document', '{}', {}],
  ['a document that is no text', '{"query":{}}', {}],
  ['a form', `query=${VIEWER}`, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['plain text', JSON.stringify({ query: VIEWER }), { 'content-type': 'text/plain' }],
  ['a body over the limit', JSON.stringify({ query: VIEWER, variables: { a: 'x'.repeat(1_100_000) } }), {}],
])('%s is refused with 400', async (_name, body, headers) => {
  const answer = await sendGraph(graph.url, site.key, body, headers);
  expect([answer.status, answer.errors[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  expectClean(graph, answer);
});
