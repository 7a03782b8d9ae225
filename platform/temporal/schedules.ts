import type { Client, ScheduleOptions } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Attributes } from '../../modules/kernel/workflow/attributes.ts';
import { pairsOf } from '../../modules/kernel/workflow/attributes.ts';
import { TASK_TIMEOUT } from '../../modules/kernel/workflow/taskTimeout.ts';

/** Work that begins again and again: a Temporal Schedule, each of whose runs is a workflow that ends with a result. */
export interface Scheduled {
  /** Of the schedule; its runs are named `<scheduleId>-<time>`. */
  readonly scheduleId: string;
  readonly workflow: keyof typeof SCHEDULED;
  readonly taskQueue: string;
  readonly args: readonly unknown[];
  /** Every so many ms, rounded up to a whole second, which is the finest that a schedule knows, and at once when it is new; or each day (UTC). */
  readonly at: { readonly everyMs: number } | { readonly hour: number; readonly minute: number };
  /** What a run is for, in Temporal's UI. */
  readonly summary: string;
  readonly attributes?: Attributes;
}

/**
 * The workflows that schedules start, and what becomes of a run that is due while the one before still works: it is skipped, or follows at
 * once where a pause until the next one would be too long; there, one that failed is begun again, too. Never are there two.
 */
const SCHEDULED = {
  sweepPayments: 'FOLLOWS',
  reconcileChain: 'FOLLOWS',
  closeEventWindows: 'FOLLOWS',
  sweepAnomalies: 'SKIPPED',
  sweepHosts: 'SKIPPED',
  checkRollups: 'SKIPPED',
  refreshAddresses: 'SKIPPED',
} as const;

/**
 * Which errors end a run: all of them, those of replaying it with other code included, since the next run begins from the rows. For
 * `workflowFailureErrorTypes` of a worker; every other workflow waits for code that can go on with it.
 */
export const RUNS_THAT_FAIL = { '*': [], ...Object.fromEntries(Object.keys(SCHEDULED).map((workflow) => [workflow, ['Error']])) };

const SECOND_MS = 1_000;
/** How a run that failed is begun again, where the next one must not be waited for. */
const AGAIN = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' } as const;
/** How long after its time a run that Temporal's absence kept from beginning is made up for: a night's until noon, any other until the next. */
const CATCH_UP = { night: '9h', leastMs: 10_000 } as const;

/**
 * Sees to it that the schedule is there as it is described here; every worker calls it at its start. One that is there takes over what has
 * changed and keeps its pause and its note; when its interval has changed, a run under the former one ends and the next begins at once. A second
 * call changes nothing; of workers that differ, the one that starts last is right.
 */
export async function ensureSchedule(client: Client, scheduled: Scheduled): Promise<void> {
  const { scheduleId, at } = scheduled;
  const options = optionsOf(scheduled);
  const handle = client.schedule.getHandle(scheduleId);
  const isOften = 'everyMs' in at;
  try {
    await client.schedule.create({ ...options, scheduleId });
    // Not `triggerImmediately`: it would let this run and the first one by time work together.
    if (isOften) await handle.trigger(options.policies.overlap);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    let isStale = false;
    await handle.update((before) => {
      isStale = isOften && !before.state.paused && before.spec.intervals?.[0]?.every !== wholeSeconds(at.everyMs);
      return { ...options, state: before.state };
    });
    if (isStale) await handle.trigger(ScheduleOverlapPolicy.TERMINATE_OTHER);
  }
}

/** The schedules that somebody paused, with the note that says why. The list is a moment behind. */
export async function pausedSchedules(client: Client): Promise<{ readonly scheduleId: string; readonly note: string }[]> {
  const paused: { readonly scheduleId: string; readonly note: string }[] = [];
  for await (const { scheduleId, state } of client.schedule.list()) {
    if (state.paused) paused.push({ scheduleId, note: state.note ?? '' });
  }
  return paused;
}

function optionsOf({ scheduleId, workflow, taskQueue, args, at, summary, attributes }: Scheduled) {
  const follows = SCHEDULED[workflow] === 'FOLLOWS';
  const overlap = follows ? ScheduleOverlapPolicy.BUFFER_ONE : ScheduleOverlapPolicy.SKIP;
  const catchupWindow = 'everyMs' in at ? Math.max(wholeSeconds(at.everyMs), CATCH_UP.leastMs) : CATCH_UP.night;
  return {
    spec: 'everyMs' in at ? { intervals: [{ every: wholeSeconds(at.everyMs) }] } : { calendars: [at] },
    policies: { overlap, catchupWindow },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: scheduleId,
      taskQueue,
      args: [...args],
      workflowTaskTimeout: TASK_TIMEOUT,
      ...(follows && { retry: AGAIN }),
      staticSummary: summary,
      typedSearchAttributes: pairsOf(attributes ?? {}),
    },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
}

function wholeSeconds(ms: number): number {
  return SECOND_MS * Math.ceil(ms / SECOND_MS);
}
