import type { Client } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';

const SCHEDULE_ID = 'checkRollups';
/** Reports may come a week late, so a week and more is looked at. */
const DAYS = 35;

/** Sees to it that rollups are compared with their rows every night, 03:20 UTC. A second call changes nothing. */
export async function scheduleRollupCheck(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: SCHEDULE_ID,
      spec: { calendars: [{ hour: 3, minute: 20 }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      action: { type: 'startWorkflow', workflowType: 'checkRollups', taskQueue, args: [{ days: DAYS }] },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
