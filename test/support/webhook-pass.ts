/** First attempts without a workflow: one pass of the dispatching activity's service, for tests of what it sends and records. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { RetryStarter, WebhookLimits } from '../../modules/webhooks/use/deps.ts';
import { WEBHOOK_LIMITS } from '../../modules/webhooks/use/deps.ts';
import { createDispatcher } from '../../modules/webhooks/use/dispatch.ts';
import type { Notices } from '../../modules/webhooks/use/notices.ts';
import { createNotices } from '../../modules/webhooks/use/notices.ts';
import { createRecorder } from '../../modules/webhooks/use/recorder.ts';
import { createWake } from '../../modules/webhooks/use/wake.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../platform/tokens/secretBox.ts';

/** An endpoint whose workflow was told that something is due. */
export interface HandedOver {
  readonly endpointId: string;
  readonly inMs: number;
}

/** What a pass works with; what it hands over to workflows lands in `handedOver`. */
export interface PassOptions {
  readonly database: Database;
  readonly outbound: Outbound;
  readonly chatOutbound?: Outbound;
  readonly secretBox: SecretBox;
  readonly handedOver?: HandedOver[];
  readonly limits?: Partial<WebhookLimits>;
  /** Instead of `handedOver`: what signalling a workflow does. */
  readonly due?: RetryStarter['due'];
  readonly notices?: Notices;
  readonly warn?: (message: string, fields: object) => void;
  /** Called when nothing waits any more, before the pass is told to end. */
  readonly onSent?: () => void;
}

/** How much longer a pass goes on while first attempts wait that may go out: a busy machine sends few in its time. */
const LONGER_MS = 60_000;
const WAITING = `select 1 from delivery join webhook_endpoint using (tenant_id, endpoint_id)
  where state = 'pending' and not retrying and enabled and cooled_until is null limit 1`;

/** Makes the first attempts that are due, for `passMs` (300 ms unless told) at least, and waits for those in flight. */
export async function runPass(options: PassOptions): Promise<void> {
  const { database, outbound, secretBox, chatOutbound = outbound, handedOver = [] } = options;
  const limits = { ...WEBHOOK_LIMITS, requestTimeoutMs: 10_000, passMs: 300, pollMs: 50, ...options.limits };
  const { notices = createNotices(1), warn = console.error } = options;
  const retries: RetryStarter = {
    due: options.due ?? (async ({ endpointId }, inMs) => void handedOver.push({ endpointId, inMs })),
  };
  const stopping = new AbortController();
  const fixed = { shards: 1, windowMs: 1_000, stopping: stopping.signal, warn };
  const deps = { database, outbound, chatOutbound, secretBox, retries, limits, wake: createWake(), notices, ...fixed };
  const dispatcher = createDispatcher({ ...deps, limits: { ...limits, passMs: 60_000 } }, createRecorder(database));
  const pass = dispatcher.run(0, stopping.signal);
  await sleep(limits.passMs);
  const until = performance.now() + LONGER_MS;
  while (performance.now() < until && (await database.query(WAITING)).length > 0) await sleep(limits.pollMs);
  options.onSent?.();
  stopping.abort();
  await pass;
}
