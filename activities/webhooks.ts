import { cancellationSignal } from '@temporalio/activity';
import type { RetryOutcome, RetryStart } from '../modules/webhooks/rules/retrying.ts';
import type { ClosedWindows } from '../modules/webhooks/use/closeWindows.ts';
import type { WebhookDeps } from '../modules/webhooks/use/deps.ts';
import { createDispatcher } from '../modules/webhooks/use/dispatch.ts';
import { keepClosing } from '../modules/webhooks/use/keepClosing.ts';
import { createRecorder } from '../modules/webhooks/use/recorder.ts';
import { retryDue } from '../modules/webhooks/use/retryDue.ts';
import { beating } from './beating.ts';

/** The activities of the webhook workflows. */
export interface WebhookActivities {
  /** Closes event windows as they end; about a minute at most, heart-beating. */
  closeWindows(): Promise<ClosedWindows>;
  /** Makes first attempts for one shard; at most 5 minutes, heart-beating. */
  dispatchDeliveries(input: { readonly shard: number }): Promise<'again' | 'retired'>;
  /** Makes the attempts and the probe that are due at one endpoint, and says what waits there; five minutes at most, heart-beating. */
  retryDue(input: RetryStart): Promise<RetryOutcome>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker: what is in flight and what waits to be written is shared by all its activities. */
export function createWebhookActivities(deps: WebhookDeps): WebhookActivities {
  const recorder = createRecorder(deps.database, {
    metrics: deps.metrics,
    onCooled: ({ tenantId, endpointId }) => deps.notices.add({ tenantId, endpointId, dueAtMs: 0 }),
  });
  const dispatcher = createDispatcher(deps, recorder);
  return {
    closeWindows: () => beating(HEARTBEAT_MS, () => keepClosing(deps, cancellationSignal())),
    dispatchDeliveries: ({ shard }) => beating(HEARTBEAT_MS, () => dispatcher.run(shard, cancellationSignal())),
    retryDue: (input) => beating(HEARTBEAT_MS, () => retryDue(deps, recorder, input)),
  };
}
