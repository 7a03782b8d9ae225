import { checksumAddress } from '../../../platform/chain/offer.ts';
import type { Address } from '../../kernel/money/legs.ts';

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** A wallet as reports show it: with its checksum (EIP-55). Anything that is no lower-case address stays as it is. */
export function shownWallet(wallet: string): string {
  return ADDRESS.test(wallet) ? checksumAddress(wallet as Address) : wallet;
}
