import { cancellationSignal } from '@temporalio/activity';
import type { AttemptOutcome } from '../domain/webhook/deliveryWorkflow.ts';
import type { ProbeOutcome, RecoveryStart } from '../domain/webhook/recovery.ts';
import type { AttemptKey } from '../services/webhooks/attempt.ts';
import { attemptDelivery } from '../services/webhooks/attempt.ts';
import type { ClosedWindows } from '../services/webhooks/closeWindows.ts';
import type { WebhookDeps } from '../services/webhooks/deps.ts';
import { createDispatcher } from '../services/webhooks/dispatch.ts';
import { keepClosing } from '../services/webhooks/keepClosing.ts';
import { probeEndpoint } from '../services/webhooks/probe.ts';
import { createRecorder } from '../services/webhooks/recorder.ts';
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
