import { bucketOf, bucketsOfShard } from '../rules/endpoint.ts';
import type { EndpointRef } from '../store/receiver.ts';

/** An endpoint whose workflow is to be signalled, and when something is due there (ms since 1970); 0: now, because its rows were changed. */
export interface Notice extends EndpointRef {
  readonly dueAtMs: number;
}

/**
 * Endpoints whose rows were changed or whose receivers failed, until the pass of their shard signals their workflows. Every worker hears of every
 * change; the one that serves the shard signals, so that an endpoint gets one signal of a moment's changes, not one for each change and worker.
 */
export interface Notices {
  /** Keeps an endpoint whose shard this process serves; of another shard it keeps nothing. Again, before it is taken: the earlier time counts. */
  add(notice: Notice): void;
  /** The endpoints of a shard that wait for a signal, each once. From now on this process serves the shard, for ten seconds. */
  take(shard: number): Notice[];
}

/** Between two passes, or until another worker has the next one. */
const SERVES_MS = 10_000;

/** The notices of this process, where endpoints are spread over so many shards. */
export function createNotices(shards: number): Notices {
  const waiting = new Map<number, Map<string, Notice>>();
  const servedUntil = new Map<number, number>();
  return {
    add: (notice) => {
      const shard = shardOf(notice, shards);
      if (performance.now() >= (servedUntil.get(shard) ?? 0)) return;
      const ofShard = waiting.get(shard);
      const kept = ofShard?.get(notice.endpointId);
      if (kept === undefined || notice.dueAtMs < kept.dueAtMs) ofShard?.set(notice.endpointId, notice);
    },
    take: (shard) => {
      const taken = [...(waiting.get(shard)?.values() ?? [])];
      waiting.set(shard, new Map());
      servedUntil.set(shard, performance.now() + SERVES_MS);
      return taken;
    },
  };
}

function shardOf({ endpointId }: EndpointRef, shards: number): number {
  const bucket = bucketOf(endpointId);
  for (let shard = 0; shard < shards; shard++) if (bucket < bucketsOfShard(shard, shards).to) return shard;
  return 0;
}
