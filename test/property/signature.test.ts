import fc from 'fast-check';
import { hashTypedData, recoverTypedDataAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import type { Authorization, Hex } from '../../modules/kernel/x402/payload.ts';
import { authorizationDigest, recoverPayer } from '../../platform/chain/signature/signature.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const hex = (bytes: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const uint256 = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), fc.bigInt({ min: 0n, max: 1n << 65n }));
const authorizations: fc.Arbitrary<Authorization> = fc.record({
  from: hex(20),
  to: hex(20),
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hex(32),
});
const domains = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 40 }),
  asset: hex(20),
  assetName: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  assetVersion: fc.string({ minLength: 1, maxLength: 5 }),
});
const keys = fc.bigInt({ min: 1n, max: ORDER - 1n }).map((key): Hex => `0x${key.toString(16).padStart(64, '0')}`);
const word = (value: bigint) => value.toString(16).padStart(64, '0');

type Domain = { chainId: number; asset: Hex; assetName: string; assetVersion: string };

function typed(domain: Domain, message: Authorization) {
  return {
    domain: { name: domain.assetName, version: domain.assetVersion, chainId: domain.chainId, verifyingContract: domain.asset },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  } as const;
}

/** What the general library says, or null where it finds nobody. */
async function oracle(domain: Domain, message: Authorization, signature: Hex): Promise<Hex | null> {
  try {
    return (await recoverTypedDataAddress({ ...typed(domain, message), signature })).toLowerCase() as Hex;
  } catch {
    return null;
  }
}

test('the packed digest is the EIP-712 digest of every authorization under every domain', () => {
  fc.assert(
    fc.property(domains, authorizations, (domain, authorization) => {
      const digest = `0x${Buffer.from(authorizationDigest(domain, authorization)).toString('hex')}`;
      return digest === hashTypedData(typed(domain, authorization));
    }),
    { numRuns: 500 },
  );
});

test('what a key signed is recovered as its address, and never for a changed authorization or domain', async () => {
  await fc.assert(
    fc.asyncProperty(domains, authorizations, keys, fc.nat(5), async (domain, authorization, key, at) => {
      const account = privateKeyToAccount(key);
      const signature = await account.signTypedData(typed(domain, authorization));
      const payer = account.address.toLowerCase();
      expect(recoverPayer(domain, authorization, signature)).toBe(payer);
      const member = (['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const)[at] ?? 'value';
      const old = BigInt(authorization[member]) ^ 1n;
      const changed =
        typeof authorization[member] === 'bigint' ? old : `0x${old.toString(16).padStart(member === 'nonce' ? 64 : 40, '0')}`;
      expect(recoverPayer(domain, { ...authorization, [member]: changed } as Authorization, signature)).not.toBe(payer);
      expect(recoverPayer({ ...domain, chainId: domain.chainId + 1 }, authorization, signature)).not.toBe(payer);
    }),
    { numRuns: 60 },
  );
});

test('any 65 bytes give what the general library gives, or null where the signature is malleable or odd', async () => {
  const scalars = fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
    fc.constantFrom(0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, (1n << 256n) - 1n),
  );
  const vs = fc.oneof(fc.constantFrom(0, 1, 26, 27, 28, 29, 31), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(domains, authorizations, scalars, scalars, vs, async (domain, authorization, r, s, v) => {
      const signature = `0x${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}` as Hex;
      const payer = recoverPayer(domain, authorization, signature);
      const allowed = [0, 1, 27, 28].includes(v) && r > 0n && s > 0n && s <= ORDER / 2n;
      expect(payer).toBe(allowed ? await oracle(domain, authorization, signature) : null);
    }),
    { numRuns: 300 },
  );
});

test('the high-s twin of a valid signature is refused although the general library takes it', async () => {
  const domain: Domain = { chainId: 84532, asset: `0x${'36'.repeat(20)}`, assetName: 'USDC', assetVersion: '2' };
  await fc.assert(
    fc.asyncProperty(authorizations, keys, async (authorization, key) => {
      const account = privateKeyToAccount(key);
      const signature = await account.signTypedData(typed(domain, authorization));
      const s = BigInt(`0x${signature.slice(66, 130)}`);
      const v = signature.endsWith('1b') ? '1c' : '1b';
      const twin = `${signature.slice(0, 66)}${word(ORDER - s)}${v}` as Hex;
      expect(await oracle(domain, authorization, twin)).toBe(account.address.toLowerCase());
      expect(recoverPayer(domain, authorization, twin)).toBeNull();
    }),
    { numRuns: 20 },
  );
});

test('signatures of any other length recover nobody, and nothing throws', () => {
  const domain: Domain = { chainId: 1, asset: `0x${'36'.repeat(20)}`, assetName: 'USDC', assetVersion: '2' };
  fc.assert(
    fc.property(authorizations, fc.uint8Array({ maxLength: 130 }), (authorization, bytes) => {
      fc.pre(bytes.length !== 65);
      return recoverPayer(domain, authorization, `0x${Buffer.from(bytes).toString('hex')}`) === null;
    }),
  );
});
