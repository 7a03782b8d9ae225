import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';

/** Sees to it that anomaly rules are judged every `intervalMs`. A second call changes nothing but the interval. */
export async function scheduleAnomalySweep(
  client: Client,
  { taskQueue, intervalMs }: { readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  await ensureSchedule(client, {
    scheduleId: 'sweepAnomalies',
    workflow: 'sweepAnomalies',
    taskQueue,
    args: [],
    at: { everyMs: intervalMs },
    summary: "publishers' anomaly rules judged once",
  });
}
