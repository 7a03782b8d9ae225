import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, describeService } from '../../api/app.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { generateToken, mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { inviteMember } from '../../modules/identity/use/members.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { TestAnswer } from '../support/api.ts';
import { startTestApi } from '../support/api.ts';

/** What every keyed operation asks for, and what it answers a key that may. */
const KEYED: Readonly<Record<string, { scope: Scope; query?: string; isOkShape?: true; allowed: number }>> = {
  getQuote: { scope: 'tenant.read', query: '?slug=solo', allowed: 200 },
  getQuotes: { scope: 'tenant.read', allowed: 400 },
  verifyPayment: { scope: 'tenant.read', isOkShape: true, allowed: 400 },
  observe: { scope: 'tenant.read', isOkShape: true, allowed: 400 },
  checkLicense: { scope: 'tenant.read', allowed: 400 },
  noteServedBodies: { scope: 'tenant.read', allowed: 400 },
  proveLicense: { scope: 'tenant.read', allowed: 400 },
  introspectLicenceToken: { scope: 'tenant.read', allowed: 400 },
  verifyAgent: { scope: 'tenant.read', allowed: 400 },
  getEnforceConfig: { scope: 'tenant.read', allowed: 200 },
  getEnforceStatus: { scope: 'tenant.read', allowed: 200 },
  getTenantSelf: { scope: 'tenant.read', allowed: 200 },
  openHostChallenge: { scope: 'domain.manage', allowed: 400 },
  listHostChallenges: { scope: 'tenant.read', allowed: 200 },
  checkHost: { scope: 'domain.manage', allowed: 400 },
  getEarnings: { scope: 'earnings.read.all', allowed: 200 },
  getStatements: { scope: 'earnings.read.all', allowed: 200 },
  getReconciliation: { scope: 'earnings.read.all', allowed: 200 },
  exportEarningsCsv: { scope: 'earnings.read.all', allowed: 200 },
  exportEarningsPdf: { scope: 'earnings.read.all', allowed: 200 },
  exportStatementsZip: { scope: 'earnings.read.all', allowed: 200 },
  getAudit: { scope: 'audit.read', allowed: 200 },
  listMembers: { scope: 'member.read', allowed: 200 },
};
/** These read a copy in memory, at most two seconds old (safety 24). */
const SNAPSHOT = ['getQuote', 'getQuotes', 'observe', 'verifyAgent'];
/** Operations of buyer accounts: a publisher key is no credential there. */
const ACCOUNT = [
  'listHeldLicences',
  'openLicenceAccess',
  'buyLicence',
  'listAccountNotices',
  'listBudgetAlerts',
  'setBudgetAlerts',
  'listSpending',
  'exportSpendingCsv',
  'getBudget',
  'setBudget',
  'listApprovals',
  'decideApproval',
  'listAgentKeys',
  'mintAgentKey',
  'revokeAgentKey',
];
/** Takes a buyer account or none: what the body shows is the right (integration/usage). */
const ACCOUNT_IF_ANY = ['reportUsage'];

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly schemes: readonly string[];
}

const document = describeService('/') as {
  paths: Record<string, Record<string, { operationId: string; security: Record<string, unknown>[] }>>;
};
const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId, security }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/, 'ffffffff-ffff-4fff-8fff-ffffffffffff'),
    schemes: security.flatMap((scheme) => Object.keys(scheme)),
  })),
);
const keyed = OPERATIONS.filter(({ schemes }) => schemes.includes('publisherKey'));

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** Calls an operation; a POST carries what no parser takes unless told otherwise, so that a 400 shows that nothing refused before. */
function call({ method, path, id }: Operation, key: string | null, body = '{not json'): Promise<TestAnswer> {
  const init = { method, ...(key === null ? {} : { key }), ...(method === 'POST' ? { body } : {}) };
  return api.request(`${path}${KEYED[id]?.query ?? ''}`, init);
}

function bodyOf({ id }: Operation, error: string, more: object = {}): object {
  const next = expect.objectContaining({ action: expect.any(String) });
  return { ...(KEYED[id]?.isOkShape ? { ok: false } : {}), error, next, ...more };
}

