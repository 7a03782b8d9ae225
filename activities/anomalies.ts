import { cancellationSignal } from '@temporalio/activity';
import type { AnomalyDeps } from '../modules/anomalies/use/deps.ts';
import type { SweptRules } from '../modules/anomalies/use/sweep.ts';
import { sweepRules } from '../modules/anomalies/use/sweep.ts';
import { beating } from './beating.ts';

/** The activity of `sweepAnomalies`. */
export interface AnomalyActivities {
  /** Judges every rule once, heart-beating. */
  sweepAnomalyRules(): Promise<SweptRules>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker. */
export function createAnomalyActivities(deps: AnomalyDeps): AnomalyActivities {
  return { sweepAnomalyRules: () => beating(HEARTBEAT_MS, () => sweepRules(deps, cancellationSignal())) };
}
