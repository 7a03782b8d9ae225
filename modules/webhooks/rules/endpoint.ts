import type { EventType, Profile } from './event.ts';

/** Where an endpoint's messages go. */
export type Channel = 'raw' | 'slack' | 'discord' | 'teams';

/** What an owner may say about an endpoint. */
export interface EndpointSettings {
  readonly url: string;
  readonly channel: Channel;
  readonly eventTypes: readonly EventType[];
  /** Only events of these hosts; null: of every host of the tenant. */
  readonly hostFilter: readonly string[] | null;
  readonly profile: Profile;
  readonly description: string;
}

/** Most endpoints a tenant may have. */
export const MAX_ENDPOINTS = 10;
/** Every endpoint has two slots: so many of its requests may be in flight. */
export const ENDPOINT_SLOTS = [1, 2] as const;
/** Deliveries are spread over so many buckets; a shard owns a range of them, so that the number of shards may change. */
export const BUCKETS = 256;

/** The bucket of an endpoint: the last byte of its UUID, which is random in versions 4 and 7. */
export function bucketOf(endpointId: string): number {
  return Number.parseInt(endpointId.slice(-2), 16);
}

/** The buckets of shard `shard` (from 0) of `shards`, as [from, to). Every bucket has one shard. */
export function bucketsOfShard(shard: number, shards: number): { readonly from: number; readonly to: number } {
  return { from: Math.floor((shard * BUCKETS) / shards), to: Math.floor(((shard + 1) * BUCKETS) / shards) };
}

/** True when an endpoint asked for events of this type and host; an event without a host concerns the whole tenant. */
export function wantsEvent(
  endpoint: Pick<EndpointSettings, 'eventTypes' | 'hostFilter'>,
  event: { readonly type: EventType; readonly host: string | null },
): boolean {
  if (!endpoint.eventTypes.includes(event.type)) return false;
  return endpoint.hostFilter === null || event.host === null || endpoint.hostFilter.includes(event.host);
}
