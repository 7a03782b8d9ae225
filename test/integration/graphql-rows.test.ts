import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rateHandler } from '../../api/rated.ts';
import { answerOf } from '../../graphql/request/answer.ts';
import type { Engine } from '../../graphql/request/engine.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { bearerOf, createGraphqlHandler, sendError } from '../../graphql/request/handler.ts';
import { openRows } from '../../graphql/rows/stream.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { linkedRows, makeRowsLink } from '../../modules/reports/use/rowsLinks.ts';
import { markOwnerTokenRevoked, setOwner } from '../../modules/tenants/store/owners.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import { openRates } from '../../platform/pacing/rates.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { askedOf, startBusySite } from '../support/busy-site.ts';
import type { GraphAnswer } from '../support/graphql.ts';
import { askGraph } from '../support/graphql.ts';

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

/** What another process answers with, with other parts where `more` says so. */
function depsOf(more: object = {}) {
  const { api, outbound } = world.graph;
  const heavy = openHeavyWork({ connections: { reports: 1, questions: 1 } });
  return { ...api.deps, outbound, secretBox: createSecretBox(Buffer.alloc(32, 1)), oidc: null, heavy, ...more };
}

function engineOf(): Engine {
  const { api, reading } = world.graph;
  return openEngine({ ...api.deps, reading, networkIds: api.deps.networks.ids }, null);
}

/** Another process of the service, as far as links go. */
async function another({ ask = engineOf(), ...more }: { readonly ask?: Engine; readonly oidc?: object } = {}) {
  return await serve(createGraphqlHandler(depsOf(more) as never, { ask, change: ask }, null));
}

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/_svc/graphql`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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

  const again = await another();
  const restarted = await fetch(here(data.makeRowsLink.url, again.url));
  expect((await restarted.text()) === text).toBe(true);
  await again.stop();
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
  [
    'lists of several',
    '{ tenant { attention { licencesEnding { pagesGranted { nodes { slug } } } } } }',
    /^query: must come to one list: licencesEnding is a list of its own/,
  ],
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
  const { kid } = deps.keyring.current();
  const claims = {
    iss: deps.baseUrl,
    iat: 0,
    exp: expiresAt / 1000,
    svc: { tenantId: world.site.tenantId, query: LEGS, variables: {} },
  };
  const nobodys = await deps.keyring.sign(kid, claims, { kid: `rows#${kid}` });
  expect((await fetch(`${world.graph.url}?rows=${nobodys}`)).status).toBe(400);
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

test('a query that is too long for a link in bytes is refused when the link is made', async () => {
  const { data } = await make('{ tenant { legs(filter: { slug: "x" }) { nodes { at } } } }', {
    variables: JSON.stringify({ x: '€'.repeat(1_500) }),
  });
  expect(data.makeRowsLink.message).toMatch(/^query: with its variables it is too long for a link/);
});

test('a link to a list that is not there gives no empty file', async () => {
  const { data } = await make(
    '{ tenant { crossing(crossingId: "0199a0e0-0000-7000-8000-000000000000") { payment { licence { pagesGranted { nodes { slug } } } } } } }',
  );
  const response = await fetch(here(data.makeRowsLink.url));
  expect([response.status, (await response.json()).errors[0].extensions.reason]).toEqual([400, 'not_found']);
});

test('whoever cuts a file owes for the pages he had, and is refused until he has paid them off', async () => {
  const perSecond = { address: 1_000, refused: 1_000, key: 1, tenant: 1_000, account: 1_000, account_address: 1_000 };
  const rates = openRates({ limits: { perSecond, burstSeconds: 5 }, clock: () => 0 });
  const deps = depsOf({ rates });
  const ask = engineOf();
  const handler = createGraphqlHandler(deps as never, { ask, change: ask }, null);
  const refuse = (response: ServerResponse, error: unknown): void => sendError(deps, response, error);
  const rated = rateHandler(handler, { ...deps, rates, addressOf: () => '192.0.2.1', bearerOf, refuse } as never);
  const { url, stop } = await serve(rated);
  const { data } = await make(LEGS);
  const link = here(data.makeRowsLink.url, url);
  const reader = (await fetch(link)).body?.getReader();
  for (let text = ''; text.split('\n').length <= 101; ) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  await vi.waitFor(async () => {
    const response = await fetch(`${link}&after=nonsense`);
    const { message } = (await response.json()).errors[0];
    expect([response.status, message]).toEqual([429, expect.stringMatching(/^too many calls/)]);
  });
  await stop();
});

test('bearers that are made up for a link count for the address they come from', async () => {
  const perSecond = { address: 20, refused: 1_000, key: 1_000, tenant: 1_000, account: 1_000, account_address: 1_000 };
  const rates = openRates({ limits: { perSecond, burstSeconds: 1 }, clock: () => 0 });
  const handler = (_request: IncomingMessage, response: ServerResponse): void => void response.end('rows');
  const refuse = (response: ServerResponse): void => void response.writeHead(429).end();
  const rated = rateHandler(handler, { ...depsOf(), rates, addressOf: () => '192.0.2.1', bearerOf, refuse } as never);
  const { url, stop } = await serve(rated);
  const statuses: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    statuses.push((await fetch(`${url}?rows=x`, { headers: { authorization: `Bearer made-up-${n}` } })).status);
  }
  expect(statuses).toEqual([200, 200, 429, 429]);
  await stop();
});

