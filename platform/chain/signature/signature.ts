/**
 * Who signed an authorization: EIP-712 hash packed by hand with a cached domain separator, native secp256k1 recovery. About
 * twenty times faster than a general typed-data library, and stricter: no high-s, no r or s of 0, no odd v.
 */
import type secp256k1Type from 'secp256k1';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../../modules/kernel/x402/payload.ts';
import { keccak256 } from '../calls/keccak.ts';
import { requireNative } from '../calls/native.ts';
import type { Network } from '../network.ts';

/** What the EIP-712 domain of an asset is made of. */
export type AssetDomain = Pick<Network, 'chainId' | 'asset' | 'assetName' | 'assetVersion'>;

const secp256k1 = requireNative<typeof secp256k1Type>('secp256k1');
const TYPE_HASH = hashText(
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
);
const DOMAIN_TYPE_HASH = hashText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

const separators = new WeakMap<AssetDomain, Buffer>();

/** The 32-byte EIP-712 digest a payer signs. Values must be below 2^256, as parsed payments are. */
export function authorizationDigest(domain: AssetDomain, authorization: Authorization): Uint8Array {
  const struct = Buffer.alloc(224);
  TYPE_HASH.copy(struct, 0);
  struct.write(authorization.from.slice(2), 44, 'hex');
  struct.write(authorization.to.slice(2), 76, 'hex');
  writeWord(struct, authorization.value, 96);
  writeWord(struct, authorization.validAfter, 128);
  writeWord(struct, authorization.validBefore, 160);
  struct.write(authorization.nonce.slice(2), 192, 'hex');
  const message = Buffer.alloc(66);
  message[0] = 0x19;
  message[1] = 0x01;
  separatorOf(domain).copy(message, 2);
  message.set(keccak256(struct), 34);
  return keccak256(message);
}

/**
 * The address whose key made this signature over this authorization, or null: not 65 bytes, v not 27, 28, 0 or 1, r or s of
 * 0, s in the upper half (malleable; the token refuses it too), or no such point. It says nothing about contract wallets.
 */
export function recoverPayer(domain: AssetDomain, authorization: Authorization, signature: Hex): Address | null {
  if (signature.length !== 132) return null;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  if (bytes.length !== 65) return null;
  const v = bytes[64] ?? 0;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery !== 0 && recovery !== 1) return null;
  const s = bytes.subarray(32, 64);
  if (isZero(bytes.subarray(0, 32)) || isZero(s) || s.compare(HALF_ORDER) > 0) return null;
  try {
    const publicKey = secp256k1.ecdsaRecover(bytes.subarray(0, 64), recovery, authorizationDigest(domain, authorization), false);
    return `0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}`;
  } catch {
    return null;
  }
}

function separatorOf(domain: AssetDomain): Buffer {
  const known = separators.get(domain);
  if (known) return known;
  const packed = Buffer.alloc(160);
  DOMAIN_TYPE_HASH.copy(packed, 0);
  hashText(domain.assetName).copy(packed, 32);
  hashText(domain.assetVersion).copy(packed, 64);
  writeWord(packed, BigInt(domain.chainId), 96);
  packed.write(domain.asset.slice(2), 140, 'hex');
  const separator = keccak256(packed);
  separators.set(domain, separator);
  return separator;
}

function hashText(text: string): Buffer {
  return keccak256(Buffer.from(text));
}

function writeWord(target: Buffer, value: bigint, offset: number): void {
  if (value < 1n << 64n) target.writeBigUInt64BE(value, offset + 24);
  else target.write(value.toString(16).padStart(64, '0'), offset, 'hex');
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
