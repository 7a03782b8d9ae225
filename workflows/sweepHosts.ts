import { ParentClosePolicy, proxyActivities, startChild } from '@temporalio/workflow';
import type { HostActivities } from '../activities/hosts.ts';
import { hostStart } from '../modules/hosts/rules/hostStart.ts';
import { keepStatus } from './status.ts';

const { findOverdueHosts } = proxyActivities<HostActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '4m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'hosts whose check is overdue',
});

/** What a sweep over hosts did. */
export interface HostSweepResult {
  /** Hosts that had lost their workflow, and have it again. */
  readonly hosts: number;
}

/**
 * Gives hosts that lost their workflow another one, as after a loss of Temporal: their checks are long overdue, since nothing else keeps the time. One
 * that has its workflow, and is late since something is away, keeps it. Run by the schedule `sweepHosts`.
 */
export async function sweepHosts(): Promise<HostSweepResult> {
  const told = keepStatus({ state: 'looks' });
  const overdue = await findOverdueHosts();
  const started = await Promise.all(overdue.map(startOf));
  const hosts = started.filter(Boolean).length;
  told.tell({ state: 'done', overdue: overdue.length, 'given a workflow': hosts });
  return { hosts };
}

/** False: it has its workflow. */
async function startOf(key: { readonly tenantId: string; readonly host: string }): Promise<boolean> {
  try {
    await startChild('verifyHost', { ...hostStart(key), parentClosePolicy: ParentClosePolicy.ABANDON });
    return true;
  } catch (error) {
    if ((error as { name?: unknown }).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
    return false;
  }
}
