import { createPublicKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { OwnerDeps } from '../../modules/identity/use/owners/authenticate.ts';
import { authenticateOwner, isOwnerCredential } from '../../modules/identity/use/owners/authenticate.ts';
import { adoptOwners } from '../../modules/identity/use/owners/issuer.ts';
import { createOwnerToken, setSiteOwner } from '../../modules/identity/use/owners/tokens.ts';
import { markOwnerTokenRevoked } from '../../modules/tenants/store/owners.ts';
import { createTenant, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createOidcVerifier } from '../../platform/tokens/oidc.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import type { TestIssuer, TokenChanges } from '../support/issuer.ts';
import { forgedToken, hs256, startIssuer } from '../support/issuer.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let urls: TestDatabase;
let database: Database;
let outbound: Outbound;
let issuer: TestIssuer;
let deps: OwnerDeps;
const time = { offsetMs: 0 };
const clock = (): number => Date.now() + time.offsetMs;
const pepper = pepperOf({ apiKeyPepper: randomBytes(32).toString('hex') });
const USER = 'auth0|ada';
let tenantId: string;

const site = async (ownerUserId?: string): Promise<string> => {
  const host = `${randomBytes(6).toString('hex')}.example`;
  const owner = ownerUserId === undefined ? {} : { ownerUserId };
  return (await createTenant({ database }, { hosts: [host], ...owner, pricing: { priceUsdc: '0.01' } })).tenantId;
};

beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl });
  outbound = createOutbound({ allowLoopback: true });
  tenantId = await site(USER);
});
afterAll(async () => {
  await issuer.stop();
  await outbound.close();
  await database.close();
  await urls.drop();
});
beforeEach(async () => {
  await issuer?.stop();
  time.offsetMs = 0;
  await database.query('update tenant set owner_issuer = null');
  issuer = await startIssuer(clock);
  const oidc = createOidcVerifier({ issuer: issuer.url, audience: issuer.audience, outbound, clock });
  deps = { database, pepper, clock, oidc };
});

const enter = (bearer: string) => authenticateOwner(deps, bearer);
const refused = { code: 'unknown_credential', message: "the owner's token is not recognised" };

test('a token of the identity provider lets its subject into every open site it owns', async () => {
  const other = await site('somebody-with-two');
  const second = await site('somebody-with-two');
  expect(await enter(await issuer.token(USER))).toMatchObject({ userId: USER, via: 'oidc', tenantIds: [tenantId] });
  expect((await enter(await issuer.token('somebody-with-two'))).tenantIds.toSorted()).toEqual([other, second].toSorted());
  await setTenantStatus({ database }, { tenantId: other, status: 'closed' });
  expect((await enter(await issuer.token('somebody-with-two'))).tenantIds).toEqual([second]);
});

test.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('a token signed with %s is proven', async (algorithm) => {
  const key = await issuer.addKey(algorithm);
  expect(await enter(await issuer.token(USER, { key }))).toMatchObject({ userId: USER });
});

test('who owns no site is not let in, with the same sentence as a forgery', async () => {
  await expect(enter(await issuer.token('nobody'))).rejects.toMatchObject(refused);
});

const now = (): number => Math.floor(clock() / 1000);
const BAD: Record<string, () => TokenChanges> = {
  'another audience': () => ({ claims: { aud: 'another-service' } }),
  'no audience': () => ({ claims: { aud: undefined } }),
  'another issuer': () => ({ claims: { iss: 'https://evil.example' } }),
  'the issuer with a slash more': () => ({ claims: { iss: `${issuer.url}/` } }),
  'an end that is now': () => ({ claims: { exp: now() } }),
  'an end long past': () => ({ claims: { exp: now() - 3_600 } }),
  'no end': () => ({ claims: { exp: undefined } }),
  'a beginning still to come': () => ({ claims: { nbf: now() + 60 } }),
  'no subject': () => ({ claims: { sub: undefined } }),
  'an empty subject': () => ({ claims: { sub: '' } }),
  'a subject that is no text': () => ({ claims: { sub: 7 as unknown } }),
  'a logout token': () => ({ header: { typ: 'logout+jwt' } }),
  'a jku header': () => ({ header: { jku: 'https://evil.example/keys' } }),
  'an x5u header': () => ({ header: { x5u: 'https://evil.example/cert' } }),
  'a jwk header': () => ({ header: { jwk: { kty: 'EC' } } }),
  'no kid': () => ({ header: { kid: undefined } }),
};

