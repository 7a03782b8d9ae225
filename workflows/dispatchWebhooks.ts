import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { keepStatus } from './status.ts';

const { dispatchDeliveries } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '30s' },
  summary: 'first attempts, for five minutes at most',
});

/**
 * Keeps the first attempts of one shard going, one activity after the other, each in a run of its own (safety 21). Runs as
 * `dispatchWebhooks:<shard>`; ends when the shard is no longer configured.
 */
export async function dispatchWebhooks(input: { readonly shard: number }): Promise<void> {
  keepStatus({ state: 'sends first attempts', shard: input.shard });
  const outcome = await dispatchDeliveries(input);
  if (outcome === 'again') await continueAsNew<typeof dispatchWebhooks>(input);
}
