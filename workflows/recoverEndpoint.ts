import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import type { RecoveryStart } from '../modules/webhooks/rules/recovery.ts';

const { probeEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '40s',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const ROUNDS = 200;

/**
 * Probes an endpoint that cools after ten failures in a row, with pauses that grow, until its receiver answers again, it is disabled
 * or nothing waits for it (safety 21). Runs as `recoverEndpoint:<endpointId>`, one an endpoint, and returns why it ended.
 */
export async function recoverEndpoint(start: RecoveryStart): Promise<string> {
  let { round } = start;
  for (let step = 0; step < ROUNDS; step++) {
    const outcome = await probeEndpoint({ ...start, round });
    if (outcome.kind === 'ended') return outcome.why;
    round = outcome.round;
    await sleep(outcome.waitMs);
  }
  return await continueAsNew<typeof recoverEndpoint>({ ...start, round });
}
