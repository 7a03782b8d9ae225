import { randomUUID } from 'node:crypto';
import type { GraphQLInterfaceType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../graphql/schema/schema.ts';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { inviteMember } from '../../modules/identity/use/members.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { WALLETS } from '../support/api.ts';
import type { GraphAnswer } from '../support/graphql.ts';
import { expectClean, startTestGraphql } from '../support/graphql.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases, insertSeen } from '../support/reports.ts';

/** Global ids: each object is found by its own, nobody else's is there, and a cache that goes by them sees every change. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let owner: string;
let stranger: string;
let keyId: string;
let jti: string;

beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site({ hosts: ['nodes.example'] });
  owner = await graph.owner(site.tenantId);
  stranger = await graph.owner((await graph.api.site()).tenantId, 'stranger');
  const { tenantId, host } = site;
  const { secretBox, outbound } = graph;
  const { database, pepper } = graph.api.deps;
  const at = { tenantId, host, slug: 'solo', kind: 'read', atMs: Date.now() - 60_000 } as const;
  const legs = [{ toAddress: WALLETS[0] as string, amountMicro: 1_000, authorId: 'ann' }];
  const [paymentId] = await insertPurchases(database, [{ ...at, steps: 1, legs }]);
  const batchId = randomUUID();
  await database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce) values ($1, 'eip155:84532', '0x1', 'settle', 'w', 1)`,
    [batchId],
  );
  await database.query('update test.payment set batch_id = $2 where payment_id = $1', [paymentId, batchId]);
  const agent = { agent: 'gptbot', agentUa: null, verified: null, verifiedAgent: null, sigInvalid: null } as const;
  const seen = { verdict: 'denied', classifiedAs: 'agent', micro: 5, reason: null, count: 1, paymentId: null } as const;
  await insertSeen(database, [{ ...at, ...seen, ...agent }]);
  jti = await sellLicence(database, tenantId, host);
  await database.query(
    `insert into usage_report (tenant_id, licence_jti, idempotency_id, request_hash, host, slug, use, count, at, day, place)
     values ($1, $2, 'one', '', $3, 'solo', 'ai-input', 1, now(), now(), 1)`,
    [tenantId, jti, host],
  );
  ({ keyId } = await mintKey({ database, pepper }, { tenantId, name: 'spare', scopes: ['tenant.read'] }));
  await inviteMember({ database, pepper, clock: Date.now }, { tenantId, authorId: 'ann', email: 'ann@example.com' });
  await importPages({ database }, { tenantId, pages: [{ slug: 'a b/ü', path: '/articles/a b/ü' }] });
  await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 10 });
  await changePricing({ database }, { tenantId, actor: { userId: 'ada', via: 'token' } }, 'price.set', { priceUsdc: '0.002' });
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
    url: 'https://hooks.example.com/in',
  });
  await pingEndpoint({ database }, tenantId, endpointId);
});
afterAll(() => graph.stop());

const one = (list: string, more = ''): string => `${list}(first: 1) { nodes { __typename id ${more} } }`;
const EVERYTHING = `{ tenant { __typename id ${one('crossings')} ${one('legs')} ${one('payments(', '').replace('((', '(filter: {purpose: PAGE}, ').replace('__typename id', '__typename id batch { __typename id }')}
  ${one('licencesSold')} ${one('usageReports')} ${one('observations')} ${one('hosts')} ${one('pages')} ${one('webhookEndpoints')} ${one('webhookEvents')}
  ${one('deliveries')} ${one('keys')} ${one('members')} ${one('auditLog')} ${one('anomalyRules')} } }`;

/** Type and id of all that was met. */
async function metBy(bearer: string): Promise<Map<string, string>> {
  const { data, errors } = await graph.ask(bearer, EVERYTHING);
  expect(errors).toEqual([]);
  const found = JSON.stringify(data).matchAll(/"__typename":"(\w+)","id":"([^"]+)"/g);
  return new Map([...found].map(([, type, id]) => [type as string, id as string]));
}

async function nodeOf(bearer: string, id: string, fields = ''): Promise<GraphAnswer> {
  const answer = await graph.ask(bearer, `query ($id: ID!) { node(id: $id) { __typename id ${fields} } }`, { id });
  expectClean(graph, answer);
  return answer;
}

test('every type of Node is met with an id, and found again by it', async () => {
  const met = await metBy(owner);
  const types = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType).map(({ name }) => name);
  expect([...met.keys()].toSorted()).toEqual(types.toSorted());
  for (const [__typename, id] of met)
    expect([__typename, (await nodeOf(owner, id)).data.node]).toEqual([__typename, { __typename, id }]);
  const page = await nodeOf(owner, met.get('Page') as string, '... on Page { slug url }');
  expect(page.data.node).toMatchObject({ slug: 'a b/ü', url: 'https://nodes.example/articles/a%20b/%C3%BC' });
});

