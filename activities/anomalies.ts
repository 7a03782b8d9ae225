import { cancellationSignal } from '@temporalio/activity';
import type { AnomalyDeps } from '../services/anomalies/deps.ts';
import { sendAlertMails } from '../services/anomalies/mails.ts';
import type { SweptRules } from '../services/anomalies/sweep.ts';
import { sweepRules } from '../services/anomalies/sweep.ts';
import { beating } from './beating.ts';

/** The activities of `sweepAnomalies`. */
export interface AnomalyActivities {
  /** Judges every rule once, heart-beating. */
  sweepAnomalyRules(): Promise<SweptRules>;
  /** Sends the alert e-mail that is due, heart-beating; returns how many. */
  sendAnomalyMails(): Promise<number>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker. */
export function createAnomalyActivities(deps: AnomalyDeps): AnomalyActivities {
  return {
    sweepAnomalyRules: () => beating(HEARTBEAT_MS, () => sweepRules(deps, cancellationSignal())),
    sendAnomalyMails: () => beating(HEARTBEAT_MS, () => sendAlertMails(deps, cancellationSignal())),
  };
}
