import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  log,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { HostActivities } from '../activities/hosts.ts';

/** What a host's workflow is started with; `nextAtMs` (epoch milliseconds) only by itself. */
export interface VerifyHostInput {
  readonly tenantId: string;
  readonly host: string;
  readonly nextAtMs?: number;
}

type Report = Awaited<ReturnType<HostActivities['checkHost']>>;

const scheduled = proxyActivities<HostActivities>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' },
});
/** Somebody waits for these. */
const asked = proxyActivities<HostActivities>({
  startToCloseTimeout: '10s',
  scheduleToCloseTimeout: '12s',
  retry: { initialInterval: '200ms', maximumAttempts: 3 },
});

const ROUNDS = 40;
const opened = defineUpdate<void>('opened');
const check = defineUpdate<Report['outcome']>('check');

/**
 * Looks after one host of one tenant, as `host:<tenantId>:<host>`: checks the open challenge on a back-off schedule and
 * when asked, rechecks a verified host daily, and has the routing probe look. What is due, and every decision, stands in rows: this
 * only keeps the time. Ends when the challenge is gone or its token died unproven; opening it again starts it anew.
 */
export async function verifyHost(input: VerifyHostInput): Promise<string> {
  const key = { tenantId: input.tenantId, host: input.host };
  let nextAtMs: number | null = input.nextAtMs ?? null;
  let isBusy = false;
  let rounds = 0;

  const dueIn = (ms: number | null): void => {
    nextAtMs = ms === null ? null : Date.now() + ms;
  };
  /** One at a time: two checks at once would judge the same state twice. */
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    while (isBusy) await condition(() => !isBusy); // several wake at once: the first takes it
    isBusy = true;
    rounds += 1;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  };
  const checkOnce = async (kind: 'manual' | 'scheduled'): Promise<Report['outcome']> => {
    const { outcome, nextInMs } = await (kind === 'manual' ? asked : scheduled).checkHost({ ...key, kind });
    dueIn(nextInMs);
    if (outcome.verified) await probeRouting(key);
    return outcome;
  };

  setHandler(opened, () => alone(async () => dueIn(await asked.lookAtHost(key))));
  setHandler(check, () => alone(() => checkOnce('manual')));

  if (nextAtMs === null) await alone(async () => dueIn(await scheduled.lookAtHost(key)));
  while (nextAtMs !== null) {
    const dueAtMs: number = nextAtMs;
    const hasMoved = await condition(() => nextAtMs !== dueAtMs, Math.max(1, dueAtMs - Date.now()));
    if (!hasMoved) await alone(() => checkOnce('scheduled'));
    if (nextAtMs !== null && (rounds >= ROUNDS || workflowInfo().continueAsNewSuggested)) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof verifyHost>({ ...key, nextAtMs });
    }
  }
  await condition(allHandlersFinished);
  return 'ended';
}

/** The probe serves the status page only: its failure holds up nothing. */
async function probeRouting(key: { tenantId: string; host: string }): Promise<void> {
  try {
    await asked.probeHostRouting(key);
  } catch (error) {
    log.warn('the routing of a host could not be probed', { host: key.host, error: String(error) });
  }
}
