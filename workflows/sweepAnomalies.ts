import { proxyActivities } from '@temporalio/workflow';
import type { AnomalyActivities } from '../activities/anomalies.ts';
import { keepStatus } from './status.ts';

const { sweepAnomalyRules } = proxyActivities<AnomalyActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '10m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'judge every rule',
});

/** What a sweep over publishers' anomaly rules did. */
export interface AnomalySweepResult {
  readonly rules: number;
  readonly events: number;
  /** Rules that could not be judged. */
  readonly failures: number;
}

/** Judges publishers' anomaly rules; what they fire is sent by others. Run by the schedule `sweepAnomalies`. */
export async function sweepAnomalies(): Promise<AnomalySweepResult> {
  const told = keepStatus({ state: 'judges rules' });
  const { rules, events, failures } = await sweepAnomalyRules();
  told.tell({ state: 'done', rules, events, failures });
  return { rules, events, failures };
}
