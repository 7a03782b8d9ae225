import { afterAll, beforeAll, expect, test } from 'vitest';
import { EnforcementConfig, EnforcementStatusResponse } from '../../api/schemas/enforcement.ts';
import { PublisherTenants } from '../../api/schemas/tenants.ts';
import { DEFAULT_ENFORCEMENT } from '../../modules/gate/rules/enforcement.ts';
import { enforcementStatus, setEnforcement } from '../../modules/gate/use/enforcement.ts';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { setPricing, setTenantPlan } from '../../modules/tenants/use/tenants.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const statusOf = async (site: { key: string }) => {
  await api.liveness.flush();
  const { status, body } = await api.request('/_svc/enforce-status', { key: site.key });
  expect(status).toBe(200);
  expect(EnforcementStatusResponse.parse(body)).toEqual(body);
  return body;
};

test('enforce-config holds the five inputs and the manifest, no price, chain or secret, and stays until an edit', async () => {
  const site = await api.site();
  const first = await api.request('/_svc/enforce-config', { key: site.key });
  expect(first.status).toBe(200);
  expect(first.headers.get('cache-control')).toBe('private, max-age=300');
  expect(EnforcementConfig.parse(first.body)).toEqual(first.body);
  expect(Object.keys(first.body)).toEqual(['enforcement', 'manifest', 'version']);
  const { enforcement } = first.body;
  expect(Object.keys(enforcement)).toEqual([
    'articlePrefixes',
    'gateScope',
    'forms',
    'seoAllowlist',
    'crawlerPolicy',
    'visitorClasses',
    'licenseIdentity',
    'manifest',
  ]);
  expect(enforcement).toMatchObject({
    articlePrefixes: ['/articles/'],
    gateScope: { mode: 'prefixes' },
    licenseIdentity: 'https://svc.example',
    manifest: {
      x402Version: 2,
      humansReadFree: true,
      resources: [`https://${site.host}/articles/*`],
      payment: { schemes: ['exact'], quoteUrl: 'https://svc.example/_svc/quote' },
    },
  });
  expect(JSON.stringify(first.body)).not.toMatch(/eip155|0x[0-9a-f]{8}|0\.001|"kid"|price/i);
  const etag = first.headers.get('etag') ?? '';
  const again = await api.request('/_svc/enforce-config', { key: site.key, headers: { 'if-none-match': `W/"x", ${etag}` } });
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
  await api.request('/_svc/quote?slug=solo', { key: site.key });
  expect((await api.request('/_svc/enforce-config', { key: site.key })).headers.get('etag')).toBe(etag);

  const report = { resource: `https://${site.host}/articles/solo`, verdict: 'denied', classifiedAs: 'agent', at: Date.now() };
  const posted = (body: object) => ({ key: site.key, method: 'POST', body: JSON.stringify(body) });
  const answers = await Promise.all([
    api.request('/_svc/quote?slug=solo', { key: site.key }),
    api.request('/_svc/quotes', posted({ pages: [{ resource: report.resource }] })),
    api.request('/_svc/observe', posted(report)),
  ]);
  const version = String(first.body.version);
  expect(answers.map(({ headers }) => headers.get('x-svc-site-version'))).toEqual([version, version, version]);

  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { articlePrefixes: ['/news'] } });
  const edited = await api.request('/_svc/enforce-config', { key: site.key, headers: { 'if-none-match': etag } });
  expect(edited.status).toBe(200);
  expect(edited.body.enforcement.articlePrefixes).toEqual(['/news/']);
  expect(edited.body.version).toBe(first.body.version + 1);
});

