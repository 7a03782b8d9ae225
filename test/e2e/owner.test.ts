import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { choosePort } from '../../sandbox/parts/ports.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { runServiceAdmin } from '../support/admin.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestIssuer } from '../support/issuer.ts';
import { startIssuer } from '../support/issuer.ts';
import { blocksOf, filledIn, graphqlSteps, openShell, shellBlocks } from '../support/pasted.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

const ADA = 'ada@login.example';

let web: SandboxWeb;
let issuer: TestIssuer;
let service: TestService;
let site: TestSite;
let receiver: Receiver;
beforeAll(async () => {
  [issuer, web] = await Promise.all([startIssuer(), startSandboxWeb(0)]);
  const oidc = { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience };
  service = await startTestService({ environment: { ...CALM, ...oidc, OUTBOUND_SANDBOX_WEB: web.url } });
  site = await service.site({ ownerUserId: ADA });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await issuer.stop();
  await web.close();
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

test('an owner signs in, mints a key, sets a price, hears of a sale, and revokes the key, which is refused at once', async () => {
  const owner = await issuer.token(ADA);
  const { token: key, keyId } = await change(owner, 'mintKey', { name: 'shop', scopes: ['TENANT_READ'] }, 'keyId token');
  const before = await askQuote(service.baseUrl, key, 'solo');
  await change(owner, 'setPrices', { priceUsdc: '0.004' }, 'version');
  await expect.poll(async () => (await askQuote(service.baseUrl, key, 'solo')).price).toBe(before.price * 4);

  const endpoint = await change(owner, 'createEndpoint', { url: receiver.url }, 'endpointId secret');
  const quote = await askQuote(service.baseUrl, key, 'solo');
  const payer = await service.payer(100_000n);
  const sale = await sellUntilDecided(service.baseUrl, key, quote, await payFor(payer, quote));
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

test('a host that an owner opens and checks goes through its real workflow, and a ping arrives', async () => {
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

const ROOT = new URL('../../', import.meta.url).pathname;
const GUIDE = join(ROOT, 'docs/owners.md');
const GUIDE_HOSTS = { home: 'home.sandbox.example', blog: 'blog.sandbox.example' };

/** The site of the guide as its operator adds it, and its owner's token. */
async function siteOfGuide(): Promise<{ readonly tenantId: string; readonly owner: string }> {
  const admin = (...args: string[]) => runServiceAdmin(service, service.urls.appUrl, ...args);
  const site = ['--host', GUIDE_HOSTS.home, '--plan', 'studio', '--price', '0.01', '--prefix', '/articles/'];
  const tenantId = String((await admin('site', 'add', ...site))['tenantId']);
  const { token } = await admin('owner', 'token', tenantId, '--user', 'you');
  return { tenantId, owner: String(token) };
}

/** The shop of the guide and its first purchase, pasted; what both said. */
async function pasteShop({ token, payer }: { readonly token: string; readonly payer: string }): Promise<string> {
  const scratch = inject('parts').folder;
  const sandbox = join(scratch, 'owner-sandbox.json');
  writeFileSync(sandbox, JSON.stringify({ baseUrl: service.baseUrl, buyer: { privateKey: payer } }), { mode: 0o600 });
  const values = new Map([
    ['SANDBOX', sandbox],
    ['PORT', String(await choosePort(18_480))],
    ['SVC_API_KEY', token],
  ]);
  const shell = openShell({ folder: ROOT, scratch, environment: { NODE_OPTIONS: '' } });
  let said = '';
  for (const block of shellBlocks(GUIDE).slice(2)) said += await shell.paste(filledIn(block, values), 60_000);
  await shell.end();
  return said;
}

test('who pastes the ten documents of the guide into a new site has proven a host, set a price and sees the first sale', async () => {
  const { tenantId, owner } = await siteOfGuide();
  const steps = graphqlSteps(GUIDE, 'From a site to its first sale');
  expect(steps.map(({ title }) => title.replace(/\D.*/, ''))).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  /** What has its place outside of GraphQL: a receiver of our own, the file of the host, and the sale. */
  const paste = async (step: number) => {
    const query = (steps[step - 1]?.query ?? '').replace('https://hooks.example.com/sales', receiver.url);
    const { data, errors } = await operate(owner, query);
    expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.not.stringMatching(/"code"|"message"/)]);
    return data;
  };
  const me = await paste(1);
  expect(me.viewer).toEqual({ userId: 'you', isOwner: true, tenantIds: [tenantId] });
  const { present } = (await paste(2)).openHost;
  const shown = Object.fromEntries(present.map(({ name, value }: { name: string; value: string }) => [name, value]));
  const page = { host: GUIDE_HOSTS.blog, path: new URL(shown['url']).pathname, body: shown['body'] };
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify(page) });
  expect((await paste(3)).checkHost).toEqual({ verified: true, reason: null });
  for (const step of [4, 5, 6]) await paste(step);
  const { token } = (await paste(7)).mintKey;
  const { secret } = (await paste(8)).createEndpoint;
  await expect.poll(async () => (await askQuote(service.baseUrl, token, 'first')).price).toBe(5_000);

  const payer = newPrivateKey();
  await mintUsdc(service.chain.rpcUrl, localSigner(payer).address, 10_000n);
  const count = receiver.received.length;
  const said = await pasteShop({ token, payer });
  expect(said).toMatch(/crawler: 402\n[\s\S]*status: 200,\s+page: '<h1>first<\/h1>'/);
  const sold = await service.database.query<{ host: string }>('select host from crossing where tenant_id = $1', [tenantId]);
  expect(sold).toEqual([{ host: GUIDE_HOSTS.blog }]);
  const gate = async () => (await paste(9)).tenant.hosts.nodes.find(({ host }: { host: string }) => host === GUIDE_HOSTS.blog);
  await expect.poll(async () => (await gate()).enforcement.nextAction).toBe('none');
  const { earnings, statements } = (await paste(10)).tenant;
  expect(earnings.totals).toEqual({ events: 1, grossMicro: '5000' });
  const shares = statements.statements.nodes.map((row: Record<string, string>) => [row['authorId'], row['grossMicro']]);
  expect(shares).toEqual([
    ['ann', '2500'],
    ['bob', '1500'],
    ['cyd', '1000'],
  ]);
  await receiver.until(count + 1);
  const [delivery] = receiver.received.slice(-1);
  new Webhook(secret).verify(delivery?.body ?? '', delivery?.headers as Record<string, string>);
});

test('documents of the pages beyond the guide name the authors of a page, import pages, change a class and pause an endpoint', async () => {
  const { token: owner } = await createOwnerToken(
    { database: service.database, pepper: pepperOf(service.secrets) },
    { tenantId: site.tenantId, userId: ADA },
  );
  const { endpointId } = await change(owner, 'createEndpoint', { url: receiver.url }, 'endpointId');
  const pages = ['owners.md', 'webhooks.md'].flatMap((page) => blocksOf(join(ROOT, 'docs', page)));
  const paste = async (name: string) => {
    const query = pages.find(({ language, text }) => language === 'graphql' && text.includes(` ${name}(`))?.text ?? '';
    const { data, errors } = await operate(owner, query.replace('<endpointId>', endpointId));
    expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.not.stringMatching(/"code"|"message"/)]);
    return data[name];
  };
  await paste('setPageCredits');
  expect(await paste('importPages')).toEqual({ imported: 1 });
  for (const slug of ['third', 'fourth']) {
    await expect.poll(async () => (await askQuote(service.baseUrl, site.key, slug)).legs?.length).toBe(1);
  }
  expect(await paste('setVisitorClass')).toEqual({ visitorClass: 'PREVIEW', policy: 'CHARGE' });
  expect((await paste('pauseEndpoint')).pausedUntil).toEqual(expect.any(Number));
  expect(await paste('resumeEndpoint')).toEqual({ endpointId });
});
