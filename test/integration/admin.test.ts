import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseScopes } from '../../bin/admin/options.ts';
import { userOfMachine } from '../../bin/admin/surroundings.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { authenticateOwner } from '../../modules/identity/use/owners/authenticate.ts';
import { adminEnvironment, runAdmin } from '../support/admin.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import { acceptPurchase } from '../support/buyers.ts';
import { insertCrossing } from '../support/ledger.ts';
import { scaled } from '../support/patience.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let environment: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'admin-'));
const credits = join(folder, 'credits.json');

beforeAll(async () => {
  api = await startTestApi();
  environment = adminEnvironment(api);
  writeFileSync(credits, JSON.stringify(ALPHA_PRICING.creditsInline));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.stop();
});

const run = (...args: string[]): Promise<Record<string, unknown>> => runAdmin(api, ...args);

/** Runs the program as an operator does. */
function runProgram(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const env = { ...environment, PATH, NODE_COMPILE_CACHE };
    execFile(process.execPath, ['bin/admin.ts', ...args], { env, timeout: scaled(100_000) }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

const createSite = async (host: string): Promise<string> => {
  const made = await run(
    'tenant',
    'create',
    '--host',
    host,
    '--price',
    '0.001',
    '--plan',
    'studio',
    '--prefix',
    '/articles/',
    '--credits',
    credits,
  );
  return String(made['tenantId']);
};

test('a site is created with its price, hosts and key, and sells at once; a price change and a second host hold in the next calls', async () => {
  const tenantId = await createSite('first.admin.example');
  const { token } = await run('key', 'mint', tenantId, '--name', 'gate', '--scopes', 'tenant.read', '--days', '30');
  const quote = async (path: string) => (await api.request(path, { key: String(token) })).body;
  expect(await quote('/_svc/quote?slug=solo')).toMatchObject({ price: 1_000, host: 'first.admin.example' });
  await run('price', 'set', tenantId, '--price', '0.002');
  api.time.offsetMs += 2_100;
  expect(await quote('/_svc/quote?slug=solo')).toMatchObject({ price: 2_000 });
  expect(await run('host', 'add', tenantId, 'Second.Admin.Example')).toEqual({ host: 'second.admin.example' });
  await run('host', 'add', tenantId, 'second.admin.example');
  api.time.offsetMs += 2_100;
  expect(await quote('/_svc/quote?resource=https://second.admin.example/articles/solo')).toMatchObject({ price: 2_000 });
  const other = await createSite('other.admin.example');
  await expect(run('host', 'add', other, 'second.admin.example')).rejects.toMatchObject({ code: 'conflict' });
  await expect(run('host', 'add', other, 'no host')).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('a site is added, listed and shown by that word, too', async () => {
  const host = 'word.admin.example';
  const { tenantId } = await run('site', 'add', '--host', host, '--price', '0.001');
  expect(await run('site', 'list', '--host', host)).toMatchObject({ items: [{ tenantId, hosts: [host] }] });
  expect(await run('site', 'show', String(tenantId))).toMatchObject({ tenantId, pricing: { priceUsdc: '0.001' } });
});

test('the lowest price holds for operators too, and a default payee is set and taken away', async () => {
  const tenantId = await createSite('payee.admin.example');
  await expect(run('price', 'set', tenantId, '--price', '0.0004')).rejects.toMatchObject({ code: 'invalid_parameter' });
  const wallet = `0x${'d'.repeat(40)}`;
  const payee = async () =>
    ((await run('tenant', 'show', tenantId)) as { pricing: { defaultPayee: unknown } }).pricing.defaultPayee;
  await run('price', 'set', tenantId, '--default-payee', `house=${wallet}`);
  expect(await payee()).toEqual({ authorId: 'house', wallet });
  await run('price', 'set', tenantId, '--default-payee', 'none');
  expect(await payee()).toBeNull();
});

test('a host may be given as people read it, and stands in the one form that every other surface compares', async () => {
  const made = await run(
    'tenant',
    'create',
    '--price',
    '0.001',
    '--plan',
    'studio',
    '--host',
    'Bücher.admin.example',
    '--host',
    'xn--bcher-kva.admin.example.',
  );
  const tenantId = String(made['tenantId']);
  expect(await run('host', 'add', tenantId, 'café.admin.example.')).toEqual({ host: 'xn--caf-dma.admin.example' });
  const { token } = await run('key', 'mint', tenantId, '--name', 'all', '--scopes', 'tenant.read');
  const { body } = await api.request('/_svc/tenants/self', { key: String(token) });
  expect(body.tenants[0].hosts.toSorted()).toEqual(['xn--bcher-kva.admin.example', 'xn--caf-dma.admin.example']);
  for (const host of [
    '10.0.0.1',
    '0x7f.1',
    'bü_cher.example',
    'one',
    'a b.example',
    'a.example/x',
    'a.example:80',
    `${'a'.repeat(64)}.example`,
  ]) {
    const refused = { code: 'invalid_parameter', message: expect.stringMatching(/host: (must|holds)/) };
    await expect(run('host', 'add', tenantId, host), host).rejects.toMatchObject(refused);
    await expect(run('tenant', 'create', '--price', '0.001', '--host', host), host).rejects.toMatchObject(refused);
  }
});

test("a site's origin and the issuer of its licences are addresses, or nothing is created", async () => {
  const create = (host: string, ...rest: string[]) =>
    run('tenant', 'create', '--price', '0.001', '--plan', 'studio', '--host', host, ...rest);
  for (const [option, text] of [
    ['issuer', 'x'],
    ['issuer', 'http://issuer.example'],
    ['issuer', ''],
    ['origin', 'not a url'],
    ['origin', 'https://o.example/path'],
  ] as const) {
    await expect(create('addresses.admin.example', `--${option}=${text}`), text).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { parameter: option },
      message: expect.stringMatching(new RegExp(`${option}: must be`)),
    });
  }
  const { tenantId } = await create(
    'addresses.admin.example',
    '--origin',
    'https://O.example/',
    '--issuer',
    'https://i.example/a',
  );
  const { token } = await run('key', 'mint', String(tenantId), '--name', 'all', '--scopes', 'tenant.read');
  const { body } = await api.request('/_svc/tenants/self', { key: String(token) });
  expect(body.tenants[0]).toMatchObject({ origin_url: 'https://o.example', license_issuer: 'https://i.example/a' });
  expect((await api.request('/_svc/enforce-config', { key: String(token) })).body.enforcement.licenseIdentity).toBe(
    'https://i.example/a',
  );
});

test('a price is set only where one of its options is given', async () => {
  const tenantId = await createSite('price.admin.example');
  const versions = () => api.deps.database.query('select version from tenant_pricing where tenant_id = $1', [tenantId]);
  const before = await versions();
  await expect(run('price', 'set', tenantId)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect(await versions()).toEqual(before);
  await run('price', 'set', tenantId, '--multiplier', '4');
  expect(await versions()).toHaveLength(before.length + 1);
});

test('minting a key tells when it ends', async () => {
  const tenantId = await createSite('expiry.admin.example');
  const mint = async (...rest: string[]) => {
    const asked = Date.now();
    const { expiresAt } = await run('key', 'mint', tenantId, '--name', 'k', ...rest);
    return expiresAt === null ? null : Math.round((Date.parse(String(expiresAt)) - asked) / 86_400_000);
  };
  expect(await mint('--scopes', 'tenant.read')).toBeNull();
  expect(await mint('--scopes', 'all', '--days', '365')).toBe(365);
  expect(await mint('--scopes', 'all', '--days', '7.3')).toBe(7);
});

test('the token of a credits API is set where it goes, and taken away', async () => {
  const tenantId = await createSite('token.admin.example');
  const token = (text: string) => run('site', 'credits-token', tenantId, text);
  await expect(token('wpc_1')).rejects.toMatchObject({ code: 'invalid_parameter' });
  await run('price', 'set', tenantId, '--credits-url', 'https://blog.example/wp-json/content-settlement/v1');
  expect(await token('wpc_1')).toEqual({ tenantId, origin: 'https://blog.example' });
  expect(await token('none')).toEqual({ tenantId, origin: null });
});

test('a test key that the service would refuse is minted with a warning', async () => {
  const tenantId = await createSite('test-key.admin.example');
  const mint = (...rest: string[]) => run('key', 'mint', tenantId, '--name', 'k', '--scopes', 'tenant.read', ...rest);
  const { token, warning } = await mint('--test');
  expect([token, warning]).toEqual([expect.stringMatching(/^svc_test_/), expect.stringContaining('TEST_KEYS_ENABLED')]);
  expect((await api.request('/_svc/tenants/self', { key: String(token) })).status).toBe(401);
  expect(await mint()).not.toHaveProperty('warning');
});

test('domain.manage is not among the scopes that can be minted: the connect preset alone grants it, for 30 days', async () => {
  const tenantId = await createSite('preset.admin.example');
  const mint = (...rest: string[]) => run('key', 'mint', tenantId, '--name', 'k', ...rest);
  expect(() => parseScopes('tenant.read,domain.manage')).toThrow('Some of tenant.read, earnings.read.all');
  await expect(mint()).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(mint('--preset', 'wordpress', '--scopes', 'all')).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(mint('--preset', 'wordpress', '--days', '99')).rejects.toMatchObject({ code: 'invalid_parameter' });
  await mint('--scopes', 'all');
  const connect = await mint('--preset', 'wordpress');
  expect(Math.round((Date.parse(String(connect['expiresAt'])) - Date.now()) / 86_400_000)).toBe(30);
  const { keys } = (await run('key', 'list', tenantId)) as { keys: { keyId: string; scopes: string[] }[] };
  const scopesOf = (keyId: unknown) => keys.find((key) => key.keyId === keyId)?.scopes;
  expect(keys.filter(({ scopes }) => scopes.includes('domain.manage')).map(({ keyId }) => keyId)).toEqual([connect['keyId']]);
  expect(scopesOf(connect['keyId'])).toEqual(['tenant.read', 'domain.manage']);
});

test('keys are listed without their secrets, and a revoked one is refused in the very next call', async () => {
  const tenantId = await createSite('keys.admin.example');
  const minted = await run('key', 'mint', tenantId, '--name', 'all', '--scopes', 'all');
  const ask = () => api.request('/_svc/tenants/self', { key: String(minted['token']) });
  expect((await ask()).status).toBe(200);
  const listed = JSON.stringify(await run('key', 'list', tenantId));
  expect(listed).toContain(String(minted['keyId']));
  expect(listed).not.toContain(String(minted['token']).slice(9, -4));
  await run('key', 'revoke', tenantId, String(minted['keyId']));
  expect((await ask()).status).toBe(401);
  expect(() => parseScopes('tenant.write')).toThrow(/Some of/);
});

test("a site's owner is set, and tokens of owners are issued, listed and revoked; the log says the operator did it", async () => {
  const tenantId = await createSite('owner.admin.example');
  await run('owner', 'set', tenantId, 'auth0|ada');
  const { token, tokenId } = await run('owner', 'token', tenantId, '--user', 'auth0|ada', '--days', '1');
  const deps = { ...api.deps, oidc: null };
  expect(await authenticateOwner(deps, String(token))).toMatchObject({ userId: 'auth0|ada', tenantIds: [tenantId] });
  const listed = await run('owner', 'tokens', tenantId);
  expect(listed).toMatchObject({ tokens: [{ tokenId, userId: 'auth0|ada', last4: String(token).slice(-4), revokedAt: null }] });
  await run('owner', 'revoke-token', tenantId, String(tokenId));
  await expect(authenticateOwner(deps, String(token))).rejects.toMatchObject({ code: 'unknown_credential' });
  const other = await createSite('other-owner.admin.example');
  await expect(run('owner', 'revoke-token', other, String(tokenId))).rejects.toMatchObject({ code: 'not_found' });
  await run('price', 'set', tenantId, '--price', '0.002');
  const entries = await listAuditEntries(api.deps.database, tenantId);
  expect(entries.map(({ action }) => action)).toEqual([
    'price.set',
    'owner.revoke_token',
    'owner.issue_token',
    'owner.set',
    'site.create',
  ]);
  expect(entries.every(({ actor }) => actor.via === 'operator')).toBe(true);
  expect(JSON.stringify(entries)).not.toContain(String(token).slice(10, 40));
});

test("an operator's changes of a site stand in the log that its owner reads, under the operator's name", async () => {
  const tenantId = await createSite('logged.admin.example');
  const as = (...args: string[]) => run('--as', 'Ann of support', ...args);
  await as('tenant', 'plan', tenantId, 'scale');
  await as('host', 'add', tenantId, 'more.admin.example');
  await as('host', 'remove', tenantId, 'more.admin.example');
  const { keyId } = await as('key', 'mint', tenantId, '--name', 'k', '--scopes', 'tenant.read');
  await as('key', 'revoke', tenantId, String(keyId));
  await as('tenant', 'status', tenantId, 'closed');
  await expect(run('tenant', 'plan', tenantId, 'free')).rejects.toMatchObject({ code: 'not_found' });
  await run('tenant', 'status', tenantId, 'active', '--as', 'Bob');
  const entries = await listAuditEntries(api.deps.database, tenantId);
  expect(entries.map(({ action, actor, target }) => [action, actor.userId, target])).toEqual([
    ['site.status', 'Bob', null],
    ['site.status', 'Ann of support', null],
    ['key.revoke', 'Ann of support', keyId],
    ['key.mint', 'Ann of support', keyId],
    ['host.remove', 'Ann of support', 'more.admin.example'],
    ['host.add', 'Ann of support', 'more.admin.example'],
    ['site.plan', 'Ann of support', null],
    ['site.create', userOfMachine(), null],
  ]);
  expect(entries[6]).toMatchObject({ before: { plan: 'studio' }, after: { plan: 'scale' } });
  await expect(run('--as', ' ', 'tenant', 'plan', tenantId, 'free')).rejects.toThrow();
});

test('what an operator changes of no site stands in a log of its own, and every list of both is bounded', async () => {
  const account = await run('--as', 'Ann', 'buyer', 'account', 'create', '--name', 'Reader');
  const { token } = await run('--as', 'Ann', 'buyer', 'key', String(account['accountId']));
  await run('--as', 'Ann', 'buyer', 'revoke-key', String(token));
  await api.deps.database.query(
    "insert into operator_alert (alert_id, kind, detail) values (gen_random_uuid(), 'payment_review', 'payment 1')",
  );
  await run('--as', 'Ann', 'alert', 'resolve', 'payment_review');
  const tenantId = await createSite('both.admin.example');
  const listed = (await run('audit', 'list', '--limit', '5')) as { items: Record<string, unknown>[]; next: string };
  expect(listed.items.map(({ action, actor, tenantId: site }) => [action, actor, site])).toEqual([
    ['site.create', userOfMachine(), tenantId],
    ['alert.resolve', 'Ann', null],
    ['buyer.revoke_key', 'Ann', null],
    ['buyer.issue_key', 'Ann', null],
    ['buyer.create', 'Ann', null],
  ]);
  expect(listed.items[1]).toMatchObject({ target: 'payment_review', after: { resolved: 1 } });
  expect(JSON.stringify(listed)).not.toContain(String(token).slice(10, 40));
  const behind = (await run('audit', 'list', '--after', listed.next)) as { items: { entryId: string }[] };
  const first = new Set(listed.items.map(({ entryId }) => entryId));
  expect(behind.items.filter(({ entryId }) => first.has(entryId))).toEqual([]);
  expect(await run('audit', 'list', '--tenant', tenantId)).toMatchObject({ items: [{ action: 'site.create' }], next: null });
});

test('plan and status, owner tokens, buyer accounts and members are made from the command line', async () => {
  const tenantId = await createSite('people.admin.example');
  const { token } = await run('key', 'mint', tenantId, '--name', 'all', '--scopes', 'all');
  const statusOf = async () => (await api.request('/_svc/members', { key: String(token) })).status;
  await run('tenant', 'plan', tenantId, 'starter');
  expect(await statusOf()).toBe(403);
  await run('tenant', 'plan', tenantId, 'scale');
  await run('tenant', 'status', tenantId, 'closed');
  expect(await statusOf()).toBe(401);
  await run('tenant', 'status', tenantId, 'active');
  const invited = await run('member', 'add', tenantId, '--author', 'ann', '--email', 'ann@example.org');
  const { body } = await api.request('/_svc/members', { key: String(token) });
  expect(body.authors).toMatchObject([{ authorId: 'ann', inviteToken: invited['inviteToken'] }]);
  expect((await run('owner', 'token', tenantId, '--user', 'user-1'))['token']).toMatch(/^svc_owner_/);
  expect((await run('buyer', 'account', 'create', '--name', 'Reader'))['token']).toMatch(/^svc_buyer_/);
});

test('a payment is shown with its evidence and the workflow that carries it, and can be looked at again', async () => {
  const { database } = api.deps;
  const tenantId = await createSite('payment.admin.example');
  const { paymentId, txHash } = await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xaa', amountMicro: 1_000 }] });
  const batchId = crypto.randomUUID();
  await database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce)
       values ($1, 'eip155:84532', '0xrelayer', 'settle', $2, 7)`,
    [batchId, `settle:eip155:84532:${batchId}`],
  );
  await database.query('update test.payment set batch_id = $1, checked_at = now() where payment_id = $2', [batchId, paymentId]);
  await database.query(
    `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token, from_address,
       to_address, amount_micro, nonce)
     values ('eip155:84532', $1, 1, 1, 5, '\\x0b', now(), '0xasset', '0xpayer', '0xpayto', 1000, $1)`,
    [txHash],
  );
  const story = await run('payment', 'show', paymentId);
  expect(story).toMatchObject({
    paymentId,
    state: 'settled',
    settlementRef: txHash,
    amountMicro: '1000',
    evidence: [{ tx_hash: txHash, block_number: 5 }],
    crossings: [{ sequence: 0, micro: '1000' }],
    batch: { batchId, nonce: 7 },
    workflowUrl: `http://127.0.0.1:8233/namespaces/default/workflows/settle%3Aeip155%3A84532%3A${batchId}`,
    workflowsQuery: `PaymentIds = '${paymentId}' OR PaymentIds2 = '${paymentId}'`,
    workflowsUrl: expect.stringContaining(`/namespaces/default/workflows?query=PaymentIds%20%3D%20'${paymentId}'`),
  });
  expect('signature' in story).toBe(false);
  await database.query('update settlement_batch set workflow_id = null where batch_id = $1', [batchId]);
  expect(await run('payment', 'show', paymentId)).toMatchObject({ batch: { workflowId: null }, workflowUrl: null });
  await run('payment', 'recheck', paymentId);
  expect(await database.query('select checked_at from payment where payment_id = $1', [paymentId])).toEqual([
    { checked_at: null },
  ]);
  await expect(run('payment', 'show', crypto.randomUUID())).rejects.toMatchObject({ code: 'not_found' });
});

test('a payment that no worker has claimed yet is shown as accepted, with no batch, and no workflow to look for', async () => {
  const { host } = await api.site();
  const { accountId } = await createBuyerAccount(api.deps);
  const order = { host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 1, kind: 'read' } as const;
  const { paymentId } = await acceptPurchase(api, accountId, order);
  const waits = { state: 'accepted', decidedAt: null, batch: null, crossings: [], evidence: [] };
  expect(await run('payment', 'show', paymentId)).toMatchObject({ paymentId, ...waits, workflowUrl: null });
});

test('the program prints JSON and ends with 0, or an error as JSON and ends with 1', async () => {
  const tenantId = await createSite('program.admin.example');
  const listed = await runProgram(['key', 'list', tenantId]);
  expect([listed.code, JSON.parse(listed.out)]).toEqual([0, { keys: [] }]);
  const refused = await runProgram(['payment', 'show', crypto.randomUUID()]);
  expect([refused.code, refused.out]).toEqual([1, '']);
  expect(JSON.parse(refused.err)).toEqual({ error: 'not_found: there is no such payment' });
});
