/** Addresses and legs as offers carry them, so that a careful buyer can recompute the recipient. */
import { concat, getAddress, keccak256 } from 'viem/utils';
import type { Address } from '../domain/money/legs.ts';

/** An address with its checksum (EIP-55): the one spelling we put on the wire, byte-stable between offer and payment. */
export function checksumAddress(address: Address): string {
  return getAddress(address);
}

/** The hash of canonical leg words: the salt of their split's address. */
export function legsHash(words: readonly `0x${string}`[]): `0x${string}` {
  return keccak256(concat(words));
}
