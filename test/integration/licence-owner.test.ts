import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeHostRows } from '../../modules/hosts/store/removal.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import { reReadFacts } from '../support/reReads.ts';

type Site = Awaited<ReturnType<TestApi['site']>>;
let api: TestApi;
let buyer: { accountId: string; token: string };
beforeAll(async () => {
  api = await startTestApi();
  buyer = await createBuyerAccount(api.deps);
});
afterAll(() => api.stop());

const sell = (host: string) =>
  sellLicence(api, buyer.accountId, { host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 366, kind: 'citation' });
const open = (jti: string) => api.post(`/_svc/licenses/${jti}/access`, buyer.token, {});
const remove = ({ tenantId }: Site, host: string) =>
  api.deps.database.transaction((sql) => removeHostRows(sql, tenantId, host, new Date(api.deps.clock())));

/** Gives a host to a site, as the last step of proving it does. */
async function give({ tenantId }: Site, host: string): Promise<void> {
  const { database, clock } = api.deps;
  await database.query('insert into host_claim (host, tenant_id) values ($1, $2)', [host, tenantId]);
  await database.query('insert into tenant_host (tenant_id, host, position, verified_at) values ($1, $2, 5, $3)', [
    tenantId,
    host,
    new Date(clock()),
  ]);
  await database.query('update tenant set version = version + 1 where tenant_id = $1', [tenantId]);
}

/** What a site is told of a token for the page `solo` of a host; the error code where it is told nothing. */
async function check(site: Site, license: string, host: string): Promise<unknown> {
  const body = { license, resource: `https://${host}/articles/solo`, slug: 'solo' };
  const answer = await api.post('/_svc/license/check', site.key, body);
  return answer.body.entitled ?? answer.headers.get('x-svc-error-code');
}

/** A re-read licence as `verify` answers it. */
function reRead(site: Site, host: string): Promise<string> {
  return mintReReadLicence(api.deps.keyring, reReadFacts(api, { tenantId: site.tenantId, host }));
}

/** The token as it was made before tokens named their site. */
async function unnamed(token: string): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { site: _, ...svc } = claims.svc;
  return api.deps.keyring.sign(api.deps.keyring.current().kid, { ...claims, svc });
}

test('after a host changed hands, nothing that its former owner sold opens the next owner’s pages', async () => {
  const former = await api.site();
  const { host } = former;
  api.time.offsetMs = 2_000; // tokens are from a later second than the proof of the host
  const { jti } = await sell(host);
  const access = (await open(jti)).body.license as string;
  const page = await reRead(former, host);
  const old = [access, page, await unnamed(access), await unnamed(page)];
  for (const token of old) expect(await check(former, token, host)).toBe(true);

  await remove(former, host);
  for (const token of old) expect(await check(former, token, host)).toBe('resource_not_owned');
  expect((await open(jti)).status).toBe(404);

  api.time.offsetMs = 4_000;
  const next = await api.site();
  await give(next, host);
  for (const token of old) expect(await check(next, token, host)).toBe(false);
  api.time.offsetMs = 6_000;
  const refused = await open(jti);
  expect([refused.status, refused.headers.get('x-svc-error-code')]).toEqual([404, 'not_found']);
  const own = (await open((await sell(host)).jti)).body.license as string;
  expect([await check(next, own, host), await check(next, await unnamed(own), host)]).toEqual([true, true]);
  api.time.offsetMs = 0;
});

test('what was sold on a host that stays is untouched when another host of the site goes', async () => {
  const site = await api.site();
  const { jti } = await sell(site.host);
  const token = (await open(jti)).body.license as string;
  const other = `other-${site.host}`;
  await give(site, other);
  const elsewhere = await sell(other);
  expect((await open(elsewhere.jti)).status).toBe(200);
  await remove(site, other);
  expect((await open(elsewhere.jti)).status).toBe(404);
  expect((await open(jti)).status).toBe(200);
  expect(await check(site, token, site.host)).toBe(true);
});

test('a licence rests while its site does not have the host, and goes on for the rest of its period when the host comes back', async () => {
  const site = await api.site();
  const { host } = site;
  const { jti } = await sell(host);
  const token = (await open(jti)).body.license as string;
  await remove(site, host);
  const between = await api.site();
  await give(between, host);
  const sold = await sell(host);
  await remove(between, host);
  expect([(await open(jti)).status, (await open(sold.jti)).status]).toEqual([404, 404]);
  await give(site, host);
  expect([(await open(jti)).status, (await open(sold.jti)).status]).toEqual([200, 404]);
  expect(await check(site, token, host)).toBe(true);
  const held = await api.request('/_svc/licenses/held', { key: buyer.token });
  expect(held.body.licences.map((one: { jti: string }) => one.jti)).toEqual(expect.arrayContaining([jti, sold.jti]));
});

test('a host whose proof lapsed, and a site that is not active, open nothing until they are again', async () => {
  const site = await api.site();
  const { jti } = await sell(site.host);
  const { database } = api.deps;
  const status = (value: string) => database.query('update tenant set status = $2 where tenant_id = $1', [site.tenantId, value]);
  for (const value of ['suspended', 'closed']) {
    await status(value);
    expect((await open(jti)).status, value).toBe(404);
  }
  await status('active');
  await database.query('update tenant_host set verified_at = null where tenant_id = $1', [site.tenantId]);
  await database.query('delete from host_claim where host = $1', [site.host]);
  expect((await open(jti)).status).toBe(404);
  await database.query('insert into host_claim (host, tenant_id) values ($1, $2)', [site.host, site.tenantId]);
  await database.query('update tenant_host set verified_at = now() where tenant_id = $1', [site.tenantId]);
  expect((await open(jti)).status).toBe(200);
});
