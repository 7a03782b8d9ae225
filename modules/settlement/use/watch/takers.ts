import type { Database } from '../../../../db/database.ts';
import type { Networks } from '../../../../platform/chain/network.ts';
import { isClaiming, listStillWaiting } from '../../store/waiting.ts';
import type { Takers } from '../batchQueue.ts';
import { TAKEN_WITHIN_MS } from '../batchQueue.ts';
import { isWoken } from '../rails/rails.ts';

/** Who takes payments without being asked, as the rows show it. Two statements a look, however many payments wait. */
export function createTakers(deps: { readonly database: Database; readonly networks: Networks }): Takers {
  return {
    isWoken: (networkId) => isWoken(deps.networks.get(networkId)),
    findUntaken: async (networkId, payments) => {
      // One after the other: a batch of the moment between the two shows in its payments, which wait no more.
      if (await isClaiming(deps.database, networkId, TAKEN_WITHIN_MS)) return { untaken: [], young: payments };
      const waiting = await listStillWaiting(deps.database, payments, TAKEN_WITHIN_MS);
      return { untaken: waiting.filter(({ isDue }) => isDue), young: waiting.filter(({ isDue }) => !isDue) };
    },
  };
}