test('what the owner decides about crawlers and scope is what enforce-config shows in the very next call', async () => {
  const site = await api.site();
  const settings = {
    ...DEFAULT_ENFORCEMENT,
    gateScope: { mode: 'site', excludePrefixes: ['/about'], includeExtensions: ['.PDF'] } as const,
    crawlerPolicy: { allow: ['friendbot'], charge: ['gptbot'], block: ['rudebot'] },
  };
  await setEnforcement(api.deps, { tenantId: site.tenantId, settings });
  const { body } = await api.request('/_svc/enforce-config', { key: site.key });
  expect(body.enforcement).toMatchObject({ ...settings, gateScope: { ...settings.gateScope, includeExtensions: ['.pdf'] } });
  await expect(setEnforcement(api.deps, { tenantId: crypto.randomUUID(), settings })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('enforce-config with a resource names that host alone; foreign and broken ones are refused', async () => {
  const other = await api.site();
  const site = await api.site({ hosts: ['one.enforce.example', 'two.enforce.example'] });
  const ask = (resource: string) =>
    api.request(`/_svc/enforce-config?resource=${encodeURIComponent(resource)}`, { key: site.key });
  expect((await ask('https://two.enforce.example/articles/solo')).body.manifest.resources).toEqual([
    'https://two.enforce.example/articles/*',
  ]);
  expect((await ask(`https://${other.host}/`)).headers.get('x-svc-error-code')).toBe('resource_not_owned');
  expect((await ask('ftp://one.enforce.example/')).status).toBe(400);
});

test('a quote and a verify make a host live in the app, reading the status does not', async () => {
  const site = await api.site({ hosts: ['live.example', 'quiet.example'] });
  expect((await statusOf(site)).hosts.map(({ mode }: { mode: string }) => mode)).toEqual(['idle', 'idle']);
  await api.request('/_svc/quote?slug=free', { key: site.key });
  await api.post('/_svc/verify', site.key, {
    payment: 'x',
    legs: [],
    quote: { price: 1 },
    resource: 'https://quiet.example/articles/solo',
  });
  const status = await statusOf(site);
  expect(status.hosts).toMatchObject([
    { host: 'live.example', mode: 'in_app', basedOn: ['inapp_quote', 'challenge'], nextAction: 'none', lastCheckedAt: null },
    { host: 'quiet.example', mode: 'in_app', basedOn: ['inapp_verify', 'challenge'] },
  ]);
  expect(status.attention).toBe(false);
  api.time.offsetMs += 73 * 3_600_000;
  const later = await statusOf(site);
  expect(later).toMatchObject({ attention: true, hosts: [{ mode: 'idle', nextAction: 'reconnect_sdk' }, { mode: 'idle' }] });
  api.time.offsetMs = 0;
});

test('the last refusal of a revoked key shows for the host it asked about, and asks for a new key', async () => {
  const site = await api.site({ hosts: ['first.rotate.example', 'second.rotate.example'] });
  const { token, keyId } = await mintKey(api.deps, { tenantId: site.tenantId, name: 'old', scopes: ['tenant.read'] });
  await revokeKey(api.deps, { tenantId: site.tenantId, keyId });
  expect((await api.request('/_svc/enforce-config?resource=https://second.rotate.example/', { key: token })).status).toBe(401);
  const { hosts } = await statusOf(site);
  expect(hosts[0].keyRejectedAt).toBeNull();
  expect(hosts[1].keyRejectedAt).toMatch(/^\d{4}-.*\.\d{3}Z$/);
  expect(hosts[1]).toMatchObject({ nextAction: 'rotate_key', attention: true, tracks: { key: 'stale' } });
  expect((await api.request('/_svc/enforce-config?resource=https://elsewhere.example/', { key: token })).status).toBe(401);
  const all = await statusOf(site);
  expect(all.hosts.every(({ keyRejectedAt }: { keyRejectedAt: string | null }) => keyRejectedAt !== null)).toBe(true);
  await api.deps.database.query('update api_key set last_used_at = now() where tenant_id = $1 and revoked_at is null', [
    site.tenantId,
  ]);
  const working = await statusOf(site);
  expect(working.hosts.map(({ nextAction }: { nextAction: string }) => nextAction)).toEqual(['install_code', 'rotate_key']);
  await api.deps.database.query('update tenant_host set created_at = now() where tenant_id = $1', [site.tenantId]);
  expect((await statusOf(site)).hosts[1]).toMatchObject({ keyRejectedAt: null, nextAction: 'install_code' });
});

test('a key refused for the plan alone asks for the plan, and for nothing once the plan is back', async () => {
  const site = await api.site({ hosts: ['plan.example'] });
  await setTenantPlan(api.deps, { tenantId: site.tenantId, plan: 'free' });
  expect((await api.request('/_svc/enforce-config', { key: site.key })).status).toBe(403);
  await api.liveness.flush();
  const gated = await enforcementStatus(api.deps, site.tenantId);
  expect(gated.hosts[0]).toMatchObject({ nextAction: 'upgrade_plan', attention: true });
  expect(gated.hosts[0]?.keyRejectedAtMs).toEqual(expect.any(Number));
  await setTenantPlan(api.deps, { tenantId: site.tenantId, plan: 'studio' });
  expect((await statusOf(site)).hosts[0]).toMatchObject({ nextAction: 'install_code', tracks: { key: 'ok' } });
});

test('a host whose routing was proven is fleet, with the app live it is a conflict, unproven it is unverified', async () => {
  const site = await api.site({ hosts: ['a.fleet.example', 'b.fleet.example'] });
  const { database } = api.deps;
  await database.query("update tenant_host set routing_verified_at = now() where host = 'a.fleet.example'");
  await database.query("update tenant_host set verified_at = null where host = 'b.fleet.example'");
  expect((await statusOf(site)).hosts).toMatchObject([
    { mode: 'fleet', attention: false },
    { mode: 'unverified', nextAction: 'verify_host', attention: true },
  ]);
  await api.request('/_svc/quote?resource=https://a.fleet.example/articles/solo', { key: site.key });
  const conflict = await statusOf(site);
  expect(conflict.hosts[0]).toMatchObject({ mode: 'conflict', nextAction: 'remove_cname', recordToFix: 'a.fleet.example' });
  expect('recordToFix' in conflict.hosts[1]).toBe(false);
});

test('tenants/self shows exactly the row of the specification and the networks that are enabled', async () => {
  const site = await api.site({
    ownerUserId: 'user-1',
    originUrl: 'https://origin.example',
    licenseIssuer: 'https://issuer.example',
  });
  const { status, body } = await api.request('/_svc/tenants/self', { key: site.key });
  expect(status).toBe(200);
  expect(PublisherTenants.parse(body)).toEqual(body);
  expect(Object.keys(body)).toEqual(['tenants', 'chainsEnabled']);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(body.tenants).toEqual([
    {
      id: site.tenantId,
      hosts: [site.host],
      origin_url: 'https://origin.example',
      article_prefixes: ['/articles/'],
      price_usdc: 0.001,
      citation_multiplier: null,
      credits_api_url: null,
      credits_inline: ALPHA_PRICING.creditsInline,
      credits_free_slugs: ['free'],
      license_issuer: 'https://issuer.example',
      plan: 'studio',
      status: 'active',
      owner_user_id: 'user-1',
      created_at: time,
      updated_at: time,
      directory_listed: false,
      wallet_public: false,
      showcase_listed: false,
      proof_public: false,
    },
  ]);
  expect(body.chainsEnabled).toEqual(['eip155:84532']);
});
