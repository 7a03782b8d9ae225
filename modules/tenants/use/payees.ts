import { checksumAddress } from '../../../platform/chain/offer.ts';
import type { Address } from '../../kernel/money/legs.ts';
import type { PayeeRule } from '../../kernel/money/wallet.ts';
import { parseWallet } from '../../kernel/money/wallet.ts';

/** What every door asks of the wallets of authors; `contracts` are the assets and routers of the networks, which nobody may be paid at. */
export function payeeRule(contracts: readonly string[] = []): PayeeRule {
  return { forbidden: contracts, checksum: checksumAddress };
}

/** A wallet that someone names for himself, lower case. Throws invalid_parameter as `parseWallet`. */
export function requireWallet(text: string, place: string): Address {
  return parseWallet(text, { place, whose: 'this wallet' }, checksumAddress);
}
