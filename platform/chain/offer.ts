/** Addresses and legs as offers carry them, so that a careful buyer can recompute the recipient. */
import { concat, getAddress, keccak256 } from 'viem/utils';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { microToJson } from '../../modules/kernel/money/money.ts';

/** An address with its checksum (EIP-55): the one spelling we put on the wire, byte-stable between offer and payment. */
export function checksumAddress(address: Address): string {
  return getAddress(address);
}

/** The hash of canonical leg words: the salt of their split's address. */
export function legsHash(words: readonly `0x${string}`[]): `0x${string}` {
  return keccak256(concat(words));
}

/** A leg of a licence as the API shows it. */
export function legBody({ toAddress, amountMicro }: { readonly toAddress: Address; readonly amountMicro: bigint }) {
  return { toAddress: checksumAddress(toAddress), amountMicro: microToJson(amountMicro) };
}