const UNKNOWN = 'unknown_credential: the API key is not recognised';

test('every operation of the description stands in this matrix', () => {
  expect(keyed.map(({ id }) => id).sort()).toEqual(Object.keys(KEYED).sort());
  const account = OPERATIONS.filter(({ schemes }) => schemes.includes('buyerAccount'));
  expect(account.map(({ id }) => id).sort()).toEqual([...ACCOUNT, ...ACCOUNT_IF_ANY].sort());
});

describe.each(keyed)('$method $path', (operation) => {
  const { id } = operation;

  test('without a key and with a wrong, revoked, expired or closed one: 401, the same words whatever was guessed', async () => {
    const none = await call(operation, null);
    const needed = 'missing_credential: an API key is needed: Authorization: Bearer <key>';
    expect([none.status, none.body]).toEqual([401, bodyOf(operation, needed)]);
    const site = await api.site();
    const { token: expired } = await mintKey(api.deps, {
      tenantId: site.tenantId,
      name: 'old',
      scopes: SCOPES,
      expiresAtMs: api.deps.clock() - 1,
    });
    const revoked = await mintKey(api.deps, { tenantId: site.tenantId, name: 'revoked', scopes: SCOPES });
    await revokeKey(api.deps, { tenantId: site.tenantId, keyId: revoked.keyId });
    const closed = await api.site();
    await setTenantStatus(api.deps, { tenantId: closed.tenantId, status: 'closed' });
    const unissued = generateToken('svc_live_');
    for (const key of ['garbage', unissued, generateToken('svc_test_'), expired, revoked.token, closed.key]) {
      const answer = await call(operation, key);
      expect([answer.status, answer.body]).toEqual([401, bodyOf(operation, UNKNOWN)]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('below Studio: 403 with upgrade, whatever the scopes; a suspended site: 403', async () => {
    for (const plan of [null, 'free', 'starter'] as const) {
      const site = await api.site({ plan, scopes: ['member.read'] });
      const answer = await call(operation, site.key);
      const error = 'plan_gate: API access needs the Studio plan or above';
      expect([answer.status, answer.body]).toEqual([403, bodyOf(operation, error, { upgrade: true })]);
    }
    const suspended = await api.site({ status: 'suspended' });
    const answer = await call(operation, suspended.key);
    expect([answer.status, answer.body]).toEqual([403, bodyOf(operation, 'site_suspended: this site is suspended')]);
  });

  test('each single scope: its own lets in, every other is a 403 that names what is missing', async () => {
    const { tenantId } = await api.site();
    const { scope, allowed } = KEYED[id] ?? {};
    for (const only of SCOPES) {
      const { token } = await mintKey(api.deps, { tenantId, name: only, scopes: [only] });
      const answer = await call(operation, token);
      if (only === scope) expect(answer.status).toBe(allowed);
      else
        expect([answer.status, answer.body]).toEqual([
          403,
          bodyOf(operation, `scope_missing: this key lacks the scope ${scope}`),
        ]);
    }
  });
});

test('a key of one site never prices, settles, checks or reports a page of another: 403, exact body', async () => {
  const [mine, theirs] = [await api.site(), await api.site()];
  const resource = `https://${theirs.host}/articles/solo`;
  const encoded = encodeURIComponent(resource);
  const error = 'resource_not_owned: this key is not bound to the site of the resource';
  const legs = [{ toAddress: `0x${'a'.repeat(40)}`, amountMicro: 1_000 }];
  const calls: [Promise<TestAnswer>, object][] = [
    [api.request(`/_svc/quote?resource=${encoded}`, { key: mine.key }), { error }],
    [api.request(`/_svc/enforce-config?resource=${encoded}`, { key: mine.key }), { error }],
    [api.post('/_svc/verify', mine.key, { payment: 'e30=', legs, quote: { price: 1_000 }, resource }), { ok: false, error }],
    [api.post('/_svc/observe', mine.key, { resource, verdict: 'denied', classifiedAs: 'agent' }), { ok: false, error }],
    [api.post('/_svc/license/check', mine.key, { license: 'x', resource, slug: 'solo' }), { error }],
  ];
  const next = { action: 'ask_owner' };
  for (const [answer, body] of calls) expect([(await answer).status, (await answer).body]).toEqual([403, { ...body, next }]);
});

test('what a key reads never names another site, its hosts or its people', async () => {
  const [mine, theirs] = [await api.site({ ownerUserId: 'me' }), await api.site({ ownerUserId: 'somebody-else' })];
  await inviteMember(api.deps, { tenantId: theirs.tenantId, authorId: 'secret-author', email: 'secret@example.org' });
  await api.request('/_svc/quote?slug=solo', { key: theirs.key });
  for (const operation of keyed.filter(({ method }) => method === 'GET')) {
    const filters = ['getEarnings', 'getAudit'].includes(operation.id) ? `?host=${theirs.host}` : '';
    const { status, body } = await call({ ...operation, path: operation.path + filters }, mine.key);
    expect(status).toBe(200);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    for (const secret of [theirs.tenantId, theirs.host, 'somebody-else', 'secret']) {
      if (filters === '' || secret !== theirs.host) expect(text).not.toContain(secret);
    }
  }
});

test.each(OPERATIONS.filter(({ id }) => ACCOUNT.includes(id)))(
  '$method $path is no publisher endpoint: a publisher key, garbage and nothing are 401',
  async (operation) => {
    const site = await api.site();
    for (const key of [null, 'garbage', generateToken('svc_buyer_'), site.key]) {
      const answer = await call(operation, key);
      expect(answer.status).toBe(401);
      expect(Object.keys(answer.body)).toEqual(['error', 'next', 'extensions']);
    }
  },
);

test.each(OPERATIONS.filter(({ id }) => ACCOUNT_IF_ANY.includes(id)))(
  '$method $path takes no credential, and none that is wrong: a publisher key and garbage are 401',
  async (operation) => {
    const site = await api.site();
    expect((await call(operation, null)).status).toBe(400);
    for (const key of ['garbage', generateToken('svc_buyer_'), site.key]) {
      expect((await call(operation, key)).status).toBe(401);
    }
  },
);

test('a buyer account is let in to its own licences alone, and to no publisher endpoint', async () => {
  const { token } = await createBuyerAccount(api.deps, { name: 'reader' });
  const held = await api.request('/_svc/licenses/held', { key: token });
  expect([held.status, held.body]).toEqual([200, { licences: [] }]);
  const access = OPERATIONS.find(({ id }) => id === 'openLicenceAccess') as Operation;
  expect((await call(access, token, '{}')).status).toBe(404);
  for (const operation of keyed) expect((await call(operation, token)).status).toBe(401);
});

test('a key that is revoked in one process is refused in the very next call of another (safety 24)', async () => {
  const { deps } = api;
  const { database, networks, clock, log, priceFloorMicro } = deps;
  const snapshots = await openSnapshots({
    database,
    directUrl: api.urls.appUrl,
    networkIds: networks.ids,
    priceFloorMicro,
    clock,
    log,
  });
  const server = createServer(createApi({ ...deps, snapshots }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { tenantId } = await api.site();
  const ask = async ({ id, method, path }: Operation, key: string): Promise<readonly [string, number]> => {
    const init = { method, headers: { authorization: `Bearer ${key}` }, ...(method === 'POST' ? { body: '{not json' } : {}) };
    const response = await fetch(`${other}${path}${KEYED[id]?.query ?? ''}`, init);
    await response.arrayBuffer();
    return [id, response.status];
  };
  try {
    for (const operation of keyed) {
      const { token, keyId } = await mintKey(deps, { tenantId, name: operation.id, scopes: SCOPES });
      expect(await ask(operation, token)).toEqual([operation.id, KEYED[operation.id]?.allowed]);
      await revokeKey(deps, { tenantId, keyId });
      if (SNAPSHOT.includes(operation.id)) await expect.poll(() => ask(operation, token)).toEqual([operation.id, 401]);
      else expect(await ask(operation, token)).toEqual([operation.id, 401]);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await snapshots.close();
  }
});
