import { proxyActivities } from '@temporalio/workflow';
import type { AnomalyActivities } from '../activities/anomalies.ts';
import { keepStatus } from './status.ts';

const OPTIONS = {
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '10m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
} as const;
const { sweepAnomalyRules } = proxyActivities<AnomalyActivities>({ ...OPTIONS, summary: 'judge every rule' });
const { sendAnomalyMails } = proxyActivities<AnomalyActivities>({ ...OPTIONS, summary: 'send the e-mail that is due' });

/** What a sweep over publishers' anomaly rules did. */
export interface AnomalySweepResult {
  readonly rules: number;
  readonly events: number;
  /** Rules that could not be judged. */
  readonly failures: number;
  readonly mails: number;
}

/** Judges publishers' anomaly rules, and sends the e-mail that came of it. Run by the schedule `sweepAnomalies`. */
export async function sweepAnomalies(): Promise<AnomalySweepResult> {
  const told = keepStatus({ state: 'judges rules' });
  const { rules, events, failures } = await sweepAnomalyRules();
  told.tell({ state: 'sends e-mail', rules, events, failures });
  const mails = await sendAnomalyMails();
  told.tell({ state: 'done', mails });
  return { rules, events, failures, mails };
}
