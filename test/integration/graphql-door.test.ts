import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { setTenantPlan, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import { expectClean, startTestGraphql } from '../support/graphql.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases } from '../support/reports.ts';

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let other: Awaited<ReturnType<typeof graph.api.site>>;
let ofOther: { paymentId: string; crossingId: string; jti: string; endpointId: string; eventId: string; deliveryId: string };

beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site();
  other = await graph.api.site();
  const legs = [{ toAddress: `0x${'a1'.repeat(20)}`, amountMicro: 1_000, authorId: 'ann' }];
  const atMs = Date.now() - 60_000;
  const [paymentId] = await insertPurchases(graph.api.deps.database, [
    { tenantId: other.tenantId, host: other.host, slug: 'solo', kind: 'read', atMs, steps: 1, legs },
  ]);
  const [row] = await graph.api.deps.database.query<{ crossing_id: string }>('select crossing_id from crossing');
  const { database } = graph.api.deps;
  const { secretBox, outbound } = graph;
  const jti = await sellLicence(database, other.tenantId, other.host);
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, other.tenantId, {
    url: 'https://hooks.example.com/',
  });
  const ping = await pingEndpoint({ database }, other.tenantId, endpointId);
  ofOther = { paymentId: paymentId as string, crossingId: row?.crossing_id as string, jti, endpointId, ...ping };
});
afterAll(() => graph.stop());

const VIEWER = '{ viewer { tenantIds } }';

test('without a credential, or with one nobody issued, nothing runs: not even introspection', async () => {
  for (const bearer of [null, 'svc_live_nonsense', 'svc_owner_nonsense', 'a.b.c', site.key.slice(0, -1)]) {
    for (const query of [VIEWER, '{ __schema { types { name } } }']) {
      const answer = await graph.ask(bearer, query);
      expect([answer.status, answer.errors[0]?.extensions.code, answer.data]).toEqual([401, 'UNAUTHENTICATED', null]);
      expectClean(graph, answer);
    }
  }
});

test('a key may introspect', async () => {
  const { data } = await graph.ask(site.key, '{ __schema { queryType { name } } }');
  expect(data.__schema.queryType.name).toBe('Query');
});

test('a revoked key is refused in the very next call', async () => {
  const { database, pepper } = graph.api.deps;
  const { token, keyId } = await mintKey({ database, pepper }, { tenantId: site.tenantId, name: 'gone', scopes: SCOPES });
  expect((await graph.ask(token, VIEWER)).data.viewer.tenantIds).toEqual([site.tenantId]);
  await revokeKey({ database }, { tenantId: site.tenantId, keyId });
  expect((await graph.ask(token, VIEWER)).status).toBe(401);
});

test('GET gives people a page that loads nothing from elsewhere, and is refused where the page is off', async () => {
  const page = await fetch(graph.url, { headers: { accept: 'text/html' } });
  const html = await page.text();
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="https?:/);
  expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'");
  expect(html).toContain('Which agents earned us most');
  for (const [url, accept] of [
    [`${graph.url}?query={viewer{isOwner}}`, 'application/json'],
    [graph.url.replace('/_svc/', '/bare/_svc/'), 'text/html'],
  ] as const) {
    const answer = await fetch(url, { headers: { accept, authorization: `Bearer ${site.key}` } });
    expect([answer.status, answer.headers.get('allow')?.includes('POST')]).toEqual([405, true]);
  }
});

