import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { AnomalyActivities } from '../activities/anomalies.ts';
import { watchInterval } from './interval.ts';
import { keepStatus } from './status.ts';

const { sweepAnomalyRules, sendAnomalyMails } = proxyActivities<AnomalyActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** How the sweep runs. */
export interface SweepAnomaliesInput {
  readonly intervalMs: number;
}

const ROUNDS = 200;

/** Judges publishers' anomaly rules for good, one sweep after the other, and sends the e-mail that came of it. Runs as `sweepAnomalies`. */
export async function sweepAnomalies(input: SweepAnomaliesInput): Promise<void> {
  const interval = watchInterval(input.intervalMs);
  const told = keepStatus({ state: 'judges rules' });
  for (let round = 0; round < ROUNDS; round++) {
    const { rules, events, failures } = await sweepAnomalyRules();
    const mails = await sendAnomalyMails();
    told.tell({ state: 'waits', 'last sweep': new Date().toISOString(), rules, events, 'rules not judged': failures, mails });
    await interval.pause();
  }
  await continueAsNew<typeof sweepAnomalies>({ intervalMs: interval.ms });
}
