import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReReadFacts } from '../../modules/kernel/licence/licence.ts';
import { openKeyring, refreshKeyring } from '../../modules/licences/use/keyring.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { newSigningKey, startTestApi, WALLETS } from '../support/api.ts';
import { reReadFacts } from '../support/reReads.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: { tenantId: string; host: string; key: string };
const signingKey = newSigningKey();
beforeAll(async () => {
  api = await startTestApi({ signingKey });
  site = await api.site();
});
afterAll(() => api.stop());

function facts(changes: Partial<ReReadFacts> = {}): ReReadFacts {
  const payees = [{ toAddress: WALLETS[0]!, amountMicro: 1000n }];
  return reReadFacts(api, site, { payer: `0x${'5'.repeat(40)}`, payees, ...changes });
}

const mint = (changes: Partial<ReReadFacts> = {}) => mintReReadLicence(api.deps.keyring, facts(changes));

async function entitled(license: string, changes: Record<string, unknown> = {}): Promise<boolean> {
  const body = { license, resource: `https://${site.host}/articles/solo`, slug: 'solo', ...changes };
  const answer = await api.post('/_svc/license/check', site.key, body);
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.body)).toEqual(['entitled']);
  return answer.body.entitled;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a minted licence entitles to its page and kind, on its host, and the same facts give the same bytes', async () => {
  const fixed = facts();
  const licence = await mintReReadLicence(api.deps.keyring, fixed);
  expect(await mintReReadLicence(api.deps.keyring, fixed)).toBe(licence);
  expect(await entitled(licence)).toBe(true);
  expect(await entitled(licence, { slug: 'trio', resource: `https://${site.host}/articles/trio` })).toBe(false);
  expect(await entitled(licence, { slug: 'solo', resource: `https://${site.host}/articles/trio` })).toBe(false);
  expect(await entitled(licence, { kind: 'citation' })).toBe(false);
  const citation = await mint({ kind: 'citation' });
  expect([await entitled(citation, { kind: 'citation' }), await entitled(citation)]).toEqual([true, true]);
});

test('a licence has the decided header and claims and stays under 4 KB with 50 payees', async () => {
  const licence = await mint({
    payees: Array.from({ length: 50 }, (_, n) => ({ toAddress: `0x${n.toString(16).padStart(40, '0')}`, amountMicro: 20n })),
  });
  expect(licence.length).toBeLessThan(4096);
  const [header, claims] = licence
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  expect(header).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: api.deps.keyring.current().kid });
  expect(claims).toMatchObject({
    iss: api.deps.baseUrl,
    aud: `https://${site.host}`,
    sub: `eip155:84532:0x${'5'.repeat(40)}`,
    nbf: claims.iat,
  });
  expect(claims.svc).toMatchObject({
    v: 1,
    grant: 'read',
    kind: 'read',
    slug: 'solo',
    amountMicro: 1000,
    currency: 'USDC',
    settlementRefKind: 'txHash',
  });
  expect(claims.svc.payeesHash).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await entitled(licence)).toBe(true);
});

test('the second of exp is expired, with no skew; nbf and iat have 60 seconds', async () => {
  const now = Math.floor(api.deps.clock() / 1000);
  expect(await entitled(await mint({ issuedAtSeconds: now - 600, expiresAtSeconds: now }))).toBe(false);
  expect(await entitled(await mint({ issuedAtSeconds: now + 50 }))).toBe(true);
  expect(await entitled(await mint({ issuedAtSeconds: now + 120 }))).toBe(false);
  expect(await entitled(await mint({ expiresAtSeconds: (now + 600) * 1000, issuedAtSeconds: now * 1000 }))).toBe(false);
});

test('another issuer, another audience and a test-mode licence entitle to nothing', async () => {
  expect(await entitled(await mint({ issuer: 'https://evil.example' }))).toBe(false);
  expect(await entitled(await mint({ issuer: `${api.deps.baseUrl}/` }))).toBe(false);
  expect(await entitled(await mint({ host: 'other.example' }))).toBe(false);
  expect(await entitled(await mint({ settlementRefKind: 'mock' }))).toBe(false);
});

