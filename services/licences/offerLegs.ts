import { checksumAddress, legsHash } from '../../chain/offer.ts';
import { findOffer } from '../../db/licences/offers.ts';
import { ServiceError } from '../../domain/errors.ts';
import { canonicalPayees, legWord } from '../../domain/money/legs.ts';
import { payeesOfLegs } from '../../domain/pages/catalogue.ts';
import { atDatabase } from '../outage.ts';
import type { BuyerDeps } from './deps.ts';

/** The legs behind an offer's recipient, in the contract's order, with their weights. Throws not_found. */
export async function legsOfOffer(deps: Pick<BuyerDeps, 'database'>, offerId: string) {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(offerId);
  const offer = isUuid ? await atDatabase(() => findOffer(deps.database, offerId)) : null;
  if (!offer) throw new ServiceError('not_found', 'there is no such offer');
  const payees = canonicalPayees(payeesOfLegs(offer.legs));
  return {
    payTo: checksumAddress(offer.payTo),
    router: checksumAddress(offer.router),
    legsHash: legsHash(payees.map(legWord)),
    legs: payees.map(({ wallet, weight }) => ({ toAddress: checksumAddress(wallet), weight: weight.toString() })),
  };
}
