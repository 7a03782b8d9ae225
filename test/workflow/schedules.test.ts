import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scheduleReconciliation } from '../../modules/reconciliation/use/schedule.ts';
import { scheduleSweeps } from '../../modules/settlement/use/startWorkflows.ts';
import { ensureSchedule } from '../../platform/temporal/schedules.ts';
import { TASK_QUEUE } from '../../process/taskQueue.ts';
import { runServiceAdmin } from '../support/admin.ts';
import { scaled } from '../support/patience.ts';
import { runsOf } from '../support/scheduled.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

const NETWORK = 'eip155:84532';
const SWEEPS = `sweepPayments:${NETWORK}`;
const RECONCILIATION = `reconcileChain:${NETWORK}`;
const LONG = { timeout: scaled(60_000), interval: 200 };
const RUNNING = "ExecutionStatus = 'Running'";
let service: TestService;
let connection: Connection;
let client: Client;
const options = { networks: [NETWORK], taskQueue: TASK_QUEUE };

beforeAll(async () => {
  service = await startTestService({ apis: 0 });
  connection = await Connection.connect({ address: service.temporal.address });
  client = new Client({ connection, namespace: service.temporal.namespace });
});
afterAll(async () => {
  await connection?.close();
  await service?.stop();
});

const running = async (scheduleId: string) => (await runsOf(client, scheduleId, RUNNING)).map(({ workflowId }) => workflowId);
const triggered = async (scheduleId: string) => (await client.schedule.getHandle(scheduleId).describe()).info.numActionsTaken;

test('a worker makes every schedule, and each begins at once but for the night', async () => {
  const ids = [SWEEPS, RECONCILIATION, 'closeEventWindows', 'sweepAnomalies', 'sweepHosts'];
  for (const id of ids) await expect.poll(() => triggered(id), LONG).toBeGreaterThan(0);
  const { spec, policies, info } = await client.schedule.getHandle('checkRollups').describe();
  expect(spec.calendars?.[0]).toMatchObject({ hour: [{ start: 3 }], minute: [{ start: 20 }] });
  expect([policies.overlap, info.numActionsTaken]).toEqual(['SKIP', 0]);
});

test('a run of the sweeper that is due while one works follows it at once, and there are never two', async () => {
  const scheduleId = 'sweepPayments:slow';
  const args = [{ network: NETWORK, intervalMs: 2_000, looks: 3 }];
  await ensureSchedule(client, {
    ...options,
    scheduleId,
    workflow: 'sweepPayments',
    args,
    at: { everyMs: 2_000 },
    summary: 'slow',
  });
  const handle = client.schedule.getHandle(scheduleId);
  await expect.poll(() => triggered(scheduleId), LONG).toBeGreaterThan(3);
  const { info } = await handle.describe();
  await handle.delete();
  const runs = await Promise.all(
    info.recentActions.slice(0, 4).map(async ({ action, scheduledAt, takenAt }) => {
      const run = client.workflow.getHandle(action.workflow.workflowId);
      expect(await run.result()).toMatchObject({ state: 'nothing is open', batches: 0, purchases: 0 });
      return { scheduledAt, takenAt, closeTime: (await run.describe()).closeTime as Date };
    }),
  );
  for (const [at, run] of runs.entries()) {
    const before = runs[at - 1];
    if (before === undefined) continue;
    expect(run.takenAt.getTime()).toBeGreaterThanOrEqual(before.closeTime.getTime());
    // It was due while the one before worked; a run that is skipped is not made up for, and the next is due later.
    expect(run.scheduledAt.getTime()).toBeLessThan(before.closeTime.getTime());
  }
});

test('a worker that starts with another interval changes the schedule, and a run of the former one ends', async () => {
  // A run is named by its second: one that begins in the same is the same to the schedule.
  const [begun] = await runsOf(client, SWEEPS);
  await expect.poll(() => Date.now() - (begun?.startTime.getTime() ?? 0), LONG).toBeGreaterThan(2_000);
  await scheduleSweeps(client, { ...options, intervalMs: 600_000 });
  const everyMs = async () => (await client.schedule.getHandle(SWEEPS).describe()).spec.intervals?.[0]?.every;
  expect(await everyMs()).toBe(3_000_000);
  const argsOf = async () => {
    const { events } = await client.workflow.getHandle((await running(SWEEPS))[0] ?? '').fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    return JSON.parse(Buffer.from(payload ?? new Uint8Array()).toString('utf8') || 'null');
  };
  await expect.poll(() => argsOf().catch(() => null), LONG).toMatchObject({ intervalMs: 600_000 });
  const [long] = await running(SWEEPS);

  await service.startWorker({ SWEEP_INTERVAL_MS: '1000' });
  await expect.poll(async () => (await client.workflow.getHandle(long ?? '').describe()).status.name, LONG).toBe('TERMINATED');
  expect(await everyMs()).toBe(5_000);
  await expect.poll(() => argsOf().catch(() => null), LONG).toMatchObject({ intervalMs: 1_000 });
  const made = await triggered(SWEEPS);
  await scheduleSweeps(client, { ...options, intervalMs: 1_000 });
  expect(await triggered(SWEEPS)).toBeLessThanOrEqual(made + 1);
});

test('a schedule that is paused stays so when a worker starts, and the doctor says why', async () => {
  const schedule = client.schedule.getHandle(RECONCILIATION);
  await schedule.pause('the node is being replaced');
  await scheduleReconciliation(client, { ...options, intervalMs: 1_000 });
  const { state, spec } = await schedule.describe();
  expect([state, spec.intervals?.[0]?.every]).toMatchObject([{ paused: true, note: 'the node is being replaced' }, 1_000]);
  await expect.poll(() => running(RECONCILIATION), LONG).toEqual([]);
  const said = async () => {
    const { findings } = await runServiceAdmin(service, service.urls.appUrl, 'doctor');
    process.exitCode = 0; // the doctor says by it that parts are missing here
    return (findings as { check: string; state: string; found: string }[]).find(({ check }) => check === 'schedules');
  };
  const found = `paused: ${RECONCILIATION} (the node is being replaced)`;
  await expect.poll(said, LONG).toMatchObject({ state: 'warn', found });
  await schedule.unpause('it answers again');
  const made = await triggered(RECONCILIATION);
  await expect.poll(() => triggered(RECONCILIATION), LONG).toBeGreaterThan(made);
});
