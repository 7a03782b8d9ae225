/**
 * Call data of the three token functions that every payment needs, packed by hand (ABI: 4 bytes of selector, then words of 32): a
 * general encoder hashes the signature of the function each time. A property test compares them with it. What is not an address, nonce
 * or signature in hex, or does not fit a word, throws RangeError.
 */
import { encodeFunctionData } from 'viem';
import type { Address } from '../domain/legs.ts';
import type { Authorization, Hex } from '../domain/payload.ts';
import { tokenAbi } from './abi.ts';

const ZERO: Address = `0x${'0'.repeat(40)}`;
const NO_NONCE: Hex = `0x${'0'.repeat(64)}`;
const STATE = selectorOf(encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args: [ZERO, NO_NONCE] }));
const BALANCE = selectorOf(encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [ZERO] }));
const TRANSFER = selectorOf(
  encodeFunctionData({
    abi: tokenAbi,
    functionName: 'transferWithAuthorization',
    args: [ZERO, ZERO, 0n, 0n, 0n, NO_NONCE, '0x'],
  }),
);
/** Where the signature begins: after seven words. */
const SIGNATURE_OFFSET = wordOf(7n * 32n);

/** `authorizationState(payer, nonce)`. */
export function authorizationStateCall(payer: Address, nonce: Hex): Hex {
  return `${STATE}${addressWord(payer)}${nonceWord(nonce)}`;
}

/** `balanceOf(account)`. */
export function balanceOfCall(account: Address): Hex {
  return `${BALANCE}${addressWord(account)}`;
}

/** `transferWithAuthorization(…, bytes signature)`: the overload for keys and wallets (EIP-3009, ERC-1271). */
export function transferCall({
  authorization: { from, to, value, validAfter, validBefore, nonce },
  signature,
}: {
  readonly authorization: Authorization;
  readonly signature: Hex;
}): Hex {
  const digits = digitsOf(signature);
  const length = wordOf(BigInt(digits.length / 2));
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  const times = `${wordOf(value)}${wordOf(validAfter)}${wordOf(validBefore)}`;
  return `${TRANSFER}${addressWord(from)}${addressWord(to)}${times}${nonceWord(nonce)}${SIGNATURE_OFFSET}${length}${padded}`;
}

function addressWord(address: Address): string {
  return digitsOf(address, 40).padStart(64, '0');
}

function nonceWord(nonce: Hex): string {
  return digitsOf(nonce, 64);
}

function wordOf(value: bigint): string {
  const digits = value.toString(16);
  if (value < 0n || digits.length > 64) throw new RangeError('a word holds 0 to 2^256 - 1');
  return digits.padStart(64, '0');
}

/** Lower-case hex digits, `count` of them where told, of whole bytes; anything else would shift every word after it. */
function digitsOf(hex: Hex, count?: number): string {
  const digits = hex.slice(2);
  const isWhole = digits.length % 2 === 0 && (count === undefined || digits.length === count);
  if (!isWhole || !hex.startsWith('0x') || !/^[0-9a-f]*$/i.test(digits))
    throw new RangeError('not a value of this length in hex');
  return digits.toLowerCase();
}

function selectorOf(data: Hex): Hex {
  return data.slice(0, 10) as Hex;
}
