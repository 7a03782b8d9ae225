import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';

/** Operators move once in weeks; a gate believes what a list does not name for 14 days. */
const EVERY_MS = 86_400_000;

/** Sees to it that the addresses of robots are read every day, and at once where they never were. A second call changes nothing. */
export async function scheduleAddressRefresh(client: Client, taskQueue: string): Promise<void> {
  await ensureSchedule(client, {
    scheduleId: 'refreshAddresses',
    workflow: 'refreshAddresses',
    taskQueue,
    args: [],
    at: { everyMs: EVERY_MS },
    summary: 'addresses of robots read as their operators publish them',
  });
}
