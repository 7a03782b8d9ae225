import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEngine } from '../../graphql/request/engine.ts';
import { createGraphqlHandler } from '../../graphql/request/handler.ts';
import { linkedRows } from '../../modules/reports/use/rowsLinks.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { askedOf, startBusySite } from '../support/busy-site.ts';
import type { GraphAnswer } from '../support/graphql.ts';

/** Links to the rows of a query: what they give, how long, and what they never give. */

let world: Awaited<ReturnType<typeof startBusySite>>;
let sql: ReturnType<typeof askedOf>['sql'];
let owner: string;

beforeAll(async () => {
  world = await startBusySite();
  ({ sql } = askedOf(world));
  owner = await world.graph.owner(world.site.tenantId);
});
afterAll(() => world?.graph.stop());

async function make(query: string, more: object = {}): Promise<GraphAnswer> {
  return await world.graph.ask(
    owner,
    `mutation ($input: MakeRowsLinkInput!) { makeRowsLink(input: $input) {
      ... on MakeRowsLinkPayload { url expiresAt } ... on Refusal { message } ... on InvalidInput { parameter } } }`,
    { input: { query, ...more } },
  );
}

/** Where a link leads in this test: the service's own address is another one. */
const here = (url: string, base = world.graph.url): string => `${base}?${new URL(url).searchParams}`;

const LEGS = '{ tenant { legs(filter: { includePlatform: true }) { nodes { micro at slug crossing { crossingId } } } } }';

test('a link gives all rows of its query as lines, page by page, and again after a restart', async () => {
  const { data } = await make(LEGS);
  const response = await fetch(here(data.makeRowsLink.url));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  const text = await response.text();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rows = await sql(
    `select amount_micro::text as micro, (extract(epoch from at) * 1000)::float8 as at, slug, jsonb_build_object('crossingId', crossing_id) as crossing
     from leg where tenant_id = $1`,
  );
  const sorted = (all: readonly unknown[]): string[] =>
    all.map((one) => JSON.stringify(Object.entries(one as object).toSorted())).toSorted();
  expect(sorted(lines)).toEqual(sorted(rows));
  expect(lines.length).toBeGreaterThan(300);

  const { api, reading, outbound } = world.graph;
  const deps = {
    ...api.deps,
    outbound,
    secretBox: createSecretBox(Buffer.alloc(32, 1)),
    oidc: null,
    heavy: openHeavyWork({ connections: { reports: 1, questions: 1 } }),
  };
  const networkIds = api.deps.networks.ids;
  const engine = openEngine({ ...api.deps, reading, networkIds }, null);
  const again = createGraphqlHandler(deps as never, { ask: engine, change: engine }, null);
  const server = createServer((request, answer) => void again(request, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const restarted = await fetch(
    here(data.makeRowsLink.url, `http://127.0.0.1:${(server.address() as AddressInfo).port}/_svc/graphql`),
  );
  expect((await restarted.text()) === text).toBe(true);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('a file goes on after the cursor that it is given', async () => {
  const { data } = await make('{ tenant { crossings(first: 30) { nodes { crossingId } } } }');
  const whole = (await (await fetch(here(data.makeRowsLink.url))).text()).trimEnd().split('\n');
  const page = await world.graph.ask(owner, '{ tenant { crossings(first: 30) { pageInfo { endCursor } } } }');
  const after = page.data.tenant.crossings.pageInfo.endCursor;
  const rest = await (await fetch(`${here(data.makeRowsLink.url)}&after=${after}`)).text();
  expect(rest.trimEnd().split('\n')).toEqual(whole.slice(30));
  const bad = await fetch(`${here(data.makeRowsLink.url)}&after=nonsense`);
  expect([bad.status, await bad.text()]).toEqual([400, expect.stringMatching(/not a cursor of this list/)]);
});

test.each([
  ['not GraphQL', '{ tenant {', /^query: Syntax Error/],
  ['two lists', '{ tenant { crossings { nodes { at } } legs { nodes { at } } } }', /^query: must be a query of one list/],
  ['no list', '{ tenant { tenantId } }', /^query: must be a query of one list/],
  ['another site', '{ tenant(tenantId: "x") { crossings { nodes { at } } } }', /^query: must ask `tenant` without an argument/],
  ['who asks', '{ viewer { tenants { nodes { tenantId } } } }', /^query: must ask `tenant`/],
  ['a change', 'mutation { x }', /^query: must be a query of one list/],
  ['more than rows', '{ tenant { crossings { totalCount nodes { at } } } }', /^query: must ask the list for its `nodes`/],
  ['a page', '{ tenant { crossings(after: "x") { nodes { at } } } }', /^query: must not say after/],
  ['an unknown field', '{ tenant { crossings { nodes { nothing } } } }', /^query: Cannot query field "nothing"/],
  [
    'a page that costs too much',
    '{ tenant { crossings { nodes { legs { micro at slug host kind role share } } } } }',
    /^query: this query costs/,
  ],
])('a link to %s is refused in a sentence', async (_what, query, sentence) => {
  const { data } = await make(query);
  expect(data.makeRowsLink.message).toMatch(sentence);
});

test('links that ended, were tampered with, or are of something else lead nowhere; a key makes none', async () => {
  const { data } = await make(LEGS, { hours: 1 });
  const { url, expiresAt } = data.makeRowsLink;
  expect(expiresAt).toBeGreaterThan(world.graph.api.deps.clock() + 3_500_000);
  const token = new URL(url).searchParams.get('rows') ?? '';
  for (const wrong of [`${token.slice(0, -4)}AAAA`, 'x', '']) {
    const { status } = await fetch(`${world.graph.url}?rows=${wrong}`);
    expect(status).toBe(400);
  }
  const { deps } = world.graph.api;
  expect(await linkedRows(deps, token)).toMatchObject({ tenantId: world.site.tenantId });
  await expect(linkedRows({ ...deps, clock: () => expiresAt }, token)).rejects.toThrow(/this link has ended/);
  const byKey = await world.graph.ask(
    world.site.key,
    `mutation { makeRowsLink(input: { query: "{ tenant { legs { nodes { at } } } }" }) { ... on MakeRowsLinkPayload { url } } }`,
  );
  expect(byKey.errors[0]?.extensions.code).toBe('FORBIDDEN');
  for (const hours of [0, 169])
    expect((await make(LEGS, { hours })).data.makeRowsLink.message).toMatch(/^hours: must be 1 to 168$/);
  expect((await make(LEGS, { variables: '[1]' })).data.makeRowsLink.parameter).toBe('variables');
});
