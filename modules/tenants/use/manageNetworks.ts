import type { Database } from '../../../db/database.ts';
import type { Networks } from '../../../platform/chain/network.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { findChosenNetworks, writeChosenNetworks } from '../store/tenants.ts';
import type { SiteCall } from './change.ts';
import { changeSite } from './change.ts';

/** Networks, the cheapest first, by CAIP-2 id. */
export interface NetworkChoice {
  /** Those the site takes payments on. */
  readonly taken: readonly string[];
  /** Those it may choose from. */
  readonly configured: readonly string[];
}

/** Which networks a site takes payments on, and which there are. A site whose networks are all gone takes none. */
export function choiceOf(configured: readonly string[], chosen: readonly string[] | null): NetworkChoice {
  const taken = chosen ?? configured.slice(0, 1);
  return { taken: configured.filter((id) => taken.includes(id)), configured };
}

/**
 * Sets on which networks a site takes payments; offers keep the operator's order. From then on payments of any other are refused, those of
 * quotes made before too: an author may have no use for money there, and a refused buyer has paid nothing. What was taken before settles.
 * Throws invalid_parameter for none and for one that is not configured, and what `changeSite` throws. The same again changes nothing.
 */
export async function setSiteNetworks(
  deps: { readonly database: Database; readonly networks: Networks },
  call: SiteCall,
  wanted: readonly string[],
): Promise<NetworkChoice> {
  const { networks } = deps;
  const unknown = wanted.find((id) => networks.find(id) === null);
  if (unknown !== undefined || wanted.length === 0) {
    const sentence = `networks: name one or more of ${networks.ids.join(', ')}`;
    throw new ServiceError('invalid_parameter', sentence, { parameter: 'networks' });
  }
  const chosen = networks.ids.filter((id) => wanted.includes(id));
  await changeSite(deps, call, {
    action: 'networks.set',
    target: null,
    look: async (sql) => ({ networks: await findChosenNetworks(sql, call.tenantId) }),
    make: (database) => writeChosenNetworks(database, call.tenantId, chosen, new Date()),
  });
  return choiceOf(networks.ids, chosen);
}
