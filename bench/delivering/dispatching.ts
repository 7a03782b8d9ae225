import type { Database } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import { DELIVERY_CHANNEL } from '../../modules/webhooks/store/events.ts';
import { WEBHOOK_LIMITS } from '../../modules/webhooks/use/deps.ts';
import { createDispatcher } from '../../modules/webhooks/use/dispatch.ts';
import { createNotices } from '../../modules/webhooks/use/notices.ts';
import { createRecorder } from '../../modules/webhooks/use/recorder.ts';
import { createWake } from '../../modules/webhooks/use/wake.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../platform/tokens/secretBox.ts';

/** As many `dispatchWebhooks` as a worker runs unless told otherwise. */
const SHARDS = 4;

/** Runs `work` while the dispatchers of a worker send; what is in flight then is recorded before it returns. */
export async function whileDispatching<T>(database: Database, box: SecretBox, url: string, work: () => Promise<T>): Promise<T> {
  const wake = createWake();
  const listener = listen(url, DELIVERY_CHANNEL, wake.wake);
  const outbound = createOutbound({ allowLoopback: true, perTarget: 10_000 });
  const stopping = new AbortController();
  const retries = { due: async () => undefined };
  const warn = (message: string, fields: Readonly<Record<string, unknown>>): void => {
    if (!stopping.signal.aborted) console.error(message, fields);
  };
  const fixed = { shards: SHARDS, windowMs: 1_000, limits: WEBHOOK_LIMITS, stopping: stopping.signal, warn };
  const deps = {
    database,
    outbound,
    chatOutbound: outbound,
    secretBox: box,
    retries,
    wake,
    notices: createNotices(SHARDS),
    ...fixed,
  };
  const dispatcher = createDispatcher(deps, createRecorder(database));
  const shards = Array.from({ length: SHARDS }, (_, shard) => dispatcher.run(shard, stopping.signal));
  try {
    return await work();
  } finally {
    stopping.abort();
    await outbound.close();
    await Promise.all(shards);
    await listener.close();
  }
}
