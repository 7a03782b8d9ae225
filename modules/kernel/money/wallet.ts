/** Addresses as people type them: the one rule of every door that takes a wallet. */
import { ServiceError } from '../errors.ts';
import type { Address } from './legs.ts';

/** What a door that takes wallets of authors refuses. */
export interface PayeeRule {
  /** The asset and the router: never paid. */
  readonly forbidden: readonly string[];
  /** An address as EIP-55 writes it. */
  readonly checksum: Checksum;
  /** Slug of the page whose authors they are, where there is one. */
  readonly page?: string;
}

/** Writes a lower-case address with its checksum (EIP-55). */
export type Checksum = (address: Address) => string;

/**
 * An address as it is kept, lower case. One case throughout carries no checksum and is taken; mixed case must carry the right one, for a typing
 * error would pay a stranger for good. Throws invalid_parameter with the place, `whose` and both spellings.
 */
export function parseWallet(text: unknown, at: { readonly place: string; readonly whose: string }, checksum: Checksum): Address {
  const { place, whose } = at;
  if (typeof text !== 'string' || !isAddress(text)) throw refusal(place, 'a wallet is 0x and 40 hex digits');
  const wallet = text.toLowerCase() as Address;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return wallet;
  const right = checksum(wallet);
  if (right === text) return wallet;
  const sentence = `the checksum of ${whose} is wrong: it is written ${text}, and these digits with their checksum are ${right}`;
  throw refusal(place, `${sentence}; copy the address from its wallet again`);
}

/** True for 0x and 40 hex digits in any case. */
export function isAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

function refusal(place: string, sentence: string): ServiceError {
  return new ServiceError('invalid_parameter', `${place}: ${sentence}`, { parameter: place });
}
