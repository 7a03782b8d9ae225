/** Documents of RSL, and a token endpoint of the Open License Protocol that is asked well and badly. */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeLicenceXml } from '../../modules/discovery/use/rsl/documents.ts';
import { findLiveSite } from '../../modules/discovery/use/site.ts';
import { createAccountClient, createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { setLicenceOffering } from '../../modules/storefront/use/licences/offering.ts';
import { setPricing, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi } from '../support/api.ts';
import type { CutContent } from '../support/olp.ts';
import { cutContents, tokenForm } from '../support/olp.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let basic: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  const { accountId } = await createBuyerAccount(api.deps);
  const { clientId, clientSecret } = await createAccountClient(api.deps, { accountId });
  basic = { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
});
afterAll(() => api.stop());

const documentOf = (host: string, headers: Record<string, string> = {}) =>
  api.request(`/_svc/discovery/${host}/license.xml`, { headers });
/** What is sold of a host, first by first license. */
async function soldAt(host: string): Promise<CutContent> {
  const { body } = await documentOf(host);
  return cutContents(body).find(({ server }) => server !== null) as CutContent;
}
async function ask(form: Record<string, string> | URLSearchParams, headers: Record<string, string> = basic) {
  const { status, body } = await api.request('/_svc/olp/token', { method: 'POST', body: new URLSearchParams(form), headers });
  return [status, body.error];
}
const asked = (content: CutContent, changes: Record<string, string> = {}) => ({
  ...(Object.fromEntries(tokenForm(content)) as Record<string, string>),
  ...changes,
});

test('a site tells its terms in XML with a tag and a date, to a browser as XML that it shows', async () => {
  const { host } = await api.site();
  const answer = await documentOf(host);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/rsl+xml; charset=utf-8']);
  expect(answer.headers.get('vary')).toContain('Accept');
  expect(Date.parse(answer.headers.get('last-modified') ?? '')).toBeGreaterThan(0);
  expect(answer.body).toContain(`lastmod="${new Date(answer.headers.get('last-modified') ?? '').toISOString().slice(0, 19)}Z"`);
  expect(cutContents(answer.body).map(({ url, server }) => [url, server])).toEqual([
    [`https://${host}/articles/free$`, null],
    [`https://${host}/articles/*`, 'https://svc.example/_svc/olp'],
  ]);
  expect((await documentOf(host, { 'if-none-match': answer.headers.get('etag') ?? '' })).status).toBe(304);
  const shown = await documentOf(host, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
  expect([shown.headers.get('content-type'), shown.body]).toEqual(['application/xml; charset=utf-8', answer.body]);
  const named = await documentOf(host, { accept: 'text/html, application/rsl+xml' });
  expect(named.headers.get('content-type')).toBe('application/rsl+xml; charset=utf-8');
});

test('the lines for robots.txt name the document first, and a group that forbids nothing denies what is sold', async () => {
  const { host } = await api.site();
  const { body } = await api.request(`/_svc/discovery/${host}/robots.txt`);
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines).toEqual([
    `License: https://svc.example/_svc/discovery/${host}/license.xml`,
    'User-agent: *',
    'Content-Usage: train-ai=n',
    'Content-Signal: ai-input=no, ai-train=no',
    'Disallow:',
  ]);
  const free = await api.site({ pricing: { priceUsdc: '0', articlePrefixes: ['/articles/'] } });
  const granted = await api.request(`/_svc/discovery/${free.host}/robots.txt`);
  expect(granted.body).toContain('\nContent-Signal: search=yes, ai-input=yes, ai-train=no\n');
});

test('an account that holds nothing is told the price of a licence, by the whole address of a content or by its path', async () => {
  const content = await soldAt((await api.site()).host);
  expect(await ask(tokenForm(content))).toEqual([402, 'unauthorized_client']);
  const path = new URL(content.url).pathname;
  expect(await ask(asked(content, { resource: path }))).toEqual([402, 'unauthorized_client']);
  const spelled = content.license.replace('<license>', '<license xmlns="https://rslstandard.org/rsl">').replaceAll(/\s+</g, '<');
  expect(await ask(asked(content, { license: spelled }))).toEqual([402, 'unauthorized_client']);
});

const register = (metadata: unknown) =>
  api.request('/_svc/oauth/register', {
    method: 'POST',
    body: JSON.stringify(metadata),
    headers: { 'content-type': 'application/json' },
  });

