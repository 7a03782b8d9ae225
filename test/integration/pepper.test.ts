import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { findOauthClient } from '../../modules/identity/store/accounts.ts';
import { countHashesUnder } from '../../modules/identity/store/pepper.ts';
import {
  createAccountClient,
  createBuyerAccount,
  mintBuyerKey,
  revokeBuyerKey,
} from '../../modules/identity/use/accounts/clients.ts';
import { grantClientToken } from '../../modules/identity/use/accounts/oauth.ts';
import { authenticate } from '../../modules/identity/use/authenticate.ts';
import { authenticateHeld, authenticateKey } from '../../modules/identity/use/keys/authenticate.ts';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import type { Rehash } from '../../modules/identity/use/keys/rehash.ts';
import { openRehash } from '../../modules/identity/use/keys/rehash.ts';
import { acceptInvitation, inviteMember, listMembers } from '../../modules/identity/use/members.ts';
import { authenticateOwner } from '../../modules/identity/use/owners/authenticate.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { examineSystem } from '../../modules/operations/use/doctor.ts';
import type { Pepper } from '../../platform/tokens/pepper.ts';
import { hashCredential, pepperOf } from '../../platform/tokens/pepper.ts';
import { startTestApi } from '../support/api.ts';

const newPepper = (): string => randomBytes(32).toString('hex');
const A = newPepper();
const B = newPepper();
const before = pepperOf({ apiKeyPepper: A });
const during = pepperOf({ apiKeyPepper: B, apiKeyPepperPrevious: A });
const after = pepperOf({ apiKeyPepper: B });
const stranger = pepperOf({ apiKeyPepper: newPepper(), apiKeyPepperPrevious: newPepper() });
const unknown = { code: 'unknown_credential' };

let api: Awaited<ReturnType<typeof startTestApi>>;
let rehash: Rehash;
const warnings: unknown[] = [];
const log = { warn: (fields: object) => warnings.push(fields) };
beforeAll(async () => {
  api = await startTestApi();
  rehash = openRehash({ database: api.deps.database, log });
});
afterAll(() => api.stop());

/** What a process with these peppers runs with. */
const process = (pepper: Pepper, mover: Rehash = rehash) => ({ ...api.deps, oidc: null, pepper, rehash: mover });
const useKey = async (pepper: Pepper, token: string, mover?: Rehash): Promise<string> => {
  const { key } = await authenticateKey(process(pepper, mover), token, { scope: 'tenant.read', freshness: 'now' }, null);
  return key.keyId;
};
const newKey = async (pepper = before) => {
  const { tenantId } = await api.site();
  return { tenantId, ...(await mintKey(process(pepper), { tenantId, name: 'k', scopes: ['tenant.read'] })) };
};

test('a key of the pepper before works during a rotation, and from then on under the present pepper alone', async () => {
  const { token, keyId } = await newKey();
  await expect(useKey(after, token)).rejects.toMatchObject(unknown);
  expect(await useKey(during, token)).toBe(keyId);
  await rehash.settled();
  expect(await useKey(after, token)).toBe(keyId);
  await expect(useKey(before, token)).rejects.toMatchObject(unknown);
  expect(warnings).toEqual([]);
});

test('a key that nobody used in between is unknown under the present pepper alone, and any key is under strange peppers', async () => {
  const unused = await newKey();
  const used = await newKey();
  await useKey(during, used.token);
  await rehash.settled();
  await expect(useKey(after, unused.token)).rejects.toMatchObject(unknown);
  for (const { token } of [unused, used]) await expect(useKey(stranger, token)).rejects.toMatchObject(unknown);
});

test('a key made during a rotation stands under the present pepper', async () => {
  const { token, keyId } = await newKey(during);
  expect(await useKey(after, token)).toBe(keyId);
});

test('a revoked key stays revoked, before and after it is moved', async () => {
  const { token, keyId, tenantId } = await newKey();
  await revokeKey(api.deps, { tenantId, keyId });
  for (const pepper of [during, during, after]) {
    await expect(useKey(pepper, token)).rejects.toMatchObject(unknown);
    await rehash.settled();
  }
});

test('processes that move the same keys at once let every call in, and leave each key under the present pepper', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => newKey()));
  const movers = [1, 2].map(() => openRehash({ database: api.deps.database, log }));
  const calls = keys.flatMap(({ token, keyId }) =>
    Array.from({ length: 6 }, async (_, n) => expect(await useKey(during, token, movers[n % 2])).toBe(keyId)),
  );
  await Promise.all(calls);
  for (const mover of movers) await mover.settled();
  for (const { token, keyId } of keys) expect(await useKey(after, token)).toBe(keyId);
  expect(warnings).toEqual([]);
});

test('while some processes have the new pepper first and some the old, a key works with each, whichever moved it last', async () => {
  const prepared = pepperOf({ apiKeyPepper: A, apiKeyPepperPrevious: B });
  const { token, keyId } = await newKey();
  for (const pepper of [prepared, during, prepared, during]) {
    expect(await useKey(pepper, token)).toBe(keyId);
    await rehash.settled();
  }
  expect(await useKey(after, token)).toBe(keyId);
});

test('a key in memory stays known while it is moved, and is moved by a quote too', async () => {
  const { token, keyId } = await newKey();
  const { database, clock } = api.deps;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const common = { database, directUrl: api.urls.appUrl, networkIds: ['n'], priceFloorMicro: 1n, clock, log, rehash };
  const snapshots = await openSnapshots({ ...common, pollMs: 20 });
  try {
    const deps = { ...process(during), snapshots };
    await authenticateKey(deps, token, { scope: 'tenant.read', freshness: 'snapshot' }, null);
    await rehash.settled();
    const hash = hashCredential(during, token);
    expect(snapshots.heldKey(hash)?.keyId).toBe(keyId);
    expect(authenticateHeld(deps, hash, 'tenant.read')?.key.keyId).toBe(keyId);
  } finally {
    await snapshots.close();
  }
  expect(await useKey(after, token)).toBe(keyId);
});

