import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignUp } from '../../modules/identity/use/owners/authenticate.ts';
import { authenticateOwner } from '../../modules/identity/use/owners/authenticate.ts';
import { createOwnerToken, revokeOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { createOwnSite } from '../../modules/operations/use/createOwnSite.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { createTenant, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createOidcVerifier } from '../../platform/tokens/oidc.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import type { TestIssuer } from '../support/issuer.ts';
import { startIssuer } from '../support/issuer.ts';
import { startOwnerWorld } from '../support/owner-world.ts';

const outbound = createOutbound({ allowLoopback: true });
const limits: { -readonly [Name in keyof SignUp]: SignUp[Name] } = { plan: 'studio', sitesOfUser: 3, sitesPerDay: 1_000 };
let issuer: TestIssuer;
let stage: Awaited<ReturnType<typeof startOwnerWorld>>;
beforeAll(async () => {
  issuer = await startIssuer();
  const oidc = createOidcVerifier({ issuer: issuer.url, audience: issuer.audience, outbound, clock: Date.now });
  stage = await startOwnerWorld({ oidc, signUp: limits });
});
afterAll(async () => {
  await stage.stop();
  await issuer.stop();
  await outbound.close();
});

const newHost = (): string => `${randomBytes(6).toString('hex')}.example`;
const newUser = (): string => `user-${randomUUID()}`;
const create = async (bearer: string, host: string, method = 'META_TAG') =>
  await stage.mutate(bearer, 'createSite', { host, method }, 'tenantId host method present { name value }');
const sitesOf = async (bearer: string): Promise<readonly string[]> => {
  const { result } = await stage.mutate(bearer, 'createSite', { host: 'localhost' }); // refused, after the bearer is let in
  expect(result.code).toBe('invalid_parameter');

  return (await authenticateOwner(stage.deps, bearer)).tenantIds;
};

test('somebody whom the provider knows and who owns nothing begins a site: no host, no price, one open challenge, two entries in the log', async () => {
  const [user, host] = [newUser(), newHost()];
  const bearer = await issuer.token(user);
  const { result, errors } = await create(bearer, host.toUpperCase());
  expect(errors).toEqual([]);
  expect(result).toMatchObject({ __typename: 'CreateSitePayload', host, method: 'META_TAG' });
  expect(result.present.find(({ name }: { name: string }) => name === 'html').value).toMatch(
    /^<meta name="svc-site-verification"/,
  );
  const { tenantId } = result;
  expect(await sitesOf(bearer)).toEqual([tenantId]);
  const [row] = await stage.database.query(
    `select status, plan, price_usdc::text as price, owner_user_id as "user", owner_issuer as issuer,
       (select count(*)::int from tenant_host where tenant_host.tenant_id = tenant.tenant_id) as hosts from tenant where tenant_id = $1`,
    [tenantId],
  );
  expect(row).toEqual({ status: 'active', plan: 'studio', price: '0.000000', user, issuer: issuer.url, hosts: 0 });
  const entries = await listAuditEntries(stage.database, tenantId);
  expect(entries.map(({ action }) => action).toSorted()).toEqual(['host.open', 'site.create']);
  expect(JSON.stringify(entries)).toContain(user);
});

test('the same host again is the same site, and other owners may try for it too: nobody has it before it is proven', async () => {
  const host = newHost();
  const [mine, others] = [await issuer.token(newUser()), await issuer.token(newUser())];
  const first = (await create(mine, host)).result.tenantId;
  expect((await create(mine, host, 'DNS_TXT')).result).toMatchObject({ tenantId: first, method: 'DNS_TXT' });
  const second = (await create(others, host)).result.tenantId;
  expect(second).not.toBe(first);
  expect(await sitesOf(mine)).toEqual([first]);
  expect(await stage.mutate(others, 'setPrices', { tenantId: first, priceUsdc: '0.5' })).toMatchObject({
    result: { __typename: 'NotFound' },
  });
});

test('a host that a site has proven, a name of this service, a public suffix and a name of a network begin nothing', async () => {
  const { database } = stage;
  const taken = newHost();
  await createTenant({ database }, { hosts: [taken], pricing: { priceUsdc: '0.01' } });
  const bearer = await issuer.token(newUser());
  expect((await create(bearer, taken)).result).toMatchObject({
    __typename: 'Conflict',
    message: expect.stringMatching(/another/),
  });
  for (const host of ['svc.example', 'co.uk', 'localhost', '127.0.0.1', 'a b.example', '']) {
    expect([host, (await create(bearer, host)).result]).toMatchObject([host, { __typename: 'InvalidInput' }]);
  }
  expect(await sitesOf(bearer)).toEqual([]);
});

test('an owner has as many sites as he may, closed ones counted, however many calls come at once', async () => {
  const bearer = await issuer.token(newUser());
  const answers = await Promise.all(Array.from({ length: 6 }, () => create(bearer, newHost())));
  const made = answers.flatMap(({ result }) => result.tenantId ?? []);
  expect(made).toHaveLength(3);
  expect(answers.filter(({ result }) => result.__typename === 'Conflict')).toHaveLength(3);
  await setTenantStatus(stage.deps, { tenantId: made[0] as string, status: 'closed' });
  expect((await create(bearer, newHost())).result).toMatchObject({
    __typename: 'Conflict',
    message: expect.stringMatching(/3 sites/),
  });
});

test('all owners together add as many sites a day as the operator allows; an owner of a suspended site adds none', async () => {
  const bearer = await issuer.token(newUser());
  const [{ count }] = (await stage.database.query(
    `select count(*)::int from tenant where owner_issuer is not null and created_at > now() - interval '1 day'`,
  )) as [{ count: number }];
  limits.sitesPerDay = count + 1;
  const { tenantId } = (await create(bearer, newHost())).result;
  expect((await create(await issuer.token(newUser()), newHost())).result).toMatchObject({ __typename: 'Throttled' });
  limits.sitesPerDay = 1_000;
  await setTenantStatus(stage.deps, { tenantId, status: 'suspended' });
  expect((await create(bearer, newHost())).errors).toMatchObject([{ code: 'site_suspended' }]);
});

test("what is added with a site's token is that user's of that site: not of the same name at another site, nor at the provider, and gone with the token", async () => {
  const { database, deps } = stage;
  const userId = newUser();
  const [site, elsewhere] = [await stage.world(), await stage.world()];
  const tokenOf = async (tenantId: string) => await createOwnerToken(deps, { tenantId, userId });
  const [mine, second, namesake] = [
    await tokenOf(site.tenantId),
    await tokenOf(site.tenantId),
    await tokenOf(elsewhere.tenantId),
  ];
  const { tenantId } = (await create(mine.token, newHost())).result;
  expect(await sitesOf(mine.token)).toEqual([site.tenantId, tenantId]);
  expect(await sitesOf(second.token)).toEqual([site.tenantId, tenantId]);
  expect(await sitesOf(namesake.token)).toEqual([elsewhere.tenantId]);
  expect(await sitesOf(await issuer.token(userId))).toEqual([]);
  const call = { actor: operatorNamed('op'), tenantId: site.tenantId };
  for (const { tokenId } of [mine, second]) await revokeOwnerToken({ database }, call, tokenId);
  await expect(sitesOf(mine.token)).rejects.toMatchObject({ code: 'unknown_credential' });
});

test('a key adds no site; and where operators alone add them, an owner is refused and who owns nothing is not let in', async () => {
  const { key, ownerToken } = await stage.world();
  expect((await create(key, newHost())).errors).toMatchObject([{ code: 'scope_missing' }]);
  const closed = { ...stage.deps, signUp: null };
  const owner = await authenticateOwner(closed, ownerToken);
  const asked = createOwnSite(closed, owner, { host: newHost(), method: 'well-known' });
  await expect(asked).rejects.toMatchObject({ code: 'scope_missing', message: expect.stringMatching(/operator/) });
  await expect(authenticateOwner(closed, await issuer.token(newUser()))).rejects.toMatchObject({ code: 'unknown_credential' });
  expect((await create(ownerToken, newHost())).result.__typename).toBe('CreateSitePayload');
});
