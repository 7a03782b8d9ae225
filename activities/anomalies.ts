import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { AnomalyDeps } from '../services/anomalies/deps.ts';
import { sendAlertMails } from '../services/anomalies/mails.ts';
import type { SweptRules } from '../services/anomalies/sweep.ts';
import { sweepRules } from '../services/anomalies/sweep.ts';

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
    sweepAnomalyRules: () => beating(() => sweepRules(deps, cancellationSignal())),
    sendAnomalyMails: () => beating(() => sendAlertMails(deps, cancellationSignal())),
  };
}

async function beating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