test('what belongs to another site is not there, as what is made up is not', async () => {
  for (const id of (await metBy(owner)).values()) {
    const { data, errors } = await nodeOf(stranger, id);
    expect([data, errors]).toEqual([{ node: null }, []]);
  }
  const of = (text: string): string => Buffer.from(text).toString('base64url');
  const known = [
    'Payment x',
    'Leg 00000000-0000-0000-0000-000000000000:99999',
    'Host \0',
    'Page \ud800',
    'Observation x 1',
    'Nothing x',
  ];
  const ids = known.map((text) => of(text.replace(' ', ` ${site.tenantId} `)));
  const mixed = `Payment ${site.tenantId} ${randomUUID()}`;
  for (const id of ['', 'x', of('Tenant'), of(mixed), of(mixed).repeat(50), ...ids]) {
    expect([id, (await nodeOf(owner, id)).data, (await nodeOf(owner, id)).errors]).toEqual([id, { node: null }, []]);
  }
});

test('neither API tells the owner of a site where the operator’s workflows are', async () => {
  const names = Object.values(schema.getTypeMap()).flatMap((type) => ('getFields' in type ? Object.keys(type.getFields()) : []));
  expect(names).toContain('workflowId');
  expect(names.filter((name) => /workflows?url/i.test(name))).toEqual([]);
  const asked = await graph.ask(owner, '{ tenant { payments(first: 1) { nodes { batch { workflowUrl } } } } }');
  expect([asked.data ?? null, asked.errors.length]).toEqual([null, 1]);
  const { status, body } = await graph.api.request('/_svc/openapi.json');
  expect([status, /workflows?url/i.test(JSON.stringify(body))]).toEqual([200, false]);
});

test('a key finds by id what its scopes let it see, and nothing more', async () => {
  const met = await metBy(owner);
  const { database, pepper } = graph.api.deps;
  const { token } = await mintKey({ database, pepper }, { tenantId: site.tenantId, name: 'narrow', scopes: ['tenant.read'] });
  for (const [type, id] of met) {
    const { data, errors } = await nodeOf(token, id);
    const isOpen = ['Tenant', 'Host', 'Page', 'WebhookEndpoint'].includes(type);
    expect([type, data.node?.id ?? null]).toEqual([type, isOpen ? id : null]);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(isOpen ? [] : ['FORBIDDEN']);
  }
});

/** A cache as clients have it: what has an id is kept once, and every answer writes into it. */
class Cache {
  readonly #kept = new Map<string, Record<string, unknown>>();

  write(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.write(item));
    if (typeof value !== 'object' || value === null) return value;
    const written = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.write(member)]));
    const { id } = written;
    if (typeof id !== 'string') return written;
    this.#kept.set(id, { ...this.#kept.get(id), ...written });
    return { link: id };
  }

  read(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.read(item));
    if (typeof value !== 'object' || value === null) return value;
    const { link } = value as { link?: string };
    const known = link === undefined ? value : (this.#kept.get(link) as object);
    return Object.fromEntries(Object.entries(known).map(([name, member]) => [name, this.read(member)]));
  }
}

const GATE = 'gate { mode seoAllowlist crawlerPolicy { allow block } }';
const SHOWN = `{ tenant { id priceUsdc freeSlugs articlePrefixes creditsInline defaultPayee { wallet } alertEmail
  ${GATE} licenceOffering { sellsTraining } discovery { isListed summary tags relay }
  webhookEndpoints { nodes { id enabled profile description } } keys { nodes { id name revokedAt } }
  licencesSold { nodes { id revokedAt revokedReason } } anomalyRules { nodes { id threshold } } hosts { nodes { id host checkedAt } } } }`;

