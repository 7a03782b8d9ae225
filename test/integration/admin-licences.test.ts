import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../support/admin.ts';
import { startTestApi } from '../support/api.ts';
import { sellLicence } from '../support/buyers.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
const folder = mkdtempSync(join(tmpdir(), 'admin-'));
const run = (...args: string[]): Promise<Record<string, unknown>> => runAdmin(api, ...args);
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.stop();
});

const wanted = (host: string, changes: object = {}) => ({
  host,
  scope: ['/articles/*'],
  terms: ['ai-input'],
  periodDays: 30,
  kind: 'read' as const,
  ...changes,
});
const held = (token: unknown) => api.request('/_svc/licenses/held', { key: String(token) });

test('a site begins to sell for training and sells imported pages when the operator says so', async () => {
  const site = await api.site();
  const quote = (changes: object) => api.post('/_svc/licenses/quote', null, wanted(site.host, changes));
  expect((await quote({ terms: ['ai-train'] })).status).toBe(409);
  await run('licence', 'offer', site.tenantId, '--training');
  expect((await quote({ terms: ['ai-train'] })).status).toBe(200);
  await run('licence', 'offer', site.tenantId);
  expect((await quote({ terms: ['ai-train'] })).status).toBe(409);
  const file = join(folder, 'pages.json');
  const credits = { contributors: [{ authorId: 'ann', wallet: `0x${'a'.repeat(40)}` }] };
  writeFileSync(file, JSON.stringify({ pages: [{ slug: 'report', path: '/reports/one', credits }] }));
  expect((await quote({ scope: ['/reports/*'] })).status).toBe(404);
  await run('licence', 'import', site.tenantId, file);
  expect((await quote({ scope: ['/reports/*'] })).body).toMatchObject({ resourceCount: 1 });
  writeFileSync(file, JSON.stringify({ pages: [{ slug: 'report' }] }));
  await expect(run('licence', 'import', site.tenantId, file)).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('an operator denies one token and then revokes its licence, from the next check on', async () => {
  const site = await api.site();
  const account = await run('buyer', 'account', 'create', '--name', 'Reader');
  const { jti } = await sellLicence(api, String(account['accountId']), wanted(site.host));
  const open = async (): Promise<string> =>
    (await api.post(`/_svc/licenses/${jti}/access`, String(account['token']), {})).body.license;
  const [first, second] = [await open(), await open()];
  const entitled = async (license: string): Promise<boolean> => {
    const body = { license, resource: `https://${site.host}/articles/solo`, slug: 'solo' };
    return (await api.post('/_svc/license/check', site.key, body)).body.entitled;
  };
  const claims = JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString());
  await run('licence', 'revoke', site.tenantId, claims.jti, '--token');
  expect([await entitled(first), await entitled(second)]).toEqual([false, true]);
  await run('licence', 'revoke', site.tenantId, jti);
  expect(await entitled(second)).toBe(false);
  const elsewhere = await api.site();
  await expect(run('licence', 'revoke', elsewhere.tenantId, jti)).rejects.toMatchObject({ code: 'not_found' });
});

test('keys and clients of a buyer account are issued and revoked, and a revoked one is refused in the next call', async () => {
  const { accountId, token } = await run('buyer', 'account', 'create', '--name', 'Company');
  const extra = await run('buyer', 'key', String(accountId));
  expect([(await held(token)).status, (await held(extra['token'])).status]).toEqual([200, 200]);
  await run('buyer', 'revoke-key', String(extra['token']));
  expect([(await held(token)).status, (await held(extra['token'])).status]).toEqual([200, 401]);
  const client = await run('buyer', 'client', String(accountId));
  const credentials = Buffer.from(`${client['clientId']}:${client['clientSecret']}`).toString('base64');
  const grant = () =>
    api.request('/_svc/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${credentials}` },
    });
  expect((await grant()).status).toBe(200);
  await run('buyer', 'revoke-client', String(client['clientId']));
  expect((await grant()).status).toBe(401);
});
