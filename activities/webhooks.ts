import { cancellationSignal } from '@temporalio/activity';
import type { AttemptOutcome } from '../modules/webhooks/rules/deliveryWorkflow.ts';
import type { ProbeOutcome, RecoveryStart } from '../modules/webhooks/rules/recovery.ts';
import type { AttemptKey } from '../modules/webhooks/use/attempt.ts';
import { attemptDelivery } from '../modules/webhooks/use/attempt.ts';
import type { ClosedWindows } from '../modules/webhooks/use/closeWindows.ts';
import type { WebhookDeps } from '../modules/webhooks/use/deps.ts';
import { createDispatcher } from '../modules/webhooks/use/dispatch.ts';
import { keepClosing } from '../modules/webhooks/use/keepClosing.ts';
import { probeEndpoint } from '../modules/webhooks/use/probe.ts';
import { createRecorder } from '../modules/webhooks/use/recorder.ts';
import { beating } from './beating.ts';

/** The activities of the webhook workflows. */
export interface WebhookActivities {
  /** Closes event windows as they end; about a minute at most, heart-beating. */
  closeWindows(): Promise<ClosedWindows>;
  /** Makes first attempts for one shard; at most 5 minutes, heart-beating. */
  dispatchDeliveries(input: { readonly shard: number }): Promise<'again' | 'retired'>;
  /** Makes one later attempt of one delivery, heart-beating. */
  attemptWebhook(key: AttemptKey): Promise<AttemptOutcome>;
  /** Probes one cooling endpoint, heart-beating. */
  probeEndpoint(input: RecoveryStart): Promise<ProbeOutcome>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker: what is in flight and what waits to be written is shared by all its activities. */
export function createWebhookActivities(deps: WebhookDeps): WebhookActivities {
  const recorder = createRecorder(deps.database, {
    metrics: deps.metrics,
    onCooled: (endpoint) => {
      deps.retries.recover(endpoint).catch((error: unknown) => {
        deps.warn('the recovery of a cooling endpoint was not started; the orphan check brings it back', { ...endpoint, error });
      });
    },
  });
  const dispatcher = createDispatcher(deps, recorder);
  return {
    closeWindows: () => beating(HEARTBEAT_MS, () => keepClosing(deps, cancellationSignal())),
    dispatchDeliveries: ({ shard }) => beating(HEARTBEAT_MS, () => dispatcher.run(shard, cancellationSignal())),
    attemptWebhook: (key) => beating(HEARTBEAT_MS, () => attemptDelivery(deps, recorder, key)),
    probeEndpoint: (input) => beating(HEARTBEAT_MS, () => probeEndpoint(deps, recorder, input)),
  };
}
