import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { AttemptOutcome } from '../domain/webhook/retry.ts';
import type { AttemptKey } from '../services/webhooks/attempt.ts';
import { attemptDelivery } from '../services/webhooks/attempt.ts';
import type { ClosedWindows } from '../services/webhooks/closeWindows.ts';
import type { WebhookDeps } from '../services/webhooks/deps.ts';
import { createDispatcher } from '../services/webhooks/dispatch.ts';
import { keepClosing } from '../services/webhooks/keepClosing.ts';
import { createRecorder } from '../services/webhooks/recorder.ts';

/** The activities of the three webhook workflows. */
export interface WebhookActivities {
  /** Closes event windows as they end; about a minute at most, heart-beating. */
  closeWindows(): Promise<ClosedWindows>;
  /** Makes first attempts for one shard; at most 5 minutes, heart-beating. */
  dispatchDeliveries(input: { readonly shard: number }): Promise<'again' | 'retired'>;
  /** Makes one later attempt of one delivery, heart-beating. */
  attemptWebhook(key: AttemptKey): Promise<AttemptOutcome>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker: what is in flight and what waits to be written is shared by all its activities. */
export function createWebhookActivities(deps: WebhookDeps): WebhookActivities {
  const recorder = createRecorder(deps.database, deps.metrics);
  const dispatcher = createDispatcher(deps, recorder);
  return {
    closeWindows: () => beating(() => keepClosing(deps, cancellationSignal())),
    dispatchDeliveries: ({ shard }) => beating(() => dispatcher.run(shard, cancellationSignal())),
    attemptWebhook: (key) => beating(() => attemptDelivery(deps, recorder, key)),
  };
}

/** Beats while the work goes on, so that the server soon notices a worker that died. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
