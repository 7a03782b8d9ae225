/** Pages read again: what an account bought or holds a licence for, and what a licence opens; never a charge. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { revokeLicence, revokeToken } from '../../modules/licences/use/revoke.ts';
import type { HeldDeps } from '../../modules/storefront/use/pages/held.ts';
import { readHeld } from '../../modules/storefront/use/pages/held.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import type { OutboundRequest } from '../../platform/outbound/outbound.ts';
import { startTestApi } from '../support/api.ts';
import { buyPage } from '../support/boughtPage.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import { addressOf, newAccount } from '../support/payments.ts';

let api: TestApi;
let deps: HeldDeps;
let site: Awaited<ReturnType<TestApi['site']>>;
beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
  deps = { ...api.deps, outbound: { send } };
  await setSiteDiscovery(
    api.deps,
    { actor: { userId: 'owner', via: 'token' }, tenantId: site.tenantId },
    { ...LISTED, relays: true },
  );
});
afterAll(() => api?.stop());

const LISTED = { summary: 'Articles', tags: [] };
const asked: OutboundRequest[] = [];
/** A site that gives its page to any licence; licences are checked by what stands behind `/_svc/license/check`. */
const send = async (request: OutboundRequest) => {
  asked.push(request);
  const headers = { 'content-type': 'text/html' };
  return { ok: true as const, status: 200, headers, body: Buffer.from('<p>The page'), durationMs: 1 };
};
const urlOf = (slug: string): string => `https://${site.host}/articles/${slug}`;
const opens = async (license: string, slug: string) =>
  (await api.post('/_svc/license/check', site.key, { license, resource: urlOf(slug), slug, kind: 'read' })).body.entitled;
const payments = async () => (await api.deps.database.query('select count(*)::int as n from payment'))[0]?.['n'];

const CALLER = '203.0.113.1';

/** A page bought with an account, by a wallet that is not the account's. */
async function spend(accountId: string, slug: string, changes: Parameters<typeof buyPage>[2] = {}) {
  const bought = await buyPage(api, { site, slug, payer: addressOf(newAccount()) }, changes);
  await api.deps.database.query(
    `insert into account_spending (tenant_id, payment_id, account_id, host, resource_key, kind, purpose, amount_micro, at, state)
     values ($1, $2, $3, $4, $5, 'read', 'page', 1000, now(), 'open')`,
    [site.tenantId, bought.paymentId, accountId, site.host, `${site.host}/articles/${slug}`],
  );
  return bought;
}

test('an account reads again what it bought, by a licence anew that lives no longer than the one it paid for', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const { accountId: other } = await createBuyerAccount(api.deps);
  const { jti } = await spend(accountId, 'solo');
  const before = await payments();
  const answer = await readHeld(deps, { url: urlOf('solo'), by: { accountId, address: CALLER } });
  if (!answer.held) throw new Error('it was bought');
  expect(answer.relay).toMatchObject({ relayed: true, page: { text: 'The page', url: urlOf('solo') } });
  expect(asked.at(-1)?.headers?.['authorization']).toBe(`License ${answer.license}`);
  expect(JSON.parse(Buffer.from(answer.license.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({ jti });
  expect([await opens(answer.license, 'solo'), await opens(answer.license, 'trio')]).toEqual([true, false]);
  expect(answer.expiresAtMs).toBeLessThanOrEqual(Date.now() + 600_000);
  for (const by of [
    { accountId: other, address: CALLER },
    { accountId: randomUUID(), address: CALLER },
  ]) {
    expect(await readHeld(deps, { url: urlOf('solo'), by })).toEqual({ held: false });
  }
  expect(await readHeld(deps, { url: urlOf('trio'), by: { accountId, address: CALLER } })).toEqual({ held: false });
  expect(await readHeld(deps, { url: urlOf('solo'), kind: 'citation', by: { accountId, address: CALLER } })).toEqual({
    held: false,
  });
  expect(await payments(), 'nothing was charged').toBe(before);
  await revokeToken(api.deps, { tenantId: site.tenantId, jti: jti ?? '' });
  expect(await readHeld(deps, { url: urlOf('solo'), by: { accountId, address: CALLER } }), 'what was revoked stays so').toEqual({
    held: false,
  });
});

test('what its wallet bought at a gate is the account’s too, for the hours that the owner grants', async () => {
  const wallet = newAccount();
  const { accountId } = await createBuyerAccount(api.deps, { wallet: addressOf(wallet) });
  await buyPage(api, { site, slug: 'trio', payer: wallet.address });
  expect(await readHeld(deps, { url: urlOf('trio'), by: { accountId, address: CALLER } })).toMatchObject({ held: true });
  const later: HeldDeps = { ...deps, clock: () => Date.now() + 3_600_000 };
  expect(await readHeld(later, { url: urlOf('trio'), by: { accountId, address: CALLER } })).toEqual({ held: false });
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { readAgainHours: 2 } });
  const seen: HeldDeps = { ...deps, clock: () => Date.now() + 3_603_000 }; // a site is remembered for two seconds
  expect(await readHeld(seen, { url: urlOf('trio'), by: { accountId, address: CALLER } })).toMatchObject({ held: true });
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { readAgainHours: null } });
});

