import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { siteKey } from '../modules/kernel/workflow/attributes.ts';
import type { RecoveryStart } from '../modules/webhooks/rules/recovery.ts';
import { keepStatus } from './status.ts';

const { probeEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '40s',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const ROUNDS = 200;

/**
 * Probes an endpoint that cools after ten failures in a row, with pauses that grow, until its receiver answers again, it is disabled
 * or nothing waits for it (safety 21). Runs as `recoverEndpoint:<endpointId>`, one an endpoint, and returns why it ended; `Outcome`: `cooling`, then that.
 */
export async function recoverEndpoint(start: RecoveryStart): Promise<string> {
  let { round } = start;
  const told = keepStatus({ state: 'cooling', endpoint: start.endpointId, site: start.tenantId });
  told.tell({}, { EndpointId: start.endpointId, SiteIds: [siteKey(start.tenantId)], Outcome: 'cooling' });
  for (let step = 0; step < ROUNDS; step++) {
    const outcome = await probeEndpoint({ ...start, round });
    if (outcome.kind === 'ended') {
      told.tell({ state: outcome.why, 'next probe': null }, { Outcome: outcome.why });
      return outcome.why;
    }
    round = outcome.round;
    told.tell({ probes: round, 'next probe': new Date(Date.now() + outcome.waitMs).toISOString() });
    await sleep(outcome.waitMs, { summary: 'next probe' });
  }
  return await continueAsNew<typeof recoverEndpoint>({ ...start, round });
}