test('a link ends with the token that made it, and with the ownership', async () => {
  const { database, pepper, keyring, baseUrl, clock } = world.graph.api.deps;
  const { tenantId } = world.site;
  const { token, tokenId } = await createOwnerToken({ database, pepper }, { tenantId, userId: 'guest' });
  const { data } = await askGraph(
    world.graph.url,
    token,
    `mutation { makeRowsLink(input: { query: "{ tenant { hosts { nodes { host } } } }" }) { ... on MakeRowsLinkPayload { url } } }`,
  );
  const follow = async (url: string, base?: string) => {
    const response = await fetch(here(url, base));
    const text = await response.text();
    return response.ok ? text.trimEnd().split('\n').length : (JSON.parse(text).errors[0].message as string);
  };
  expect(await follow(data.makeRowsLink.url)).toBe(world.hosts.length);
  await markOwnerTokenRevoked(database, tenantId, tokenId, new Date());
  expect(await follow(data.makeRowsLink.url)).toMatch(/^this link has ended/);

  const issuer = 'https://id.example';
  const { url, stop } = await another({ oidc: { issuer } });
  await setOwner(database, tenantId, { userId: 'ada', issuer }, new Date());
  const made = await makeRowsLink(
    { database, keyring, baseUrl, clock },
    { actor: { userId: 'ada', via: 'oidc' }, tenantId, origin: { issuer, userId: 'ada', tokenId: null } },
    { query: '{ tenant { hosts { nodes { host } } } }', variables: {} },
  );
  const link = `${url}?rows=${made.token}`;
  expect(await follow(link, url)).toBe(world.hosts.length);
  await setOwner(database, tenantId, { userId: 'bob', issuer }, new Date());
  expect(await follow(link, url)).toMatch(/^this link has ended/);
  await stop();
});

test('a second file of a site waits for the first', async () => {
  const ask = engineOf();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let pages = 0;
  const { url, stop } = await another({
    ask: async (call: Parameters<Engine>[0]) => {
      pages += 1;
      if (pages === 2) await released;
      return await ask(call);
    },
  });
  const { data } = await make(LEGS);
  const link = here(data.makeRowsLink.url, url);
  const first = await fetch(link);
  const second = await fetch(link);
  expect([first.status, second.status, second.headers.get('retry-after')]).toEqual([200, 429, '30']);
  await second.text();
  release();
  expect((await first.text()).split('\n').length).toBeGreaterThan(300);
  expect((await (await fetch(link)).text()).split('\n').length).toBeGreaterThan(300);
  await stop();
});

test.each([
  ['TIMEOUT', 'statement_timeout', 503],
  ['TIMEOUT', 'query_limit', 503],
  ['UNAVAILABLE', 'database_unavailable', 503],
  ['INTERNAL', 'internal', 500],
])(
  'a page that fails with %s (%s) is no fault of the reader, and a file that began goes on after it',
  async (code, reason, status) => {
    const real = engineOf();
    let failsAt = 1;
    let pages = 0;
    const ask: Engine = async (call) => {
      pages += 1;
      const failed = JSON.stringify({ errors: [{ message: 'no', extensions: { code, reason } }] });
      return pages === failsAt ? answerOf(200, failed) : await real(call);
    };
    const { url, stop } = await another({ ask });
    const { data } = await make(LEGS);
    const link = here(data.makeRowsLink.url, url);
    const whole = await (await fetch(here(data.makeRowsLink.url))).text();
    const failed = await fetch(link);
    expect([failed.status, failed.headers.has('retry-after')]).toEqual([status, status === 503]);
    await failed.text();
    [pages, failsAt] = [0, 3];
    const text = (await fetch(link)).text();
    if (status === 500) await expect(text).rejects.toThrow();
    else {
      const lines = (await text).trimEnd().split('\n');
      const { rowsAfter } = JSON.parse(lines.pop() ?? '');
      const rest = await (await fetch(`${link}&after=${rowsAfter}`)).text();
      expect(`${lines.join('\n')}\n${rest}` === whole).toBe(true);
    }
    await stop();
  },
);

test('a reader who takes nothing is cut when the time of a file is over, and the next one of the site is served', async () => {
  const node = { text: 'x'.repeat(4_000_000) };
  const connection = { nodes: [node, node], pageInfo: { hasNextPage: true, endCursor: 'on' } };
  let [asked, counted] = [0, 0];
  const ask: Engine = () => {
    asked += 1;
    return Promise.resolve(answerOf(200, JSON.stringify({ data: { tenant: { hosts: connection } } })));
  };
  const queue = (): number => {
    counted += 1;
    return 0;
  };
  const deps = depsOf({ rates: { queue, count: () => undefined } });
  const send = openRows(deps as never, ask, 500);
  const { data } = await make('{ tenant { hosts { nodes { host } } } }');
  const token = new URL(data.makeRowsLink.url).searchParams.get('rows') ?? '';
  const { port, url, stop } = await serve(async (request, response) => {
    await send(request, response, token, null).catch((error: unknown) => sendError(deps, response, error));
  });
  const idle = connect(port, '127.0.0.1');
  idle.pause();
  idle.on('error', () => undefined);
  idle.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await vi.waitFor(
    async () => {
      const { status } = await fetch(url);
      expect([status, asked]).toEqual([429, 1]);
    },
    { timeout: 20_000 },
  );
  await vi.waitFor(
    async () => {
      const next = await fetch(url);
      const { status } = next;
      await next.body?.cancel();
      expect(status).toBe(200);
    },
    { timeout: 20_000, interval: 200 },
  );
  idle.destroy();
  await stop();
  expect(counted).toBe(asked);
});
