/** Buyers with money on a test chain, and the payments they sign. */

import { randomBytes } from 'node:crypto';
import secp256k1 from 'secp256k1';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../modules/kernel/x402/payload.ts';
import type { Network } from '../../platform/chain/network.ts';
import { authorizationDigest } from '../../platform/chain/signature/signature.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';

/** A key with test USDC. */
export interface Buyer {
  readonly address: Address;
  readonly key: Buffer;
}

/** One signed transfer. */
export interface SignedTransfer {
  readonly authorization: Authorization;
  readonly signature: Hex;
}

const VALID_SECONDS = 290n;

/** `count` new keys, each with 100 test USDC. */
export async function fundBuyers(rpcUrl: string, count: number): Promise<readonly Buyer[]> {
  const buyers: Buyer[] = [];
  for (let index = 0; index < count; index++) {
    const buyer = newBuyer();
    await mintUsdc(rpcUrl, buyer.address, 100_000_000n);
    buyers.push(buyer);
  }
  return buyers;
}

/** A new key, without money. */
export function newBuyer(): Buyer {
  const key = randomBytes(32);
  return secp256k1.privateKeyVerify(key) ? { key, address: localSigner(`0x${key.toString('hex')}`).address } : newBuyer();
}

/** Signs a transfer of `value` micro to `to` (EIP-3009), good for nearly five minutes; every call draws a new nonce. */
export function signTransfer(network: Network, buyer: Buyer, to: Address, value: bigint): SignedTransfer {
  const validBefore = BigInt(Math.floor(Date.now() / 1000)) + VALID_SECONDS;
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const authorization: Authorization = { from: buyer.address, to, value, validAfter: 0n, validBefore, nonce };
  const { signature, recid } = secp256k1.ecdsaSign(authorizationDigest(network, authorization), buyer.key);
  return { authorization, signature: `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}` };
}

/** The `payload` member of an x402 payment. */
export function payloadOf({ authorization: a, signature }: SignedTransfer) {
  const { value, validAfter, validBefore } = a;
  const texts = { value: value.toString(), validAfter: validAfter.toString(), validBefore: validBefore.toString() };
  return { signature, authorization: { from: a.from, to: a.to, ...texts, nonce: a.nonce } };
}

/** A transfer as text, for another process. */
export function encodeTransfer({ authorization, signature }: SignedTransfer): string {
  return JSON.stringify({ authorization, signature }, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** The transfer that was encoded so. */
export function decodeTransfer(text: string): SignedTransfer {
  return JSON.parse(text, (_, value) => (typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value));
}
