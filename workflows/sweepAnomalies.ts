import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { AnomalyActivities } from '../activities/anomalies.ts';
import { watchInterval } from './interval.ts';

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
  for (let round = 0; round < ROUNDS; round++) {
    await sweepAnomalyRules();
    await sendAnomalyMails();
    await interval.pause();
  }
  await continueAsNew<typeof sweepAnomalies>({ intervalMs: interval.ms });
}