test('a client that has nothing finds where to register, registers, and is offered a licence; it owns no account', async () => {
  const content = await soldAt((await api.site()).host);
  const stranger = await api.request('/_svc/olp/token', { method: 'POST', body: tokenForm(content) });
  const metadata = (await api.request('/.well-known/oauth-authorization-server')).body;
  const { next } = stranger.body;
  expect([stranger.status, next]).toEqual([401, { action: 'sign_in', register: metadata.registration_endpoint }]);
  const answer = await register({ client_name: 'Crawler', redirect_uris: [], grant_types: ['client_credentials'] });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { client_id: id, client_secret: secret } = answer.body;
  expect(answer.body).toMatchObject({ client_name: 'Crawler', client_secret_expires_at: 0, grant_types: ['client_credentials'] });
  const headers = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  expect(await ask(tokenForm(content), headers)).toEqual([402, 'unauthorized_client']);
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  const token = (await api.request('/_svc/oauth/token', { method: 'POST', body: form, headers })).body.access_token;
  const minted = await api.post('/_svc/accounts/keys', token, { name: 'another' });
  expect([minted.status, minted.body.next]).toEqual([403, { action: 'ask_owner' }]);
});

test('a client with keys of its own gets no secret, and metadata that cannot be taken is told in the words of RFC 7591', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
  const proven = await register({ token_endpoint_auth_method: 'private_key_jwt', jwks });
  expect([proven.status, 'client_secret' in proven.body]).toEqual([201, false]);
  const padded = { keys: [{ ...jwks.keys[0], x5c: ['x'.repeat(5_000)], constructor: 'x'.repeat(5_000), note: '\u0000' }] };
  const kept = (await register({ token_endpoint_auth_method: 'private_key_jwt', jwks: padded })).body.client_id;
  const rows = await api.deps.database.query('select jwks from oauth_client where client_id = $1', [kept]);
  expect(rows, 'the public members alone').toEqual([{ jwks }]);
  const wrong = [
    { token_endpoint_auth_method: 'none' },
    { token_endpoint_auth_method: 'private_key_jwt' },
    { jwks },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [privateKey.export({ format: 'jwk' })] } },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '\u0000' }] } },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'RSA', n: 'x'.repeat(701), e: 'AQAB' }] } },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: Array(5).fill(jwks.keys[0]) } },
    { client_name: '' },
    { client_name: 'a\u0000b' },
    { client_name: 'x'.repeat(201) },
    [],
    null,
    7,
  ];
  for (const metadata of wrong) {
    const { status, body } = await register(metadata);
    expect([metadata, status, body.error]).toEqual([metadata, 400, 'invalid_client_metadata']);
  }
});

test('what is asked wrongly is told in the words of the protocol, and nothing of it is a failure of ours', async () => {
  const content = await soldAt((await api.site()).host);
  const other = await soldAt((await api.site({ pricing: { priceUsdc: '0.5', articlePrefixes: ['/articles/'] } })).host);
  const bomb = `<!DOCTYPE license [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><license>&b;</license>`;
  const licenses = [
    bomb,
    '<license>&xxe;</license>',
    '<license><?x y?></license>',
    '<license>',
    'license',
    '',
    '\u0000',
    '<permits/>',
    '<!DOCTYPE license SYSTEM "file:///etc/passwd"><license/>',
    `<license>${' '.repeat(16_400)}</license>`,
    `${'<a>'.repeat(17)}${'</a>'.repeat(17)}`,
    '<license/>',
    content.license.replace('0.001', '0.0001'),
    other.license,
  ];
  for (const license of licenses) {
    expect([license.slice(0, 60), ...(await ask(asked(content, { license })))]).toEqual([
      license.slice(0, 60),
      400,
      'invalid_license',
    ]);
  }
  const resources = ['/articles/*', 'https://nobody.example/articles/*', `${content.url}x`, 'https://', 'x'.repeat(3_000), ''];
  for (const resource of resources) {
    const [status, error] = await ask(asked({ ...content, license: '<license/>' }, { resource }));
    expect([resource.slice(0, 40), status, error]).toEqual([resource.slice(0, 40), 400, 'invalid_resource']);
  }
  const without = (name: string) => Object.fromEntries(Object.entries(asked(content)).filter(([key]) => key !== name));
  expect(await ask(without('license'))).toEqual([400, 'invalid_request']);
  expect(await ask(without('resource'))).toEqual([400, 'invalid_request']);
  expect(await ask(without('grant_type'))).toEqual([400, 'invalid_request']);
  expect(await ask(asked(content, { license_type: 'text/plain' }))).toEqual([400, 'invalid_request']);
  for (const period_days of ['0', 'x', '-1', '1e9'])
    expect(await ask(asked(content, { period_days }))).toEqual([400, 'invalid_request']);
  expect(await ask(asked(content, { grant_type: 'password' }))).toEqual([400, 'unsupported_grant_type']);
  expect(await ask(asked(content), {})).toEqual([401, 'invalid_client']);
  expect(await ask(asked(content), { authorization: `Basic ${btoa('a:b')}` })).toEqual([401, 'invalid_client']);
  expect((await api.request('/_svc/olp/key', { method: 'POST', body: new URLSearchParams({}) })).body.error).toBe(
    'invalid_request',
  );
  expect(api.problems).toEqual([]);
});