test('a hash that cannot be moved is logged without a secret, and the call is let in all the same', async () => {
  const { token, keyId } = await newKey();
  const told: object[] = [];
  const broken = await openDatabase({ url: api.urls.appUrl, poolSize: 1 });
  await broken.close();
  const mover = openRehash({ database: broken, log: { warn: (fields: object) => told.push(fields) } });
  expect(await useKey(during, token, mover)).toBe(keyId);
  await mover.settled();
  expect(told).toEqual([{ error: expect.any(String), table: 'api_key_hash' }]);
  for (const secret of [token, A, B, hashCredential(before, token).current.toString('hex')]) {
    expect(JSON.stringify(told)).not.toContain(secret);
  }
  expect(await useKey(before, token)).toBe(keyId);
});

test('buyer keys, client secrets and owner tokens are moved when they are used, and can be revoked before', async () => {
  const { accountId, token: buyerKey } = await createBuyerAccount(process(before));
  const { token: revoked } = await mintBuyerKey(process(before), accountId);
  const { clientId, clientSecret } = await createAccountClient(process(before), { accountId });
  const { tenantId } = await api.site();
  const { token: ownerToken } = await createOwnerToken(process(before), { tenantId, userId: 'ada' });
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const form = new Map([['grant_type', 'client_credentials']]);

  const enter = async (pepper: Pepper): Promise<unknown[]> => {
    const attempts = [
      authenticate(process(pepper), { bearer: buyerKey }, { account: true }),
      authenticateOwner(process(pepper), ownerToken),
      grantClientToken(process(pepper), { authorization, form }).then(({ kind }) => (kind === 'token' ? kind : Promise.reject())),
    ];
    const outcomes = (await Promise.allSettled(attempts)).map(({ status }) => status);
    await rehash.settled();
    return outcomes;
  };
  expect(await enter(after)).toEqual(['rejected', 'rejected', 'rejected']);
  await revokeBuyerKey(process(during), revoked);
  for (const pepper of [during, after]) expect(await enter(pepper)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  expect((await findOauthClient(api.deps.database, clientId))?.secretHash).toEqual(
    hashCredential(after, String(clientSecret)).current,
  );
  const again = authenticate(process(during), { bearer: revoked }, { account: true });
  await expect(again).rejects.toMatchObject(unknown);
});

test('an invitation of the pepper before is shown and accepted during a rotation, and a new one after it', async () => {
  const { tenantId } = await api.site();
  const invite = (pepper: Pepper, authorId: string) =>
    inviteMember(process(pepper), { tenantId, authorId, email: `${authorId}@example.com` });
  const shown = async (pepper: Pepper) =>
    (await listMembers(process(pepper), tenantId)).authors.map(({ inviteToken }) => inviteToken);
  const old = await invite(before, 'ann');
  const fresh = await invite(during, 'bob');
  expect(await shown(during)).toEqual([old.inviteToken, fresh.inviteToken]);
  expect(await shown(after)).toEqual([null, fresh.inviteToken]);
  const accept = (pepper: Pepper, inviteToken: string) =>
    acceptInvitation(process(pepper), { inviteToken, userId: randomUUID() });
  await expect(accept(after, old.inviteToken)).rejects.toMatchObject({ code: 'not_found' });
  expect(await accept(during, old.inviteToken)).toEqual({ tenantId, authorId: 'ann' });
  await expect(accept(during, old.inviteToken)).rejects.toMatchObject({ code: 'not_found' });
  expect(await accept(after, fresh.inviteToken)).toEqual({ tenantId, authorId: 'bob' });
});

test('the doctor says how many active credentials are left under the pepper before, and when there is none', async () => {
  const { database } = api.deps;
  const [old, next] = [newPepper(), newPepper()];
  const rotating = pepperOf({ apiKeyPepper: next, apiKeyPepperPrevious: old });
  const networks = { ids: [], list: [], get: () => api.deps.networks.first };
  // biome-ignore lint/suspicious/noExplicitAny: without a network the doctor looks at the database alone
  const settlement: any = { database, networks, now: Date.now };
  const doctor = async (pepper: Pepper) =>
    (await examineSystem({ settlement, temporal: null, licenceKeys: null, secretBox: null, pepper, version: '0.0.0' })).filter(
      ({ check }) => check === 'pepper',
    );
  await database.query('delete from api_key_hash');
  await database.query('delete from owner_token');
  await database.query('delete from oauth_client');
  await database.query('delete from buyer_key');
  const key = await newKey(pepperOf({ apiKeyPepper: old }));
  const gone = await newKey(pepperOf({ apiKeyPepper: old }));
  await revokeKey(api.deps, gone);
  const unnamed = await newKey(rotating);
  await database.query('update api_key_hash set pepper_id = null where key_id = $1', [unnamed.keyId]);

  expect(await doctor(pepperOf({ apiKeyPepper: next }))).toEqual([]);
  const [some] = await doctor(rotating);
  expect(some).toMatchObject({ state: 'warn', found: expect.stringContaining('2 publisher keys') });
  await useKey(rotating, key.token);
  await revokeKey(api.deps, unnamed);
  await rehash.settled();
  expect((await doctor(rotating)).map(({ found }) => found)).toEqual(['no active credential is left under the previous one']);
  expect(await countHashesUnder(database, String(rotating.previousId))).toEqual([]);
});
