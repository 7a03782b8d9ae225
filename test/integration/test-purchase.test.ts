import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { setPricing, setTenantPlan, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { limits } from '../../sandbox/limits.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { askGraph } from '../support/graphql.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { quoteOf } from '../support/verify.ts';

let web: SandboxWeb;
let service: TestService;
beforeAll(async () => {
  web = await startSandboxWeb(0);
  const environment = { TEST_KEYS_ENABLED: 'true', OUTBOUND_SANDBOX_WEB: web.url, ...limits({ hostChecksPerHour: 12 }) };
  service = await startTestService({ environment, worker: false });
});
afterAll(async () => {
  await service?.stop();
  await web?.close();
});

let sites = 0;
/** A site of the sandbox's web with a token of its owner; the owner of each has the caps for himself. */
const newSite = async () => {
  sites += 1;
  const host = `s${sites}.sandbox.example`;
  const site = await service.site({ hosts: [host] });
  const deps = { database: service.database, pepper: pepperOf(service.secrets) };
  const { token } = await createOwnerToken(deps, { tenantId: site.tenantId, userId: 'you' });
  return { ...site, token };
};
const buy = async (token: string, slug: string, more: object = {}) => {
  const fields = '__typename ... on TestPurchasePayload { passed resource priceMicro steps { step passed says } }';
  const query = `mutation ($input: TestPurchaseInput!) { it: testPurchase(input: $input) { ${fields} ... on Refusal { code message } } }`;
  const answer = await askGraph(`${service.baseUrl}/_svc/graphql`, token, query, { input: { slug, ...more } });
  return { ...answer, it: answer.data?.it };
};
const stepOf = ({ it }: { it: { steps: { step: string }[] } }, step: string) => it.steps.find((one) => one.step === step);
const setPage = async (host: string, path: string, page: object): Promise<void> => {
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify({ host, path, ...page }) });
};

test('a page whose site offers it at its price is sold in test mode, step by step, and nothing of it is in the ledger', async () => {
  const site = await newSite();
  const quoted = await quoteOf(service, site, 'trio');
  const { network, payTo, price } = quoted as unknown as { network: string; payTo: string; price: number };
  const header = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [{ network, payTo, amount: String(price) }] })).toString(
    'base64',
  );
  await setPage(site.host, '/articles/trio', { status: 402, headers: { 'payment-required': header } });
  const answer = await buy(site.token, 'trio');
  expect(answer.errors).toEqual([]);
  expect(answer.it).toMatchObject({ passed: true, resource: `https://${site.host}/articles/trio`, priceMicro: '1000' });
  expect(answer.it.steps.map(({ step, passed }: { step: string; passed: boolean }) => [step, passed])).toEqual(
    ['ACCESS', 'PRICE', 'SIGN', 'SETTLE', 'LICENCE', 'SITE'].map((step) => [step, true]),
  );
  const count = async (table: string) =>
    (await service.database.query(`select count(*)::int as n from ${table} where tenant_id = $1`, [site.tenantId]))[0]?.['n'];
  for (const table of ['crossing', 'leg', 'observation', 'api_key']) {
    expect([table, await count(table)]).toEqual([table, table === 'api_key' ? 1 : 0]);
  }
  expect(await service.database.query('select mode, state from payment where tenant_id = $1', [site.tenantId])).toEqual([
    { mode: 'mock', state: 'settled' },
  ]);
  const [entry] = await service.database.query(`select action, target, after from audit_log where tenant_id = $1`, [
    site.tenantId,
  ]);
  expect(entry).toEqual({ action: 'page.test', target: 'trio', after: { passed: true, failed: null } });
});

test('whatever a hostile host answers is a sentence of ours, in bounded time, and follows nowhere', async () => {
  const site = await newSite();
  const evil = '<img src=x onerror=alert(1)>';
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ status: 302, headers: { location: 'http://169.254.169.254/' } }, /elsewhere \(302\)/],
    [{ status: 402, headers: { 'payment-required': 'x'.repeat(12_000) } }, /offer that can be paid/],
    [{ status: 402, headers: { 'payment-required': Buffer.from(evil).toString('base64') } }, /offer that can be paid/],
    [{ status: 402, headers: { 'payment-required': 'x'.repeat(40_000) } }, /no web page|does not answer|not be asked/],
    [{ status: 200, body: evil.repeat(60_000) }, /free/],
  ];
  for (const [page, says] of cases) {
    await setPage(site.host, '/articles/solo', page);
    const answer = await buy(site.token, 'solo');
    expect(stepOf(answer, 'SITE')).toEqual({ step: 'SITE', passed: false, says: expect.stringMatching(says) });
    expect(answer.text).not.toContain('onerror');
    expect(answer.it.passed).toBe(false);
  }
});

test("only a proven host of the site is asked: another owner's, an address, and a host of no site are not, and nobody plays with another's site", async () => {
  const [site, other] = [await newSite(), await newSite()];
  for (const host of [other.host, '127.0.0.1', 'localhost', `${site.host}:8080`, `x@${site.host}`, 'nobody.example']) {
    const answer = await buy(site.token, 'solo', { host });
    expect([host, answer.errors, answer.it?.passed ?? false]).toEqual([host, [], false]);
    expect([host, stepOf(answer, 'PRICE')]).toMatchObject([host, { passed: false }]);
  }
  expect((await buy(site.token, 'solo', { tenantId: other.tenantId })).it).toMatchObject({ __typename: 'NotFound' });
  expect((await buy(site.key, 'solo')).errors).toMatchObject([{ extensions: { reason: 'scope_missing' } }]);
});

test('why a page is not sold is said before anything is signed: free, a price that tests refuse, a plan, no such page', async () => {
  const site = await newSite();
  const { tenantId } = site;
  expect(stepOf(await buy(site.token, 'free'), 'PRICE')).toMatchObject({ says: expect.stringMatching(/free list/) });
  expect(stepOf(await buy(site.token, 'nobody-wrote-it'), 'PRICE')).toMatchObject({
    says: expect.stringMatching(/no author is named/),
  });
  await setPricing(service, { tenantId, pricing: { priceUsdc: '0.005001' } });
  const refused = await buy(site.token, 'solo');
  expect(stepOf(refused, 'PRICE')).toMatchObject({ says: expect.stringMatching(/001 to 006/) });
  expect(stepOf(refused, 'SIGN')).toEqual({ step: 'SIGN', passed: null, says: 'not tried' });
  await setTenantPlan(service, { tenantId, plan: 'starter' });
  expect(stepOf(await buy(site.token, 'solo'), 'ACCESS')).toMatchObject({ passed: false, says: expect.stringMatching(/Studio/) });
  await setTenantStatus(service, { tenantId, status: 'suspended' });
  expect((await buy(site.token, 'solo')).errors).toMatchObject([{ extensions: { reason: 'site_suspended' } }]);
});

test('a site plays as many purchases an hour as it may have hosts checked, over all processes', async () => {
  const site = await newSite();
  await setPricing(service, { tenantId: site.tenantId, pricing: { priceUsdc: '0' } });
  const kinds: string[] = [];
  for (let calls = 0; calls < 14; calls += 1) kinds.push((await buy(site.token, 'solo')).it.__typename);
  expect(kinds.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 'TestPurchasePayload'));
  expect(kinds).toContain('Throttled'); // one more is allowed every five minutes
});
