import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createApi } from '../../api/app.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { removeHostRows } from '../../modules/hosts/store/removal.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { revokeLicence, revokeToken } from '../../modules/licences/use/revoke.ts';
import { setPricing, setTenantPlan, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { Rates } from '../../platform/pacing/rates.ts';
import { ALPHA_PRICING, startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import { reReadFacts } from '../support/reReads.ts';
import { query } from '../support/sql.ts';

type Site = Awaited<ReturnType<TestApi['site']>>;

let api: TestApi;
let second: Awaited<ReturnType<typeof secondProcess>>;
let buyer: { accountId: string; token: string };
beforeAll(async () => {
  api = await startTestApi();
  second = await secondProcess(api);
  buyer = await createBuyerAccount(api.deps);
});
afterAll(async () => {
  await second.stop();
  await api.stop();
});

/** Statements wait until so many calls have come. */
interface Meet {
  calls: number;
  readonly allCame: () => void;
  readonly statement: Promise<void>;
}

/** A second API process on the same Postgres, with connections and memory of its own; `asked` names its statements. */
async function secondProcess({ deps, urls }: TestApi) {
  const database = await openDatabase({ url: urls.appUrl });
  const asked: (string | undefined)[] = [];
  const process = { url: '', asked, meet: null as Meet | null, stop: () => Promise.resolve() };
  const told: Database = {
    ...database,
    query: async (statement, values, name) => {
      asked.push(name);
      await process.meet?.statement;
      return database.query(statement, values, name);
    },
  };
  const { networks, clock, log, priceFloorMicro } = deps;
  const snapshots = await openSnapshots({
    database,
    directUrl: urls.appUrl,
    networkIds: networks.ids,
    priceFloorMicro,
    clock,
    log,
  });
  // Right before the epoch of a call is asked for, the call is counted.
  const count = (): void => {
    if (process.meet && --process.meet.calls === 0) process.meet.allCame();
  };
  const rates: Rates = { count, queue: () => 0, present: (_call, letIn) => letIn() };
  const server = createServer(createApi({ ...deps, database: told, snapshots, rates }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await snapshots.close();
    await database.close();
  };
  return process;
}

/** A licence to read `solo` again, as verify answers it. */
function reRead(site: Site): Promise<string> {
  return mintReReadLicence(api.deps.keyring, reReadFacts(api, site));
}

/** What a process answers about a licence: whether it entitles, else the error's code. */
async function ask(url: string, site: Site, license: string): Promise<unknown> {
  const response = await fetch(`${url}/_svc/license/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}` },
    body: JSON.stringify({ license, resource: `https://${site.host}/articles/solo`, slug: 'solo' }),
  });
  const body = (await response.json()) as { entitled?: boolean };
  return body.entitled ?? response.headers.get('x-svc-error-code');
}

/** The status of the second process's answer to a payment that is none. */
async function verify(site: Site): Promise<number> {
  const headers = { authorization: `Bearer ${site.key}` };
  return (await fetch(`${second.url}/_svc/verify`, { method: 'POST', headers, body: '{}' })).status;
}

/** What the second process asked Postgres for one check. */
async function statementsOf(site: Site, license: string): Promise<readonly unknown[]> {
  second.asked.length = 0;
  expect(await ask(second.url, site, license)).toBe(true);
  return [...second.asked];
}

const claimsOf = (license: string): { jti: string } =>
  JSON.parse(Buffer.from(license.split('.')[1] ?? '', 'base64url').toString('utf8'));

test('a licence seen before costs one statement of one row, and none of its key or its licence', async () => {
  const site = await api.site();
  const license = await reRead(site);
  expect(await statementsOf(site, license)).toEqual(['keys-by-hash', 'tokens-alive']);
  expect(await statementsOf(site, license)).toEqual(['access-epochs']);
  // One that was not seen is looked for, and the key is known all the same.
  expect(await statementsOf(site, await reRead(site))).toEqual(['access-epochs', 'tokens-alive']);
});

test('a payment of a key seen before asks for its epoch, and in the very next call of a revoked one nothing is looked at', async () => {
  const site = await api.site();
  expect(await verify(site)).toBe(400);
  second.asked.length = 0;
  expect(await verify(site)).toBe(400);
  expect(second.asked).toEqual(['access-epochs']);
  await revokeKey(api.deps, site);
  expect(await verify(site)).toBe(401);
});

test('fifty calls at once share the statement that follows the two on their way', async () => {
  const site = await api.site();
  expect(await verify(site)).toBe(400);
  second.asked.length = 0;
  const allCame = Promise.withResolvers<void>();
  second.meet = { calls: 50, allCame: allCame.resolve, statement: allCame.promise };
  const answers = await Promise.all(Array.from({ length: 50 }, () => verify(site)));
  expect(new Set(answers)).toEqual(new Set([400]));
  expect(new Set(second.asked)).toEqual(new Set(['access-epochs']));
  expect(second.asked.length).toBeLessThanOrEqual(3);
});

test('a key in memory that ends by the clock is refused, though nothing was written and its epoch stands', async () => {
  const site = await api.site();
  await api.deps.database.query('update api_key set expires_at = $2 where key_id = $1', [
    site.keyId,
    new Date(api.deps.clock() + 60_000),
  ]);
  const license = await reRead(site);
  await statementsOf(site, license);
  expect(await statementsOf(site, license)).toEqual(['access-epochs']);
  const before = await epochOf(site);
  onTestFinished(() => {
    api.time.offsetMs = 0;
  });
  api.time.offsetMs = 61_000;
  expect(await ask(second.url, site, license)).toBe('unknown_credential');
  expect(await verify(site)).toBe(401);
  expect(await epochOf(site)).toBe(before);
});

/** Everything that takes a right away, and what is answered from then on. */
const TAKEN: Readonly<Record<string, { take: (site: Site, license: string) => Promise<unknown>; answer: unknown }>> = {
  'the key is revoked': { take: (site) => revokeKey(api.deps, site), answer: 'unknown_credential' },
  'the key ends': {
    take: ({ keyId }) =>
      api.deps.database.query("update api_key set expires_at = now() - interval '1 s' where key_id = $1", [keyId]),
    answer: 'unknown_credential',
  },
  'the key is deleted': {
    take: async ({ keyId }) => {
      await api.deps.database.query('delete from api_key_hash where key_id = $1', [keyId]);
    },
    answer: 'unknown_credential',
  },
  'the key loses its scope': {
    take: ({ keyId }) =>
      api.deps.database.query("update api_key set scopes = array_remove(scopes, 'tenant.read') where key_id = $1", [keyId]),
    answer: 'scope_missing',
  },
  'the token is denied': {
    take: ({ tenantId }, license) => revokeToken(api.deps, { tenantId, jti: claimsOf(license).jti }),
    answer: false,
  },
  'the site is suspended': {
    take: ({ tenantId }) => setTenantStatus(api.deps, { tenantId, status: 'suspended' }),
    answer: 'site_suspended',
  },
  'the site is closed': {
    take: ({ tenantId }) => setTenantStatus(api.deps, { tenantId, status: 'closed' }),
    answer: 'unknown_credential',
  },
  'the plan ends': { take: ({ tenantId }) => setTenantPlan(api.deps, { tenantId, plan: 'free' }), answer: 'plan_gate' },
  'the host is removed': {
    take: ({ tenantId, host }) =>
      api.deps.database.transaction((sql) => removeHostRows(sql, tenantId, host, new Date(api.deps.clock()))),
    answer: 'resource_not_owned',
  },
  'its pages move': {
    take: ({ tenantId }) =>
      setPricing(api.deps, { tenantId, pricing: { ...ALPHA_PRICING, articlePrefixes: ['/articles/solo/'] } }),
    answer: true,
  },
};

test.each(Object.entries(TAKEN))(
  'when %s, the very next check of both processes knows (safety 24)',
  async (_, { take, answer }) => {
    const site = await api.site();
    const license = await reRead(site);
    const both = (): Promise<readonly unknown[]> => Promise.all([api.url, second.url].map((url) => ask(url, site, license)));
    for (let round = 0; round < 2; round++) expect(await both()).toEqual([true, true]);
    await take(site, license);
    expect(await both()).toEqual([answer, answer]);
  },
);

test('a revoked licence ends its access tokens in the very next check of both processes, whole or by hash', async () => {
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0]! }] };
  const creditsInline = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [n === 0 ? 'solo' : `p${n}`, credits]));
  for (const pricing of [ALPHA_PRICING, { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline }]) {
    const site = await api.site({ pricing });
    const wanted = { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' } as const;
    const { jti } = await sellLicence(api, buyer.accountId, wanted);
    const { license } = (await api.post(`/_svc/licenses/${jti}/access`, buyer.token, {})).body;
    for (const url of [api.url, second.url, second.url]) expect(await ask(url, site, license)).toBe(true);
    await revokeLicence(api.deps, { tenantId: site.tenantId, jti });
    for (const url of [api.url, second.url]) expect(await ask(url, site, license)).toBe(false);
  }
});

