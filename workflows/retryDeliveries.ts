import { condition, continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { siteKey } from '../modules/kernel/workflow/attributes.ts';
import type { RetryStart, RetryWait } from '../modules/webhooks/rules/retrying.ts';
import { keepStatus } from './status.ts';

const { retryDue } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'attempts that are due, and the probe',
});

const ROUNDS = 200;
const due = defineSignal<[number]>('due');

/**
 * Looks after one webhook receiver that does not answer: keeps the time of its deliveries' later attempts and, while its endpoint
 * cools, of the probes. What is due, and every decision, stands in rows. Runs as `endpoint:<endpointId>`, and returns why it ended:
 * `recovered`, `disabled`, or `nothing_waits`. The signal `due` says in how many ms something is due, 0 after rows were changed.
 * `Outcome`: `retrying`, `cooling` or `paused`, then why it ended.
 */
export async function retryDeliveries(start: RetryStart): Promise<string> {
  const { tenantId, endpointId } = start;
  let { probes } = start;
  let outcome = 'retrying';
  let dueAtMs = Number.POSITIVE_INFINITY;
  const told = keepStatus({ state: outcome, endpoint: endpointId, site: tenantId });
  told.tell({}, { EndpointId: endpointId, SiteIds: [siteKey(tenantId)], Outcome: outcome });
  setHandler(due, (inMs) => {
    dueAtMs = Math.min(dueAtMs, Date.now() + inMs);
  });
  for (let round = 0; round < ROUNDS && !isLong(); round++) {
    dueAtMs = Number.POSITIVE_INFINITY;
    const step = await retryDue({ tenantId, endpointId, probes });
    const state = step.kind === 'waits' ? step.state : step.why;
    const isNew = state !== outcome;
    outcome = state;
    if (step.kind === 'ended') {
      // A signal that came during the step may be of a failure that it did not see.
      if (dueAtMs === Number.POSITIVE_INFINITY) {
        told.tell({ state, ...NOTHING_WAITS }, { Outcome: state });
        return state;
      }
      probes = 0;
    } else {
      probes = step.probes;
      dueAtMs = Math.min(dueAtMs, Date.now() + step.waitMs);
      told.tell({ state, ...waitOf(step), 'due at': new Date(dueAtMs).toISOString() }, isNew ? { Outcome: state } : undefined);
    }
    await untilDue();
  }
  return await continueAsNew<typeof retryDeliveries>({ tenantId, endpointId, probes });

  /** A signal may bring the time forward. Many that bring nothing make a history long, too: then another run waits on. */
  async function untilDue(): Promise<void> {
    for (let atMs = dueAtMs; atMs > Date.now() && !isLong(); atMs = dueAtMs) {
      const hasMoved = await condition(() => dueAtMs < atMs || isLong(), atMs - Date.now(), { summary: 'next attempt' });
      if (!hasMoved) return;
    }
  }
}

function isLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

const NOTHING_WAITS = { deliveries: 0, next: null, probes: null, 'last failure': null, 'due at': null };

function waitOf({ deliveries, next, probes, reason }: RetryWait): Record<string, string | number | null> {
  const attempt = next === null || next === 'probe' ? next : `attempt ${next}`;
  return { deliveries, next: attempt, probes: probes === 0 ? null : probes, 'last failure': reason };
}
