/** A wallet that signs one payment as a buyer's client does, and is forgotten. It never has money. */
import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Address } from '../../../modules/kernel/money/legs.ts';

/** One entry of an offer: what a buyer signs for. */
export interface OfferedEntry {
  /** CAIP-2 id of an EVM network. */
  readonly network: string;
  readonly asset: Address;
  readonly payTo: Address;
  readonly amountMicro: bigint;
  readonly maxTimeoutSeconds: number;
  /** Name and version of the token's EIP-712 domain. */
  readonly extra: { readonly name: string; readonly version: string };
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

/** The value of PAYMENT-SIGNATURE (x402 version 2) for an entry, signed by a new key; `nowMs` is epoch milliseconds. Each call is another wallet. */
export async function signByThrowaway(entry: OfferedEntry, nowMs: number): Promise<string> {
  const { network, asset, payTo, amountMicro, maxTimeoutSeconds, extra } = entry;
  const account = privateKeyToAccount(generatePrivateKey());
  const validBefore = BigInt(Math.floor(nowMs / 1_000) + maxTimeoutSeconds);
  const message = {
    from: account.address,
    to: payTo,
    value: amountMicro,
    validAfter: 0n,
    validBefore,
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await account.signTypedData({
    domain: { ...extra, chainId: Number(network.slice('eip155:'.length)), verifyingContract: asset },
    types: { TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const authorization = { ...message, value: String(amountMicro), validAfter: '0', validBefore: String(validBefore) };
  const accepted = { scheme: 'exact', network, amount: String(amountMicro), asset, payTo, maxTimeoutSeconds, extra };
  return Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: { signature, authorization } })).toString('base64');
}
