import type { Network, Networks } from '../../../platform/chain/network.ts';
import { ServiceError } from '../../kernel/errors.ts';

/** What choosing a site's networks needs. */
export interface NetworkDeps {
  /** Those configured, the cheapest first: offers keep this order. */
  readonly networks: Networks;
  /** True while no node of a network answers this process, as far as it looked; nothing is known to be away unless told. */
  readonly isAway?: (networkId: string) => boolean;
}

interface Site {
  /** Those its owner chose, by CAIP-2 id; null: never chosen. */
  readonly networks: readonly string[] | null;
}

/**
 * The networks a site takes payments on, the cheapest first: those its owner chose as far as they are configured, the first configured one
 * when he never chose. Never another in place of a chosen one: an author may have no use for money there. Throws chain_unavailable (503)
 * when none of those chosen is configured.
 */
export function siteNetworks({ networks }: Pick<NetworkDeps, 'networks'>, { networks: chosen }: Site): readonly Network[] {
  if (chosen === null) return [networks.first];
  const taken = networks.list.filter(({ id }) => chosen.includes(id));
  if (taken.length > 0) return taken;
  throw new ServiceError('chain_unavailable', 'none of this site’s networks is available right now', { retryAfterSeconds: 60 });
}

/** True when a payment on this network may be taken for a site now, whatever its quote offered. */
export function takesNetwork(
  { networks }: Pick<NetworkDeps, 'networks'>,
  { networks: chosen }: Site,
  networkId: string,
): boolean {
  return networks.find(networkId) !== null && (chosen === null || chosen.includes(networkId));
}

/**
 * Of some destinations, those to offer: all of a network that is not known to be away. Where all are away, all: the outage may be over
 * before a buyer has signed, and is a 503 that charges nothing if it is not.
 */
export function reachable<T extends { readonly network: string }>(
  { isAway }: Pick<NetworkDeps, 'isAway'>,
  destinations: readonly T[],
): readonly T[] {
  if (!isAway) return destinations;
  const open = destinations.filter(({ network }) => !isAway(network));
  return open.length === 0 ? destinations : open;
}
