/** Runs of Temporal Schedules, asked of Temporal's own API as an operator asks. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';

/** The runs of a schedule that answer to `where` (a list filter), the newest first. The list is a moment behind. */
export async function runsOf(client: Client, scheduleId: string, where?: string): Promise<WorkflowExecutionInfo[]> {
  const query = [`TemporalScheduledById = '${scheduleId}'`, ...(where === undefined ? [] : [where])].join(' AND ');
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of client.workflow.list({ query })) runs.push(run);
  return runs.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
}

/** The run that a schedule began last; null before its first. */
export async function lastRunOf(client: Client, scheduleId: string): Promise<{ workflowId: string; runId: string } | null> {
  const { info } = await client.schedule.getHandle(scheduleId).describe();
  const last = info.recentActions.at(-1)?.action.workflow;
  return last ? { workflowId: last.workflowId, runId: last.firstExecutionRunId } : null;
}
