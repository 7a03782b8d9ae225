import { checksumAddress, legsHash } from '../../../../platform/chain/offer.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { canonicalPayees, legWord } from '../../../kernel/money/legs.ts';
import { findOffer } from '../../../licences/store/offers.ts';
import { payeesOfLegs } from '../../../pricing/rules/catalogue.ts';
import type { BuyerDeps } from './deps.ts';

/** The legs behind an offer's recipient, in the contract's order, with their weights. Throws not_found. */
export async function legsOfOffer(deps: Pick<BuyerDeps, 'database'>, offerId: string) {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(offerId);
  const offer = isUuid ? await findOffer(deps.database, offerId) : null;
  if (!offer) throw new ServiceError('not_found', 'there is no such offer');
  const payees = canonicalPayees(payeesOfLegs(offer.legs));
  return {
    payTo: checksumAddress(offer.payTo),
    router: checksumAddress(offer.router),
    legsHash: legsHash(payees.map(legWord)),
    legs: payees.map(({ wallet, weight }) => ({ toAddress: checksumAddress(wallet), weight: weight.toString() })),
  };
}
