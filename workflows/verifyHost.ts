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
import { siteKey } from '../modules/kernel/workflow/attributes.ts';
import { keepStatus } from './status.ts';

/** What a host's workflow is started with; `nextAtMs` (epoch milliseconds) only by itself. */
export interface VerifyHostInput {
  readonly tenantId: string;
  readonly host: string;
  readonly nextAtMs?: number;
  /** Only by itself. */
  readonly outcome?: string;
}

type Report = Awaited<ReturnType<HostActivities['checkHost']>>;

const scheduled = proxyActivities<HostActivities>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' },
  summary: 'when it was due',
});
const QUICK = {
  startToCloseTimeout: '10s',
  scheduleToCloseTimeout: '12s',
  retry: { initialInterval: '200ms', maximumAttempts: 3 },
} as const;
const asked = proxyActivities<HostActivities>({ ...QUICK, summary: 'for somebody who waits' });
const { probeHostRouting } = proxyActivities<HostActivities>({ ...QUICK, summary: 'where the name leads' });

const ROUNDS = 40;
const opened = defineUpdate<void>('opened');
const check = defineUpdate<Report['outcome']>('check');

/**
 * Looks after one host of one tenant, as `host:<tenantId>:<host>`: checks the open challenge on a back-off schedule and
 * when asked, rechecks a verified host daily, and has the routing probe look. What is due, and every decision, stands in rows: this
 * only keeps the time. Ends when the challenge is gone or its token died unproven; opening it again starts it anew. `Outcome`:
 * `waits_for_proof`, `verified` or `ended`.
 */
export async function verifyHost(input: VerifyHostInput): Promise<string> {
  const key = { tenantId: input.tenantId, host: input.host };
  let nextAtMs: number | null = input.nextAtMs ?? null;
  let isBusy = false;
  let rounds = 0;
  let outcome = input.outcome ?? 'waits_for_proof';
  const told = keepStatus({ state: outcome, host: key.host, site: key.tenantId });
  told.tell({}, { Host: key.host, SiteIds: [siteKey(key.tenantId)], Outcome: outcome });
  const dueIn = (ms: number | null): void => {
    nextAtMs = ms === null ? null : Date.now() + ms;
    told.tell({ 'next look': nextAtMs === null ? null : new Date(nextAtMs).toISOString() });
  };
  const becomes = (word: string, why: string | null): void => {
    const isNew = word !== outcome;
    outcome = word;
    told.tell({ state: word, why }, isNew ? { Outcome: word } : undefined);
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
    const { outcome: found, nextInMs } = await (kind === 'manual' ? asked : scheduled).checkHost({ ...key, kind });
    dueIn(nextInMs);
    told.tell({ 'last look': new Date().toISOString() });
    becomes(found.verified ? 'verified' : 'waits_for_proof', found.verified ? null : found.reason);
    if (found.verified) await probeRouting(key);
    return found;
  };

  setHandler(opened, () => alone(async () => dueIn(await asked.lookAtHost(key))));
  setHandler(check, () => alone(() => checkOnce('manual')));

  if (nextAtMs === null) await alone(async () => dueIn(await scheduled.lookAtHost(key)));
  while (nextAtMs !== null) {
    const dueAtMs: number = nextAtMs;
    const hasMoved = await condition(() => nextAtMs !== dueAtMs, Math.max(1, dueAtMs - Date.now()), {
      summary: 'next look',
    });
    if (!hasMoved) await alone(() => checkOnce('scheduled'));
    if (nextAtMs !== null && (rounds >= ROUNDS || workflowInfo().continueAsNewSuggested)) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof verifyHost>({ ...key, nextAtMs, outcome });
    }
  }
  await condition(allHandlersFinished);
  becomes('ended', null);
  return 'ended';
}

/** The probe serves the status page only: its failure holds up nothing. */
async function probeRouting(key: { tenantId: string; host: string }): Promise<void> {
  try {
    await probeHostRouting(key);
  } catch (error) {
    log.warn('the routing of a host could not be probed', { host: key.host, error: String(error) });
  }
}