test('a license that costs nothing needs no token, and one of a site that sells no more has none', async () => {
  const site = await api.site();
  const [free] = cutContents((await documentOf(site.host)).body);
  expect(await ask(tokenForm(free as CutContent))).toEqual([400, 'invalid_license']);
  const content = await soldAt(site.host);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  api.time.offsetMs += 5_000;
  expect(await ask(tokenForm(content))).toEqual([400, 'invalid_resource']);
});

test('a license is good for ten minutes after its price was changed, at the price of now; yesterday’s is none', async () => {
  const site = await api.site();
  const former = await soldAt(site.host);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.002' } });
  api.time.offsetMs += 5_000;
  const { status, body } = await api.request('/_svc/olp/token', { method: 'POST', body: tokenForm(former), headers: basic });
  expect([status, body.licence.priceMicro]).toEqual([402, 6_000]);
  api.time.offsetMs += 660_000;
  expect(await ask(tokenForm(former))).toEqual([400, 'invalid_license']);
  expect(await ask(tokenForm(await soldAt(site.host)))).toEqual([402, 'unauthorized_client']);
});

test('a site that sells training says so in its terms, and asks for it in its offers', async () => {
  const site = await api.site();
  expect((await soldAt(site.host)).license).toContain('<prohibits type="usage">ai-train</prohibits>');
  await setLicenceOffering(api.deps, { tenantId: site.tenantId, sellsTraining: true });
  api.time.offsetMs += 5_000;
  const content = await soldAt(site.host);
  expect(content.license).toContain('<permits type="usage">search ai-index ai-input ai-train</permits>');
  const { body } = await api.request('/_svc/olp/token', { method: 'POST', body: tokenForm(content), headers: basic });
  expect(body.licence.terms).toEqual(['search', 'ai-index', 'ai-input', 'ai-train']);
});

test('a publisher learns what a token is worth on its own site, and of a foreign or forged one nothing', async () => {
  const site = await api.site();
  const [other, { keyring }] = [await api.site(), api.deps];
  const now = Math.floor(api.deps.clock() / 1000);
  const { kid } = keyring.current();
  const svc = { v: 1, grant: 'read', site: site.tenantId, kind: 'read', slug: 'solo', settlementRefKind: 'none' };
  const claims = {
    iss: 'https://svc.example',
    aud: `https://${site.host}`,
    sub: 'a',
    jti: 'j',
    iat: now,
    nbf: now,
    exp: now + 60,
    svc,
  };
  const token = await keyring.sign(kid, claims);
  const introspect = async (fields: Record<string, string>, key = site.key) =>
    (await api.request('/_svc/olp/introspect', { method: 'POST', body: new URLSearchParams(fields), key })).body;
  const good = { active: true, token_type: 'License', aud: `https://${site.host}`, exp: now + 60 };
  const page = (slug: string) => `https://${site.host}/articles/${slug}`;
  expect(await introspect({ token, resource: page('solo') })).toMatchObject({ ...good, permitted: true });
  expect(await introspect({ token, resource: page('trio') })).toMatchObject({ ...good, permitted: false });
  expect(await introspect({ token })).toMatchObject({ ...good, permitted: false });
  const nothing = { active: false, permitted: false };
  expect(await introspect({ token }, other.key)).toEqual(nothing);
  expect(await introspect({ token: await keyring.sign(kid, { ...claims, exp: now }) })).toEqual(nothing);
  expect(await introspect({ token: `${token}x`, resource: page('solo') })).toEqual(nothing);
  expect((await introspect({ token, resource: `https://${other.host}/articles/solo` })).error).toMatch(/^resource_not_owned/);
});

test('a document is printed once for its prices: made anew for later moments it is the same text, and another one after a change', async () => {
  const site = await api.site();
  const printed = async () => {
    const live = await findLiveSite(api.deps, site.host);
    const made = live && (await makeLicenceXml(api.deps, live));
    return typeof made === 'object' ? made : null;
  };
  const first = await printed();
  expect(first?.text).toContain('</rsl>');
  expect((await printed())?.text).toBe(first?.text);
  // What it is made of is read anew every two seconds.
  await expect.poll(async () => new Set([await printed(), await printed()]).size).toBe(1);
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.5' } });
  await expect.poll(async () => (await printed())?.text.includes('0.5')).toBe(true);
  expect((await printed())?.text).not.toBe(first?.text);
});