test.each(Object.keys(BAD))('a token with %s is refused', async (name) => {
  const token = await issuer.token(USER, (BAD[name] as () => TokenChanges)());
  await expect(enter(token)).rejects.toMatchObject(refused);
});

test('tokens that nobody signed, or that a public key signed as a secret, are refused', async () => {
  const key = await issuer.addKey('RS256');
  const claims = { iss: issuer.url, aud: issuer.audience, sub: USER, exp: now() + 300 };
  const pem = createPublicKey({ key: key.publicJwk as Record<string, unknown>, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  }) as string;
  const good = await issuer.token(USER, { key });
  const [header, , signature] = good.split('.') as [string, string, string];
  const otherClaims = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url');
  const forgeries = [
    forgedToken({ alg: 'none' }, claims),
    forgedToken({ alg: 'none', kid: key.kid, typ: 'JWT' }, claims),
    forgedToken({ alg: 'None', kid: key.kid, typ: 'JWT' }, claims),
    forgedToken({ alg: 'HS256', kid: key.kid, typ: 'JWT' }, claims, hs256(pem)),
    forgedToken({ alg: 'HS256', kid: key.kid, typ: 'JWT' }, claims, hs256(JSON.stringify(key.publicJwk))),
    forgedToken({ alg: 'RS256', kid: key.kid, typ: 'JWT' }, claims, hs256(pem)),
    `${header}.${otherClaims}.${signature}`,
    `${good.slice(0, -6)}AAAAAA`,
    `${good}.${signature}`,
    `${'a'.repeat(9_000)}.b.c`,
    'not.a.token',
    '..',
  ];
  for (const forgery of forgeries) await expect(enter(forgery), forgery.slice(0, 40)).rejects.toMatchObject(refused);
  expect(await enter(good)).toMatchObject({ userId: USER });
});

test('a secret key that a careless provider publishes proves nothing', async () => {
  const secret = randomBytes(32).toString('base64url');
  issuer.faults.extraKeys.push({ kty: 'oct', kid: 'shared', alg: 'HS256', k: secret });
  const claims = { iss: issuer.url, aud: issuer.audience, sub: USER, exp: now() + 300 };
  const token = forgedToken({ alg: 'HS256', kid: 'shared', typ: 'JWT' }, claims, hs256(secret));
  await expect(enter(token)).rejects.toMatchObject(refused);
});

test('keys are kept, and a kid nobody knows has them fetched again at most every 30 seconds', async () => {
  await enter(await issuer.token(USER));
  await enter(await issuer.token(USER));
  expect(issuer.fetches()).toBe(1);
  const next = await issuer.addKey('EdDSA', true);
  await expect(enter(await issuer.token(USER, { key: next }))).rejects.toMatchObject(refused);
  const unknown = await issuer.addKey('EdDSA', false);
  for (let turn = 0; turn < 5; turn++) await enter(await issuer.token(USER, { key: unknown })).catch(() => undefined);
  expect(issuer.fetches()).toBe(1);
  time.offsetMs = 31_000;
  const both = [1, 2, 3].map(async () => enter(await issuer.token(USER, { key: next })));
  for (const owner of await Promise.all(both)) expect(owner.userId).toBe(USER);
  expect(issuer.fetches()).toBe(2);
});

test('while the provider is away its known keys go on for a day; without any, sign-in is unavailable, not refused', async () => {
  issuer.faults.isDown = true;
  await expect(enter(await issuer.token(USER))).rejects.toMatchObject({ code: 'identity_unavailable' });
  issuer.faults.isDown = false;
  time.offsetMs = 31_000;
  await enter(await issuer.token(USER));
  issuer.faults.isDown = true;
  time.offsetMs = 20 * 3_600_000;
  expect(await enter(await issuer.token(USER))).toMatchObject({ userId: USER });
  time.offsetMs = 25 * 3_600_000;
  await expect(enter(await issuer.token(USER))).rejects.toMatchObject({ code: 'identity_unavailable' });
});

test('a discovery document of another issuer, or keys at a private address, are not believed', async () => {
  issuer.faults.issuer = 'https://evil.example';
  await expect(enter(await issuer.token(USER))).rejects.toMatchObject({ code: 'identity_unavailable' });
  issuer.faults.issuer = null;
  issuer.faults.jwksUri = 'http://169.254.169.254/latest/keys';
  time.offsetMs = 31_000;
  await expect(enter(await issuer.token(USER))).rejects.toMatchObject({ code: 'identity_unavailable' });
});

