import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';

/** Reports may come a week late, so a week and more is looked at. */
const DAYS = 35;

/** Sees to it that rollups are compared with their rows every night, 03:20 UTC. A second call changes nothing. */
export async function scheduleRollupCheck(client: Client, taskQueue: string): Promise<void> {
  await ensureSchedule(client, {
    scheduleId: 'checkRollups',
    workflow: 'checkRollups',
    taskQueue,
    args: [{ days: DAYS }],
    at: { hour: 3, minute: 20 },
    summary: 'sums compared with their rows, and what ended forgotten',
  });
}
