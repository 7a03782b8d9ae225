import { expect, test } from 'vitest';
import type { Claim } from '../../../modules/gate/rules/webbotauth/claim.ts';
import { claimOf, MOST_LIFE_SECONDS, TEST_KEYS } from '../../../modules/gate/rules/webbotauth/claim.ts';
import { importAgentKey, readKeySet, thumbprintOf } from '../../../modules/gate/use/agents/keys.ts';
import { checkSignature, readSignatures } from '../../../modules/gate/use/agents/signatures.ts';

/** Test vectors of draft-ietf-webbotauth-httpsig-protocol; their keys are those of RFC 9421, appendix B.1.2 and B.1.4. */
const ED25519 = { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' } as const;
const RSA = {
  kty: 'RSA',
  e: 'AQAB',
  n: 'r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w',
} as const;
const CREATED = 1_735_689_600;
const ED25519_ID = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U';
const RSA_ID = 'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA';

const input = (covered: string, keyid: string, alg: string, expires: number, nonce: string): string =>
  `sig2=("@authority" ${covered});created=${CREATED};keyid="${keyid}";alg="${alg}";expires=${expires};nonce="${nonce}";tag="web-bot-auth"`;

const VECTORS = [
  {
    name: 'ed25519, a dictionary',
    jwk: ED25519,
    agent: 'agent2="https://signature-agent.test"',
    input: input(
      '"signature-agent";key="agent2"',
      ED25519_ID,
      'ed25519',
      4_889_289_600,
      'n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==',
    ),
    signature: 'RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==',
  },
  {
    name: 'ed25519, the string of earlier drafts',
    jwk: ED25519,
    agent: '"https://signature-agent.test"',
    input: input(
      '"signature-agent"',
      ED25519_ID,
      'ed25519',
      1_735_693_200,
      'e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==',
    ),
    signature: 'jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==',
  },
  {
    name: 'rsa-pss-sha512, a dictionary',
    jwk: RSA,
    agent: 'agent2="https://signature-agent.test"',
    input: input(
      '"signature-agent";key="agent2"',
      RSA_ID,
      'rsa-pss-sha512',
      4_889_289_600,
      'wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==',
    ),
    signature:
      'gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9zfX0mx1aG12CSGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWeEuIQ5BLIOBGE39fSwg27Qjq6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcws1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==',
  },
  {
    name: 'rsa-pss-sha512, the string of earlier drafts',
    jwk: RSA,
    agent: '"https://signature-agent.test"',
    input: input(
      '"signature-agent"',
      RSA_ID,
      'rsa-pss-sha512',
      1_735_693_200,
      'XSHtZVCThSIAksXsH9WBs6AtxtXC0eQGiIcUGSoJstFs8lAWakjhrfwzLhyjtme5iXMZvmFWqDEs6cT3Jf+BbQ==',
    ),
    signature:
      'I1QWNzGXdP1a4dSvOHLCVOOanEYHDk+ZsVxM9MLX/p4ko69ghKwR5EOtAD96g7g4GWP7lmpM/jFAf9q8EFRDTPLjUXySwMv4YPgabv2LQihTJG2y8a2m6IGltyruwQNiqSJVUuRaG9+b17CGmAMFZh30X6GXLdQJrCARpeTqPwp2DC+a8haDE/VE5EruqzjA5/2mKwvrkzkSqeW5tOVtFwWRRHIOidquf/8Je6kM9mhgkg4arudLA5SL4wyyYE1jURIgcOl8agrfdJ5Def23DIRtiOLRa8jT9cpTLFAuFHN+mrZA/LH9h0gSIg1cPb+0cMASee5uku1KjWcFer7jWA==',
  },
] as const;

const LENIENT = { now: CREATED + 5, mostLife: 4_000_000_000, refusedKeys: new Set<string>() };

function claimed(
  vector: (typeof VECTORS)[number],
  url = 'https://example.com/path',
  policy: Parameters<typeof claimOf>[2] = LENIENT,
) {
  const headers = { signature: `sig2=:${vector.signature}:`, 'signature-input': vector.input, 'signature-agent': vector.agent };
  const read = readSignatures(headers);
  if (!read || read.agent === 'broken') throw new Error('not read');
  return { request: { method: 'GET', url, headers }, claim: claimOf(read.inputs[0]!, read.agent, policy) };
}

test.each(VECTORS)('the vector of the draft for $name is good, and for no other host', async (vector) => {
  const { request, claim } = claimed(vector);
  expect(claim).toMatchObject({ label: 'sig2', source: { host: 'signature-agent.test', type: 'directory' } });
  const set = readKeySet({ keys: [{ ...vector.jwk, use: 'sig' }] }, { isDirectory: true, now: CREATED });
  const key = await importAgentKey(set!.get((claim as Claim).keyid)!);
  expect(await checkSignature(request, claim as Claim, key, LENIENT.now)).toBeNull();
  const elsewhere = claimed(vector, 'https://example.org/path');
  expect(await checkSignature(elsewhere.request, elsewhere.claim as Claim, key, LENIENT.now)).toEqual({
    outcome: 'invalid',
    reason: 'bad_signature',
  });
});

test('the keys of the standard are believed by nobody, a signature for a century is refused, and one that ended is expired', () => {
  expect([thumbprintOf(ED25519), thumbprintOf(RSA)].every((keyid) => TEST_KEYS.has(keyid))).toBe(true);
  for (const vector of VECTORS) {
    const outcome = (policy: object) => claimed(vector, undefined, { ...LENIENT, ...policy }).claim;
    expect(outcome({ refusedKeys: TEST_KEYS })).toEqual({ outcome: 'invalid', reason: 'test_key' });
  }
  const usual = { ...LENIENT, mostLife: MOST_LIFE_SECONDS };
  expect(claimed(VECTORS[0], undefined, usual).claim).toEqual({ outcome: 'invalid', reason: 'lives_too_long' });
  expect(claimed(VECTORS[1], undefined, { ...usual, now: CREATED + 3_661 }).claim).toEqual({
    outcome: 'invalid',
    reason: 'expired',
  });
  expect(claimed(VECTORS[1], undefined, { ...usual, now: CREATED + 3_659 }).claim).toMatchObject({ label: 'sig2' });
  expect(claimed(VECTORS[1], undefined, { ...usual, now: CREATED - 61 }).claim).toEqual({
    outcome: 'invalid',
    reason: 'from_the_future',
  });
});

test('a signature that ends before it was made is none, though both times are within what clocks may be off', () => {
  const times = (created: number, expires: number) => {
    const covered = [
      { name: '@authority', key: null },
      { name: 'signature-agent', key: null },
    ];
    const signed = { label: 'sig2', covered, created, expires, keyid: ED25519_ID, tag: 'web-bot-auth' };
    return claimOf(signed, { form: 'string', value: 'https://signature-agent.test' }, LENIENT);
  };
  expect(times(CREATED, CREATED - 1)).toEqual({ outcome: 'invalid', reason: 'malformed' });
  expect(times(CREATED, CREATED)).toMatchObject({ label: 'sig2' });
});

test('a key set is read by its thumbprints, whatever it calls its keys, and only for keys that check signatures now', () => {
  const read = (keys: unknown, isDirectory = true) => {
    const set = readKeySet({ keys }, { isDirectory, now: 1_000 });
    return set && [...set.keys()];
  };
  expect(
    read([
      { ...ED25519, kid: ED25519_ID },
      { ...RSA, alg: 'PS512' },
    ]),
  ).toEqual([ED25519_ID, RSA_ID]);
  expect(read([{ ...ED25519, kid: 'mine' }])).toEqual([]);
  expect(read([{ ...ED25519, kid: 'mine' }], false)).toEqual([ED25519_ID]);
  expect(
    read([
      { ...ED25519, use: 'enc' },
      { ...ED25519, d: 'n4Ni' },
      { ...ED25519, nbf: 1_001 },
      { ...ED25519, exp: 1_000 },
    ]),
  ).toEqual([]);
  expect(
    read([
      { ...RSA, alg: 'RS256' },
      { ...RSA, n: 'AQAB' },
      { ...ED25519, x: `${ED25519.x}A` },
      null,
      'x',
      { kty: 'oct', k: 'AA' },
    ]),
  ).toEqual([]);
  expect(read(Array.from({ length: 51 }, () => ED25519))).toBeNull();
  expect([read(undefined), read({}), readKeySet(null, { isDirectory: true, now: 0 })]).toEqual([null, null, null]);
});
