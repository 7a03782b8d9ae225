/** Who signed a personal message (EIP-191): a key, or a wallet with code that confirms it (ERC-1271). */
import type secp256k1Type from 'secp256k1';
import { decodeFunctionResult, encodeFunctionData, hashMessage, parseAbi } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { findAccountsWithCode } from '../calls/codeSize.ts';
import { keccak256 } from '../calls/keccak.ts';
import { readCall } from '../calls/multicall.ts';
import { requireNative } from '../calls/native.ts';
import { CONTRACT_AUTH_GAS, transferGas } from '../gas/gas.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { isEvmRefusal, quantity } from '../rpc/rpc.ts';

const secp256k1 = requireNative<typeof secp256k1Type>('secp256k1');
const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const VALID = '0x1626ba7e';

/** A signature of a message, and whose it should be. */
export interface SignedMessage {
  readonly address: Address;
  readonly message: string;
  readonly signature: Hex;
}

/**
 * True when `address` signed `message`. A key's signature is judged without the chain; only otherwise the wallet is asked. Throws
 * ServiceError `chain_unavailable` in an outage.
 */
export async function isSignedBy(rpc: Rpc, signed: SignedMessage): Promise<boolean> {
  return isSignedByKey(signed) || (await isConfirmedByWallet(rpc, signed));
}

/** True when the key of `address` made the signature; the chain is not asked. */
export function isSignedByKey({ address, message, signature }: SignedMessage): boolean {
  return recoverSigner(hashMessage(message), signature) === address;
}

/**
 * True when `address` has code that confirms the signature (ERC-1271), under a gas cap, because it is foreign code. Two calls of a
 * node. Throws ServiceError `chain_unavailable` in an outage.
 */
export async function isConfirmedByWallet(rpc: Rpc, { address, message, signature }: SignedMessage): Promise<boolean> {
  if (!(await findAccountsWithCode(rpc, [address])).has(address)) return false;
  const data = encodeFunctionData({ abi: walletAbi, functionName: 'isValidSignature', args: [hashMessage(message), signature] });
  try {
    const answer = await readCall(rpc, { to: address, data, gas: quantity(transferGas(CONTRACT_AUTH_GAS, data)) });
    return (
      answer.length >= 66 && decodeFunctionResult({ abi: walletAbi, functionName: 'isValidSignature', data: answer }) === VALID
    );
  } catch (error) {
    if (isEvmRefusal(error) || (error instanceof Error && error.name.startsWith('Abi'))) return false;
    throw error;
  }
}

function recoverSigner(hash: Hex, signature: Hex): Address | null {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  if (signature.length !== 132 || bytes.length !== 65) return null;
  const v = bytes[64] ?? 0;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery !== 0 && recovery !== 1) return null;
  try {
    const publicKey = secp256k1.ecdsaRecover(bytes.subarray(0, 64), recovery, Buffer.from(hash.slice(2), 'hex'), false);
    return `0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}`;
  } catch {
    return null;
  }
}