test('a site that revokes all the time makes nobody but itself ask more', async () => {
  const [quiet, busy] = [await api.site(), await api.site()];
  const license = await reRead(quiet);
  await statementsOf(quiet, license);
  await statementsOf(busy, await reRead(busy));
  await revokeToken(api.deps, { tenantId: busy.tenantId, jti: randomUUID() });
  expect(await statementsOf(quiet, license)).toEqual(['access-epochs']);
  expect(await statementsOf(busy, await reRead(busy))).toContain('keys-by-hash');
});

test('a caller who sends its body late is judged as of then, and not as of when it was let in', async () => {
  const site = await api.site();
  const license = await reRead(site);
  await statementsOf(site, license);
  const body = JSON.stringify({ license, resource: `https://${site.host}/articles/solo`, slug: 'solo' });
  const { request } = await import('node:http');
  const sent = request(`${second.url}/_svc/license/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}`, 'content-length': Buffer.byteLength(body) },
  });
  const answered = new Promise<string>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => response.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8'))));
  });
  second.asked.length = 0;
  sent.write(body.slice(0, 10));
  await expect.poll(() => second.asked).toEqual(['access-epochs']);
  await revokeToken(api.deps, { tenantId: site.tenantId, jti: claimsOf(license).jti });
  onTestFinished(() => void sent.destroy());
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 1_050);
  onTestFinished(() => later.mockRestore());
  sent.end(body.slice(10));
  expect(JSON.parse(await answered)).toEqual({ entitled: false });
});

