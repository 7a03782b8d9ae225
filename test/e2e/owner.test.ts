import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pepperOf } from '../../services/pepper.ts';
import { createOwnerToken } from '../../services/tenants.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestIssuer } from '../support/issuer.ts';
import { startIssuer } from '../support/issuer.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

const ADA = 'ada@login.example';

let issuer: TestIssuer;
let service: TestService;
let site: TestSite;
let receiver: Receiver;
beforeAll(async () => {
  issuer = await startIssuer();
  service = await startTestService({ environment: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience } });
  site = await service.site({ ownerUserId: ADA });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await issuer.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Answer = { readonly status: number; readonly data: any; readonly errors: any };

/** One GraphQL operation over HTTP. */
async function operate(bearer: string, query: string, variables: object = {}): Promise<Answer> {
  const response = await fetch(`${service.baseUrl}/_svc/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, data, errors };
}

/** A mutation that must come to its payload. */
async function change(bearer: string, name: string, input: object, fields: string) {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const query = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) {
    __typename ... on ${title}Payload { ${fields} } ... on Refusal { code message } } }`;
  const { data, errors } = await operate(bearer, query, { input });
  expect(errors).toBeUndefined();
  expect(data.it.__typename, JSON.stringify(data)).toBe(`${title}Payload`);
  return data.it;
}

test('an owner signs in, mints a key, sets a price, hears of a sale, and revokes the key, which is refused at once', {
  timeout: 300_000,
}, async () => {
  const owner = await issuer.token(ADA);
  const { token: key, keyId } = await change(owner, 'mintKey', { name: 'shop', scopes: ['TENANT_READ'] }, 'keyId token');
  const before = await askQuote(service.baseUrl, key, 'solo');
  await change(owner, 'setPrices', { priceUsdc: '0.004' }, 'version');
  await expect.poll(async () => (await askQuote(service.baseUrl, key, 'solo')).price).toBe(before.price * 4);

  const endpoint = await change(owner, 'createEndpoint', { url: receiver.url }, 'endpointId secret');
  const quote = await askQuote(service.baseUrl, key, 'solo');
  const payer = await service.payer(100_000n);
  const sale = await sellUntilDecided(service.baseUrl, key, quote, await payFor(payer, quote), 60_000);
  expect(sale.body).toMatchObject({ ok: true, chargedMicro: '4000' });
  await receiver.until(1);
  const [delivery] = receiver.received;
  new Webhook(endpoint.secret).verify(delivery?.body ?? '', delivery?.headers as Record<string, string>);
  expect(JSON.parse(delivery?.body ?? '').data.settlementRefs).toEqual([sale.body.settlementRef]);

  await change(owner, 'revokeKey', { keyId }, 'keyId');
  const refused = await fetch(`${service.baseUrl}/_svc/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ payment: 'x', quote, resource: quote.resource }),
  });
  expect(refused.status).toBe(401);
  expect((await operate(key, '{ __typename }')).errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('every change of that session stands in the log, with the owner and without a secret', async () => {
  const rows = await service.database.query<{ action: string; actor_id: string; actor_via: string; all: string }>(
    'select action, actor_id, actor_via, audit_log::text as all from audit_log where tenant_id = $1 order by at, entry_id',
    [site.tenantId],
  );
  expect(rows.map(({ action }) => action)).toEqual(['key.mint', 'price.set', 'endpoint.create', 'key.revoke']);
  expect(rows.every((row) => row.actor_id === ADA && row.actor_via === 'oidc')).toBe(true);
  expect(rows.map((row) => row.all).join()).not.toMatch(/svc_live_\w{20}|whsec_/);
});

test('a host that an owner opens and checks goes through its real workflow, and a ping arrives', {
  timeout: 300_000,
}, async () => {
  const { token: owner } = await createOwnerToken(
    { database: service.database, pepper: pepperOf(service.secrets) },
    { tenantId: site.tenantId, userId: ADA },
  );
  const opened = await change(owner, 'openHost', { host: 'unproven.example.com' }, 'host present { name value }');
  expect(opened.present.map(({ name }: { name: string }) => name)).toContain('url');
  const checked = await change(owner, 'checkHost', { host: 'unproven.example.com' }, 'verified reason');
  expect(checked).toMatchObject({ verified: false, reason: expect.any(String) });

  const { endpointId } = await change(owner, 'createEndpoint', { url: receiver.url }, 'endpointId');
  const count = receiver.received.length;
  const { eventId } = await change(owner, 'pingEndpoint', { endpointId }, 'eventId');
  await receiver.until(count + 1);
  expect(JSON.parse(receiver.received[count]?.body ?? '').eventId).toBe(eventId);
});

test('a key, a stranger and a forged token change nothing', async () => {
  const mutation = 'mutation { mintKey(input: { name: "x", scopes: [TENANT_READ] }) { __typename } }';
  expect((await operate(site.key, mutation)).errors[0].extensions.code).toBe('FORBIDDEN');
  const stranger = await operate(await issuer.token('stranger'), mutation);
  expect(stranger.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  const [header, claims] = (await issuer.token(ADA)).split('.');
  const forged = await operate(`${header}.${claims}.${'A'.repeat(86)}`, mutation);
  expect(forged.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test("a provider's token of nearly 8 KB, as many groups make it, lets its owner in; a longer one does not", async () => {
  const groups = (count: number) => Array.from({ length: count }, (_, at) => `group-${at}-of-the-company`);
  const long = await issuer.token(ADA, { claims: { groups: groups(210) } });
  expect(long.length).toBeGreaterThan(7_000);
  expect(long.length).toBeLessThan(8_192);
  expect((await operate(long, '{ viewer { tenantIds } }')).data).toEqual({ viewer: { tenantIds: [site.tenantId] } });
  const longer = await issuer.token(ADA, { claims: { groups: groups(300) } });
  expect((await operate(longer, '{ viewer { tenantIds } }')).status).toBe(401);
});
