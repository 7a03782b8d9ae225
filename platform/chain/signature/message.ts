/** Who signed a personal message (EIP-191): a key, or a wallet with code that confirms it (ERC-1271). */
import type secp256k1Type from 'secp256k1';
import { encodeFunctionData, hashMessage, parseAbi } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { keccak256 } from '../calls/keccak.ts';
import { readCall } from '../calls/multicall.ts';
import { requireNative } from '../calls/native.ts';
import { addressWord } from '../calls/words.ts';
import { CONTRACT_AUTH_GAS } from '../gas/gas.ts';
import { QUORUM } from '../rpc/quorum.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { chainUnavailable, hasOthers } from '../rpc/rpc.ts';

const secp256k1 = requireNative<typeof secp256k1Type>('secp256k1');
const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
/**
 * Init code of 55 bytes that takes an address, as a word, and calldata behind itself, and returns 1 where the code at that address answers
 * with the word of ERC-1271, else 0. A wallet that refuses by a revert thereby answers, too, and so differs from a node that is away. The
 * whole word is compared, as the token does: a precompile that echoes its input begins with the selector as well.
 */
const CONFIRMS_CODE = [
  '603780380380916000396020900360006020916020600051', // mem = address, calldata; 32, 0, its size, 32, address
  `62${CONTRACT_AUTH_GAS.toString(16).padStart(6, '0')}fa`, // call, its first word over the address
  '601f3d1116', // and more than 31 bytes came back
  '600051631626ba7e60e01b1416', // and they are the word
  '60005260206000f3',
].join('');
const YES = `0x${'1'.padStart(64, '0')}`;

/** A signature of a message, and whose it should be. */
export interface SignedMessage {
  readonly address: Address;
  readonly message: string;
  readonly signature: Hex;
}

/** True when the key of `address` made the signature; the chain is not asked. */
export function isSignedByKey({ address, message, signature }: SignedMessage): boolean {
  return recoverSigner(hashMessage(message), signature) === address;
}

/**
 * True when the code at `address` confirms the signature (ERC-1271). Where there are several URLs, two nodes must say so, since the caller
 * who signs in gets what the wallet holds. One call of each URL, in which the foreign code has a gas cap. Throws ServiceError
 * `chain_unavailable` in an outage, and while the node that confirms it is the only one that answers.
 */
export async function isConfirmedByWallet(rpc: Rpc, { address, message, signature }: SignedMessage): Promise<boolean> {
  const asked = encodeFunctionData({ abi: walletAbi, functionName: 'isValidSignature', args: [hashMessage(message), signature] });
  const call = { data: `0x${CONFIRMS_CODE}${addressWord(address)}${asked.slice(2)}` as Hex };
  const needed = hasOthers(rpc) ? QUORUM : 1;
  const answers = needed > 1 ? await rpc.each<Hex>('eth_call', [call, 'latest']) : [{ result: await readCall(rpc, call) }];
  const yes = answers.filter(({ result }) => result === YES).length;
  if (yes > 0 && answers.length < needed) throw chainUnavailable(rpc.networkId, 'a second node');
  return yes >= needed;
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