test('the page is sent compressed, and not again to whoever has it', async () => {
  const get = (headers: Record<string, string>) => fetch(graph.url, { headers: { accept: 'text/html', ...headers } });
  const plain = await get({ 'accept-encoding': 'identity' });
  const html = await plain.text();
  const tags = new Set([plain.headers.get('etag')]);
  for (const coding of ['br', 'gzip'] as const) {
    const page = await get({ 'accept-encoding': `${coding}, identity;q=0.5` });
    expect([page.headers.get('content-encoding'), page.headers.get('cache-control')]).toEqual([coding, 'no-cache']);
    expect(Number(page.headers.get('content-length'))).toBeLessThan(html.length / 3);
    expect((await page.text()) === html).toBe(true);
    const etag = page.headers.get('etag') as string;
    const again = await get({ 'accept-encoding': coding, 'if-none-match': `"other", W/${etag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    tags.add(etag);
  }
  expect(tags.size).toBe(3);
});

const SCOPE_OF: readonly [string, Scope][] = [
  ['plan', 'tenant.read'],
  ['gate { mode }', 'tenant.read'],
  ['licenceOffering { sellsTraining }', 'tenant.read'],
  ['discovery { isListed summary tags relay }', 'tenant.read'],
  ['pages { nodes { slug } }', 'tenant.read'],
  ['hosts { nodes { host } }', 'tenant.read'],
  ['webhookEndpoints { nodes { origin } }', 'tenant.read'],
  ['earnings { totals { events } }', 'earnings.read.all'],
  ['statements { totalMicro }', 'earnings.read.all'],
  ['reconciliation { settled { micro } }', 'earnings.read.all'],
  ['crossings { nodes { slug } }', 'earnings.read.all'],
  ['legs { nodes { slug } }', 'earnings.read.all'],
  ['payments { nodes { slug } }', 'earnings.read.all'],
  ['licencesSold { nodes { jti } }', 'earnings.read.all'],
  ['usageReports { nodes { slug } }', 'earnings.read.all'],
  ['usage { pages { nodes { slug } } }', 'earnings.read.all'],
  ['webhookEvents { nodes { eventId } }', 'earnings.read.all'],
  ['deliveries { nodes { state } }', 'earnings.read.all'],
  ['audit { totals { denied } }', 'audit.read'],
  ['agents { nodes { agent } }', 'audit.read'],
  ['observations { nodes { slug } }', 'audit.read'],
  ['anomalyRules { nodes { ruleId } }', 'audit.read'],
  ['members { nodes { authorId } }', 'member.read'],
  ['hosts { nodes { challenge { token } } }', 'tenant.read'],
];

test.each(SCOPE_OF)('%s needs the scope %s, and a refusal takes that field alone', async (field, scope) => {
  const { database, pepper } = graph.api.deps;
  const { tenantId } = site;
  const name = field.split(/[ {]/, 1)[0] as string;
  const rest = SCOPES.filter((one) => one !== scope);
  const without = await mintKey({ database, pepper }, { tenantId, name: 'without', scopes: rest });
  const refused = await graph.ask(without.token, `{ tenant { tenantId ${field} } }`);
  expect(refused.data.tenant).toEqual({ tenantId, [name]: null });
  expect(refused.errors.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([[name, 'FORBIDDEN']]);
  expectClean(graph, refused);
  const with_ = await mintKey({ database, pepper }, { tenantId, name: 'with', scopes: [scope] });
  const let_ = await graph.ask(with_.token, `{ tenant { ${field} } }`);
  expect(let_.errors).toEqual([]);
  for (const keyId of [without.keyId, with_.keyId]) await revokeKey({ database }, { tenantId, keyId });
});

test('keys, the audit log, where alerts go, and an endpoint’s whole URL are for owners alone', async () => {
  const { tenantId } = site;
  const { database } = graph.api.deps;
  const { secretBox, outbound } = graph;
  await createEndpoint({ database, secretBox, outbound }, tenantId, { url: 'https://hooks.example.com/secret-path' });
  const query =
    '{ tenant { keys(first: 100) { nodes { name prefix last4 scopes } } auditLog { nodes { action } } alertEmail webhookEndpoints { nodes { origin url } } } }';
  const asKey = await graph.ask(site.key, query);
  expect(asKey.data.tenant).toEqual({
    keys: null,
    auditLog: null,
    alertEmail: null,
    webhookEndpoints: { nodes: [{ origin: 'https://hooks.example.com', url: null }] },
  });
  expect(new Set(asKey.errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['FORBIDDEN']));
  const asOwner = await graph.ask(await graph.owner(tenantId), query);
  expect(asOwner.errors).toEqual([]);
  expect(asOwner.data.tenant.webhookEndpoints.nodes[0].url).toBe('https://hooks.example.com/secret-path');
  expect(asOwner.data.tenant.keys.nodes.map(({ name }: { name: string }) => name)).toContain('all');
  expect(asOwner.text).not.toContain(site.key);
});

test('a key of a lower plan meets the plan gate on each field; its owner reads on', async () => {
  const low = await graph.api.site();
  const { database } = graph.api.deps;
  await setTenantPlan({ database }, { tenantId: low.tenantId, plan: 'starter' });
  const answer = await graph.ask(low.key, '{ tenant { tenantId earnings { totals { events } } } }');
  expect(answer.errors.map(({ extensions }) => [extensions.code, extensions.upgrade])).toEqual([['PLAN_GATE', true]]);
  expect(answer.data.tenant).toEqual({ tenantId: low.tenantId, earnings: null });
  const owner = await graph.ask(await graph.owner(low.tenantId), '{ tenant { earnings { totals { events } } } }');
  expect(owner.data.tenant.earnings.totals.events).toBe(0);
});

test('a key of a suspended site is forbidden each field, one of a closed site is unknown', async () => {
  const low = await graph.api.site();
  const { database } = graph.api.deps;
  await setTenantStatus({ database }, { tenantId: low.tenantId, status: 'suspended' });
  const suspended = await graph.ask(low.key, '{ tenant { audit { totals { denied } } } }');
  expect(suspended.errors[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', reason: 'site_suspended' });
  await setTenantStatus({ database }, { tenantId: low.tenantId, status: 'closed' });
  expect((await graph.ask(low.key, VIEWER)).status).toBe(401);
});

const FOREIGN = `query ($tenant: ID!, $payment: ID!, $crossing: ID!, $jti: ID!, $endpoint: ID!, $event: ID!, $after: String!) {
  foreign: tenant(tenantId: $tenant) { tenantId }
  tenant { payment(paymentId: $payment) { state } crossing(crossingId: $crossing) { slug } licenceSold(jti: $jti) { jti }
    webhookEndpoint(endpointId: $endpoint) { url } webhookEndpoints(endpointId: $endpoint) { nodes { origin } totalCount }
    deliveries(filter: { endpointId: $endpoint }) { nodes { state } totalCount }
    ofEvent: deliveries(filter: { eventId: $event }) { nodes { state } totalCount }
    payments(after: $after) { nodes { paymentId } totalCount } legs(first: 1) { totalCount } crossings { totalCount }
    licencesSold { totalCount } webhookEvents { totalCount } keys(first: 100) { nodes { name } } }
}`;

test('ids and cursors of another site lead to nothing: null, and never a row', async () => {
  const fresh = await graph.api.site();
  const { paymentId: payment, crossingId: crossing, jti, endpointId: endpoint, eventId: event } = ofOther;
  const { data } = await graph.ask(other.key, '{ tenant { payments { nodes { paymentId } pageInfo { startCursor } } } }');
  expect(data.tenant.payments.nodes.map(({ paymentId }: { paymentId: string }) => paymentId)).toContain(payment);
  const after = data.tenant.payments.pageInfo.startCursor;
  const ids = { tenant: other.tenantId, payment, crossing, jti, endpoint, event, after };
  const none = { nodes: [], totalCount: 0 };
  const expected = {
    payment: null,
    crossing: null,
    licenceSold: null,
    webhookEndpoint: null,
    webhookEndpoints: none,
    deliveries: none,
    ofEvent: none,
    payments: none,
    legs: { totalCount: 0 },
    crossings: { totalCount: 0 },
    licencesSold: { totalCount: 0 },
    webhookEvents: { totalCount: 0 },
  };
  const asOwner = await graph.ask(await graph.owner(fresh.tenantId), FOREIGN, ids);
  expect(asOwner.errors).toEqual([]);
  expect(asOwner.data).toEqual({ foreign: null, tenant: { ...expected, keys: { nodes: [{ name: 'all' }] } } });
  const asKey = await graph.ask(fresh.key, FOREIGN, ids);
  expect(asKey.data).toEqual({ foreign: null, tenant: { ...expected, keys: null } });
  expectClean(graph, asKey);
});

test('the same ids lead their own site to each row', async () => {
  const { paymentId: payment, crossingId: crossing, jti, endpointId: endpoint, eventId: event, deliveryId } = ofOther;
  const { errors, data } = await graph.ask(
    other.key,
    `query ($payment: ID!, $crossing: ID!, $jti: ID!, $endpoint: ID!, $event: ID!) { tenant {
      payment(paymentId: $payment) { crossings { crossingId } } crossing(crossingId: $crossing) { payment { paymentId } }
      licenceSold(jti: $jti) { payment { licence { jti } } } webhookEndpoint(endpointId: $endpoint) { endpointId }
      deliveries(filter: { endpointId: $endpoint, eventId: $event }) { nodes { deliveryId event { eventId } endpoint { endpointId } } } } }`,
    { payment, crossing, jti, endpoint, event },
  );
  expect(errors).toEqual([]);
  expect(data.tenant).toEqual({
    payment: { crossings: [{ crossingId: crossing }] },
    crossing: { payment: { paymentId: payment } },
    licenceSold: { payment: { licence: { jti } } },
    webhookEndpoint: { endpointId: endpoint },
    deliveries: { nodes: [{ deliveryId, event: { eventId: event }, endpoint: { endpointId: endpoint } }] },
  });
});

test('a scope that is missing stays missing on the way through other fields', async () => {
  const { database, pepper } = graph.api.deps;
  const { tenantId } = other;
  const { token, keyId } = await mintKey({ database, pepper }, { tenantId, name: 'money', scopes: ['earnings.read.all'] });
  const answer = await graph.ask(
    token,
    `{ tenant { deliveries { nodes { state endpoint { origin } } } crossings { nodes { payment { state observations { verdict } } } } } }`,
  );
  expect(answer.data.tenant).toEqual({
    deliveries: { nodes: [{ state: 'PENDING', endpoint: null }] },
    crossings: { nodes: [{ payment: { state: expect.any(String), observations: null } }] },
  });
  expect(answer.errors.map(({ path, extensions }) => [path?.at(-1), extensions.code]).toSorted()).toEqual([
    ['endpoint', 'FORBIDDEN'],
    ['observations', 'FORBIDDEN'],
  ]);
  await revokeKey({ database }, { tenantId, keyId });
});