test('a token of bin/admin opens its one site until it ends or is revoked; a site that is closed opens for nobody', async () => {
  const { token, tokenId } = await createOwnerToken({ database, pepper }, { tenantId, userId: 'ada' });
  expect(await enter(token)).toMatchObject({ userId: 'ada', via: 'token', tenantIds: [tenantId] });
  const short = await createOwnerToken({ database, pepper }, { tenantId, userId: 'ada', expiresAtMs: clock() + 1_000 });
  time.offsetMs = 1_001;
  await expect(enter(short.token)).rejects.toMatchObject(refused);
  await markOwnerTokenRevoked(database, tenantId, tokenId, new Date());
  await expect(enter(token)).rejects.toMatchObject(refused);
  await expect(enter(`${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`)).rejects.toMatchObject(refused);

  const closing = await site();
  const closed = await createOwnerToken({ database, pepper }, { tenantId: closing, userId: 'ada' });
  await setTenantStatus({ database }, { tenantId: closing, status: 'suspended' });
  expect(await enter(closed.token)).toMatchObject({ tenantIds: [closing] });
  await setTenantStatus({ database }, { tenantId: closing, status: 'closed' });
  await expect(enter(closed.token)).rejects.toMatchObject(refused);
});

test('without a provider a JWT is refused', async () => {
  await expect(authenticateOwner({ ...deps, oidc: null }, await issuer.token(USER))).rejects.toMatchObject(refused);
  expect([isOwnerCredential('a.b.c'), isOwnerCredential('svc_owner_x'), isOwnerCredential('svc_live_x')]).toEqual([
    true,
    true,
    false,
  ]);
});

/** What an API that runs with another issuer lets in. */
async function atAnotherIssuer() {
  const another = await startIssuer(clock);
  const oidc = createOidcVerifier({ issuer: another.url, audience: another.audience, outbound, clock });
  const enterThere = async (user: string) => (await authenticateOwner({ ...deps, oidc }, await another.token(user))).tenantIds;
  return { url: another.url, enter: enterThere, stop: () => another.stop() };
}
const byOperator = (of: string) => ({ tenantId: of, actor: { userId: 'operator', via: 'operator' } as const });
const log = { info: () => undefined, warn: () => undefined };

test('the same subject of another issuer is somebody else: a site belongs for good to the issuer that saw its owner first', async () => {
  const another = await atAnotherIssuer();
  const unseen = await site('unseen');
  expect((await enter(await issuer.token(USER))).tenantIds).toEqual([tenantId]);
  await expect(another.enter(USER)).rejects.toMatchObject(refused);
  expect((await enter(await issuer.token(USER))).tenantIds).toEqual([tenantId]);
  // A site that the operator gives away belongs to the issuer he names, and nobody's of the one before.
  await setSiteOwner({ database }, byOperator(tenantId), { userId: USER, issuer: another.url });
  expect(await another.enter(USER)).toEqual([tenantId]);
  await expect(enter(await issuer.token(USER))).rejects.toMatchObject(refused);
  // Given without an issuer, it is for whom is seen next.
  await setSiteOwner({ database }, byOperator(unseen), { userId: 'unseen', issuer: null });
  expect(await another.enter('unseen')).toEqual([unseen]);
  await expect(enter(await issuer.token('unseen'))).rejects.toMatchObject(refused);
  await another.stop();
});

test('an API that starts takes the owners of before for its issuer, also those who have not signed in; the next issuer gets none', async () => {
  const another = await atAnotherIssuer();
  const quiet = await site('quiet');
  await adoptOwners({ database, log }, undefined);
  await adoptOwners({ database, log }, issuer.url);
  await adoptOwners({ database, log }, another.url);
  await expect(another.enter('quiet')).rejects.toMatchObject(refused);
  expect((await enter(await issuer.token('quiet'))).tenantIds).toEqual([quiet]);
  await another.stop();
});

test('of two issuers that see an owner for the first time at once, one gets the site', async () => {
  const another = await atAnotherIssuer();
  for (let round = 0; round < 5; round += 1) {
    const user = `twice-${round}`;
    const owned = await site(user);
    const results = await Promise.allSettled([issuer.token(user).then((token) => enter(token)), another.enter(user)]);
    expect(results.map(({ status }) => status).sort(), owned).toEqual(['fulfilled', 'rejected']);
  }
  await another.stop();
});
