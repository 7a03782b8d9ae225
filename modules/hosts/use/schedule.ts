import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';

/** A host that lost its workflow is checked again within this and `OVERDUE_MS` (use/check.ts) of the check that it missed. */
const EVERY_MS = 300_000;

/** Sees to it that hosts which lost their workflow get another one. A second call changes nothing. */
export async function scheduleHostSweep(client: Client, taskQueue: string): Promise<void> {
  await ensureSchedule(client, {
    scheduleId: 'sweepHosts',
    workflow: 'sweepHosts',
    taskQueue,
    args: [],
    at: { everyMs: EVERY_MS },
    summary: 'hosts whose check is overdue, given a workflow',
  });
}