test('a payment that did not settle opens nothing, and neither does one of another site', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  await spend(accountId, 'solo', { event: null });
  await spend(accountId, 'solo', { mode: 'mock' });
  await spend(accountId, 'solo', { purpose: 'licence', accountId, licenceOfferId: null } as never).catch(() => undefined);
  expect(await readHeld(deps, { url: urlOf('solo'), by: { accountId, address: CALLER } })).toEqual({ held: false });
  await spend(accountId, 'solo');
  const heir = await api.site();
  const elsewhere = `https://${heir.host}/articles/solo`;
  expect(await readHeld(deps, { url: elsewhere, by: { accountId, address: CALLER } })).toEqual({ held: false });
});

test('a licence of the account over many pages opens each of them, until it is revoked', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const licence = await sellLicence(api, accountId, {
    host: site.host,
    scope: ['/articles/*'],
    terms: ['ai-input'],
    periodDays: 1,
    kind: 'read' as const,
  });
  const answer = await readHeld(deps, { url: urlOf('trio'), by: { accountId, address: CALLER } });
  if (!answer.held) throw new Error('it is covered');
  expect([await opens(answer.license, 'trio'), await opens(answer.license, 'solo')]).toEqual([true, false]);
  await revokeLicence(api.deps, { tenantId: site.tenantId, jti: licence.jti });
  expect(await readHeld(deps, { url: urlOf('trio'), by: { accountId, address: CALLER } })).toEqual({ held: false });
});

test('whoever hands a licence in reads its page, and a licence that is bad, of another page or ended is none', async () => {
  const wallet = newAccount();
  const { accountId } = await createBuyerAccount(api.deps, { wallet: addressOf(wallet) });
  await buyPage(api, { site, slug: 'solo', payer: wallet.address });
  const first = await readHeld(deps, { url: urlOf('solo'), by: { accountId, address: CALLER } });
  const licence = first.held ? first.license : '';
  expect(await readHeld(deps, { url: urlOf('solo'), by: { licence, address: '192.0.2.1' } })).toMatchObject({
    held: true,
    license: licence,
    expiresAtMs: null,
    relay: { relayed: true },
  });
  const count = asked.length;
  const flipped = `${licence.slice(0, -3)}${licence.endsWith('AAA') ? 'BBB' : 'AAA'}`;
  for (const [slug, given] of [
    ['trio', licence],
    ['solo', flipped],
    ['solo', ''],
    ['solo', 'a.b.c'],
  ] as const) {
    expect(await readHeld(deps, { url: urlOf(slug), by: { licence: given, address: '192.0.2.1' } })).toEqual({ held: false });
  }
  const later: HeldDeps = { ...deps, clock: () => Date.now() + 3_600_000 };
  expect(await readHeld(later, { url: urlOf('solo'), by: { licence, address: '192.0.2.1' } })).toEqual({ held: false });
  expect(asked.length, 'a site is not asked with a licence that is none').toBe(count);
});