test('a cache that goes by ids shows what every change changed, without asking again', async () => {
  const cache = new Cache();
  const { data, errors } = await graph.ask(owner, SHOWN);
  expect(errors).toEqual([]);
  const shown = cache.write(data);
  const [endpoint] = data.tenant.webhookEndpoints.nodes;
  const endpointId = String(Buffer.from(endpoint.id, 'base64url')).split(' ').at(-1);
  const [rule] = data.tenant.anomalyRules.nodes;
  const ruleId = String(Buffer.from(rule.id, 'base64url')).split(' ').at(-1);
  const site = (fields: string): string => `tenant { id ${fields} }`;
  const changes: readonly [string, object, string][] = [
    [
      'setPrices',
      { priceUsdc: '0.03', defaultPayee: { authorId: 'desk', wallet: WALLETS[0] } },
      site('priceUsdc defaultPayee { wallet }'),
    ],
    ['setFreeSlugs', { slugs: ['one', 'two'] }, site('freeSlugs')],
    ['setArticlePrefixes', { prefixes: ['/news/'] }, site('articlePrefixes')],
    ['setCredits', { pages: [] }, site('creditsInline')],
    ['setGateScope', { mode: 'SITE' }, site(GATE)],
    ['setSeoAllowlist', { fragments: ['kagibot'] }, site(GATE)],
    ['setLicenceOffering', { sellsTraining: true }, site('licenceOffering { sellsTraining }')],
    ['setDiscovery', { summary: 'Essays', tags: ['stone'], relay: true }, site('discovery { isListed summary tags relay }')],
    ['setAlertAddress', { email: 'ops@example.com' }, site('alertEmail')],
    ['disableEndpoint', { endpointId }, 'endpoint { id enabled profile description }'],
    ['updateEndpoint', { endpointId, profile: 'SUMMARY', description: 'chat' }, 'endpoint { id enabled profile description }'],
    ['revokeKey', { keyId }, 'key { id revokedAt }'],
    ['revokeLicence', { jti }, 'licence { id revokedAt revokedReason }'],
    ['updateAnomalyRule', { ruleId, threshold: 77 }, 'rule { id threshold }'],
  ];
  for (const [name, input, fields] of changes) {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const change = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { ... on ${title}Payload { ${fields} } ... on Refusal { message } } }`;
    const made = await graph.ask(owner, change, { input });
    expect([name, made.errors, made.data.it.message]).toEqual([name, [], undefined]);
    const before = JSON.stringify(cache.read(shown));
    cache.write(made.data);
    expect([name, JSON.stringify(cache.read(shown)) === before]).toEqual([name, false]);
    expect([name, cache.read(shown)]).toEqual([name, (await graph.ask(owner, SHOWN)).data]);
  }
});

test('what was made has its id, and what is gone says which one it had', async () => {
  const made = await graph.ask(
    owner,
    `mutation { createAnomalyRule(input: { metric: DENIED, range: LAST_1H, threshold: 5 }) { ... on CreateAnomalyRulePayload { ruleId rule { id threshold } } } }`,
  );
  const { ruleId, rule } = made.data.createAnomalyRule;
  expect(rule).toEqual({ id: expect.any(String), threshold: 5 });
  const gone = await graph.ask(
    owner,
    `mutation ($ruleId: ID!) { deleteAnomalyRule(input: { ruleId: $ruleId }) { ... on DeleteAnomalyRulePayload { deletedId tenant { id } } } }`,
    { ruleId },
  );
  expect(gone.data.deleteAnomalyRule.deletedId).toBe(rule.id);
  expect((await nodeOf(owner, rule.id)).data).toEqual({ node: null });
});

test('the answer to a change shows rows and settings: with a list, a report, or more than a thousand values nothing is changed', async () => {
  const rename = (fields: string): string =>
    `mutation { setPrices(input: { priceUsdc: "0.09" }) { ... on SetPricesPayload { version ${fields} } } }`;
  const many = Array.from({ length: 12 }, (_, n) => `a${n}: tenant { gate { crawlerPolicy { allow } } networks { taken } }`).join(
    ' ',
  );
  const long = `tenant { ${Array.from({ length: 15 }, (_, n) => `b${n}: freeSlugs`).join(' ')} }`;
  for (const fields of [
    'tenant { crossings { totalCount } }',
    'tenant { earnings { totals { events } } }',
    'tenant { pages { nodes { slug } } }',
  ]) {
    const { errors, data } = await graph.ask(owner, rename(fields));
    expect([data, errors.map(({ extensions }) => extensions.limit)]).toEqual([null, ['change']]);
  }
  expect((await graph.ask(owner, SHOWN)).data.tenant.priceUsdc).not.toBe('0.09');
  for (const fields of [many, long]) expect((await graph.ask(owner, rename(fields))).errors).toEqual([]);
  const changes = Array.from(
    { length: 14 },
    (_, n) => `c${n}: redeliver(input: { deliveryId: "x" }) { ... on RedeliverPayload { delivery {
    attempts { attempt status reason } event { type } } } }`,
  );
  const dear = await graph.ask(owner, `mutation { ${changes.join(' ')} }`);
  expect([dear.data, dear.errors.map(({ extensions }) => extensions.limit), dear.extensions.cost.most]).toEqual([
    null,
    ['cost'],
    1_000,
  ]);
});