const epochOf = async ({ tenantId }: Site): Promise<string | undefined> =>
  (await api.deps.database.query<{ epoch: string }>('select epoch from access_epoch where tenant_id = $1', [tenantId]))[0]?.epoch;

test('every column that the two statements of a check read moves the epoch when it changes, or cannot be changed by the service', async () => {
  const site = await api.site();
  const { jti } = await sellLicence(api, buyer.accountId, {
    host: site.host,
    scope: ['/articles/*'],
    terms: ['ai-input'],
    periodDays: 30,
    kind: 'read',
  });
  const { tenantId } = site;
  const run = (statement: string) => query(api.urls.superUrl, statement);
  await run(`insert into access_scope values ('${tenantId}', 'some-token', '${jti}', null, now() + interval '1 h')`);
  const moving: readonly string[] = [
    `update api_key set scopes = '{audit.read}' where tenant_id = '${tenantId}'`,
    `update api_key set revoked_at = now() where tenant_id = '${tenantId}'`,
    `update api_key set expires_at = now() where tenant_id = '${tenantId}'`,
    `update api_key set prefix = 'svc_test_' where tenant_id = '${tenantId}'`,
    `insert into api_key (tenant_id, key_id, name, prefix, last4, scopes) values ('${tenantId}', '${randomUUID()}', 'x', 'svc_live_', 'last', '{}')`,
    `delete from api_key where tenant_id = '${tenantId}' and name = 'x'`,
    `delete from api_key_hash where tenant_id = '${tenantId}'`,
    `update tenant set plan = 'scale' where tenant_id = '${tenantId}'`,
    `update tenant set status = 'closed' where tenant_id = '${tenantId}'`,
    `update tenant set version = version + 1 where tenant_id = '${tenantId}'`,
    `insert into denied_licence (tenant_id, jti, reason) values ('${tenantId}', 'some', 'revoked')`,
    `update denied_licence set jti = 'another' where tenant_id = '${tenantId}'`,
    `update access_scope set paths = '{}' where tenant_id = '${tenantId}'`,
    `delete from access_scope where tenant_id = '${tenantId}'`,
  ];
  for (const statement of moving) {
    const before = await epochOf(site);
    await run(statement);
    expect(await epochOf(site), statement).not.toBe(before);
  }
  const [rights] = await run(
    `select has_table_privilege('svc_app', 'licence_page', 'update, delete, truncate') as pages,
       has_table_privilege('svc_app', 'access_epoch', 'insert, update, delete, truncate') as epochs`,
  );
  expect(rights).toEqual({ pages: false, epochs: false });
});

test('what takes no right away leaves the epoch: a use of a key, an end that came, a price of another site', async () => {
  const site = await api.site();
  const { tenantId } = site;
  await query(api.urls.superUrl, `update tenant set version = version + 1 where tenant_id = '${tenantId}'`);
  const before = await epochOf(site);
  await query(api.urls.superUrl, `update api_key set last_used_at = now() where tenant_id = '${tenantId}'`);
  await setPricing(api.deps, { tenantId: (await api.site()).tenantId, pricing: ALPHA_PRICING });
  expect(await epochOf(site)).toBe(before);
});

test('a change that is rolled back moves nothing, and two at once do not wait for one another until they commit', async () => {
  const site = await api.site();
  const { tenantId, keyId } = site;
  const { database } = api.deps;
  const before = await epochOf(site);
  await expect(
    database.transaction(async (sql) => {
      await sql.query('update api_key set revoked_at = now() where key_id = $1', [keyId]);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await epochOf(site)).toBe(before);
  await database.transaction(async (first) => {
    await first.query('update api_key set revoked_at = now() where key_id = $1', [keyId]);
    await setTenantPlan(api.deps, { tenantId, plan: 'scale' });
  });
  expect(await epochOf(site)).not.toBe(before);
});