test('forged tokens are false, never an error', async () => {
  const good = await mint();
  const [header = '', payload = '', signature = ''] = good.split('.');
  const { kid } = api.deps.keyring.current();
  const publicKey = api.deps.keyring.jwks().keys[0]!.x;
  const sign = (head: unknown, body = payload) => `${encode(head)}.${body}.${signature}`;
  const hs256 = (key: string | Buffer) => {
    const input = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${payload}`;
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
  };
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = [
    `${encode({ alg: 'none' })}.${payload}.`,
    `${encode({ alg: 'none', kid })}.${payload}.${signature}`,
    hs256(publicKey),
    hs256(Buffer.from(publicKey, 'base64url')),
    sign({ alg: 'EdDSA', typ: 'JWT', kid, crit: ['b64'], b64: false }),
    sign({ alg: 'EdDSA', typ: 'JWT', kid, jku: 'https://evil.example/jwks' }),
    sign({ alg: 'EdDSA', typ: 'JWT', kid, jwk: { kty: 'OKP', crv: 'Ed25519', x: publicKey } }),
    sign({ alg: 'EdDSA', typ: 'JWT', kid, x5u: 'https://evil.example' }),
    sign({ alg: 'EdDSA', typ: 'JWT', kid: 'unknown' }),
    sign({ alg: 'EdDSA', typ: 'JWT' }),
    sign({ alg: 'Ed25519', typ: 'JWT', kid }),
    sign({ alg: 'EdDSA', typ: 'JOSE', kid }),
    `${header}.${encode({ ...claims, svc: { ...claims.svc, slug: 'solo', kind: 'citation' } })}.${signature}`,
    `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${good}.${signature}`,
    ` ${good}`,
    `${good}=`,
    `${header}.${encode({ ...claims, pad: 'x'.repeat(5000) })}.${signature}`,
    encode([]),
    '...',
    '{}',
    'null',
  ];
  for (const token of forged) expect(await entitled(token), token.slice(0, 60)).toBe(false);
  expect(await entitled(good)).toBe(true);
});

test('tokens we signed but that lack a claim, or are bound to a holder, entitle to nothing', async () => {
  const { keyring, baseUrl, clock } = api.deps;
  const { kid } = keyring.current();
  const now = Math.floor(clock() / 1000);
  const whole = { iss: baseUrl, aud: `https://${site.host}`, sub: 'x', jti: 'j', iat: now, nbf: now, exp: now + 60 };
  const svc = { v: 1, grant: 'read', site: site.tenantId, kind: 'read', slug: 'solo' };
  expect(await entitled(await keyring.sign(kid, { ...whole, svc }))).toBe(true);
  const wrong: object[] = [
    { ...whole },
    { ...whole, svc: null },
    { ...whole, svc: { ...svc, v: 2 } },
    { ...whole, svc: { ...svc, grant: 'all' } },
    { ...whole, svc: { ...svc, kind: 'any' } },
    { ...whole, svc: { ...svc, site: randomUUID() } },
    { ...whole, svc: { ...svc, site: null } },
    { ...whole, svc: { ...svc, licence: 'x' } },
    { ...whole, svc: { ...svc, slug: undefined } },
    { ...whole, svc, exp: undefined },
    { ...whole, svc, exp: String(now + 60) },
    { ...whole, svc, nbf: undefined },
    { ...whole, svc, jti: undefined },
    { ...whole, svc, aud: [whole.aud] },
    { ...whole, svc, cnf: { address: '0x1' } },
    { ...whole, svc: { ...svc, scope: {} } },
    { ...whole, svc: { ...svc, scope: { pagesHash: 'x' } } },
    { ...whole, svc: { ...svc, scope: { patterns: ['/articles/other$'] } } },
    [],
  ];
  for (const claims of wrong) expect(await entitled(await keyring.sign(kid, claims)), JSON.stringify(claims)).toBe(false);
  const scoped = { ...whole, svc: { ...svc, slug: undefined, scope: { patterns: ['/articles/solo$'] } } };
  expect(await entitled(await keyring.sign(kid, scoped))).toBe(true);
});

test('bodies of the wrong shape are 400, a foreign resource 403', async () => {
  const license = await mint();
  const resource = `https://${site.host}/articles/solo`;
  for (const body of [
    {},
    { license: '', resource, slug: 'solo' },
    { license, slug: 'solo' },
    { license, resource, slug: '' },
    { license, resource, slug: 'solo', kind: 'x' },
    { license, resource: '::', slug: 'solo' },
  ]) {
    expect((await api.post('/_svc/license/check', site.key, body)).status).toBe(400);
  }
  const foreign = await api.post('/_svc/license/check', site.key, { license, resource: 'https://stranger.example/a', slug: 'a' });
  expect([foreign.status, Object.keys(foreign.body)]).toEqual([403, ['error', 'next']]);
});

test('the key set shows public halves only; a new key is published a day before it signs, the former one stays usable', async () => {
  const answer = await api.request('/.well-known/jwks.json');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(answer.body.keys).toHaveLength(1);
  expect(Object.keys(answer.body.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  const former = api.deps.keyring.current().kid;
  const token = await mint();
  const clock = { ms: Date.now() };
  const next = newSigningKey();
  const rotated = await openKeyring(api.deps.database, { privateKeys: [next, signingKey], clock: () => clock.ms });
  expect([rotated.current().kid, rotated.jwks().keys.length]).toEqual([former, 2]);
  await refreshKeyring(api.deps.database, api.deps.keyring);
  expect((await api.request('/.well-known/jwks.json')).body.keys).toHaveLength(2);
  clock.ms += 24 * 3_600_000;
  expect(rotated.current().kid).not.toBe(former);
  expect(await rotated.verify(token)).not.toBeNull();
  expect(await mintReReadLicence(rotated, facts({ kid: former }))).toMatch(/^ey/);
  await api.deps.database.query('update signing_key set retired_at = now() where kid = $1', [former]);
  await refreshKeyring(api.deps.database, rotated);
  expect(await rotated.verify(token)).toBeNull();
  await api.deps.database.query('update signing_key set retired_at = null');
});

test('without a private key nothing is signed, and licences of others still verify', async () => {
  const token = await mint();
  const reader = await openKeyring(api.deps.database, { privateKeys: [], clock: Date.now });
  expect(() => reader.current()).toThrow(/no key can sign/);
  await expect(reader.sign('x', {})).rejects.toMatchObject({ code: 'signing_key_unavailable' });
  expect(await reader.verify(token)).not.toBeNull();
});
