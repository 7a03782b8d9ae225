/**
 * Words of 32 bytes as the ABI lays them out, packed by hand: what every payment needs is built several times a second, and a general
 * encoder walks the types of the function each time. Property tests compare each user with it. What is not an address, nonce or bytes in
 * hex, or does not fit a word, throws RangeError.
 */
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';

/** Hex digits of a word. */
export const WORD_DIGITS = 64;
const WORD_BYTES = 32;

/** An unsigned number. */
export function numberWord(value: bigint | number): string {
  const digits = value.toString(16);
  if (value < 0n || digits.length > WORD_DIGITS) throw new RangeError('a word holds 0 to 2^256 - 1');
  return digits.padStart(WORD_DIGITS, '0');
}

/** An address, in lower case. */
export function addressWord(address: Address): string {
  return digitsOf(address, 40).padStart(WORD_DIGITS, '0');
}

/** A word that is one already: a nonce, or what a split pays whom. */
export function wholeWord(word: Hex): string {
  return digitsOf(word, WORD_DIGITS);
}

/** Bytes of any length: how many, then the bytes, filled up to whole words. */
export function bytesWords(bytes: Hex): string {
  const digits = digitsOf(bytes);
  return `${numberWord(digits.length / 2)}${digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0')}`;
}

/** A list of parts whose lengths differ: how many, where each begins, then each. */
export function listWords(parts: readonly string[]): string {
  let at = parts.length * WORD_BYTES;
  const heads = parts.map((part) => {
    const head = numberWord(at);
    at += part.length / 2;
    return head;
  });
  return `${numberWord(parts.length)}${heads.join('')}${parts.join('')}`;
}

/** Lower-case hex digits, `count` of them where told, of whole bytes; anything else would shift every word after it. */
function digitsOf(hex: Hex, count?: number): string {
  const digits = hex.slice(2);
  const isWhole = digits.length % 2 === 0 && (count === undefined || digits.length === count);
  if (!isWhole || !hex.startsWith('0x') || !/^[0-9a-f]*$/i.test(digits))
    throw new RangeError('not a value of this length in hex');
  return digits.toLowerCase();
}
