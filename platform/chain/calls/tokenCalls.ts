/**
 * Call data of the three token functions that every payment needs, packed by hand (words.ts). A property test compares them with a
 * general encoder.
 */
import { encodeFunctionData } from 'viem/utils';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Authorization, Hex } from '../../../modules/kernel/x402/payload.ts';
import { tokenAbi } from './abi.ts';
import { addressWord, bytesWords, numberWord, wholeWord } from './words.ts';

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
const SIGNATURE_OFFSET = numberWord(7 * 32);

/** `authorizationState(payer, nonce)`. */
export function authorizationStateCall(payer: Address, nonce: Hex): Hex {
  return `${STATE}${addressWord(payer)}${wholeWord(nonce)}`;
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
  const times = `${numberWord(value)}${numberWord(validAfter)}${numberWord(validBefore)}`;
  const fixed = `${addressWord(from)}${addressWord(to)}${times}${wholeWord(nonce)}`;
  return `${TRANSFER}${fixed}${SIGNATURE_OFFSET}${bytesWords(signature)}`;
}

function selectorOf(data: Hex): Hex {
  return data.slice(0, 10) as Hex;
}
