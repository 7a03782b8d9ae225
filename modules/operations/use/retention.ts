import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import { KEPT_OBSERVATIONS_DAYS } from '../../../db/partitions.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import { dropOffers } from '../../licences/store/offers.ts';
import { listTenantIds } from '../../reports/store/rollupCheck.ts';
import { NIGHT } from '../store/onCall.ts';
import type { Ending, PlaceInTime } from '../store/retention.ts';
import {
  ACCOUNTS,
  AGENT_DIRECTORIES,
  AGENT_NAMES,
  BUDGET_ALERTS,
  CREDENTIALS,
  CREDITS_COPIES,
  FORMER_CREDITS,
  findProgress,
  forgetEvents,
  forgetSlice,
  MAILS,
  markProgress,
  REQUEST_KEYS,
  removeUserAgents,
  SHORT_LIVED,
  STRIKES,
  startOf,
  USAGE_REPORTS,
} from '../store/retention.ts';

/** For how long what is no money is kept, in days. */
export interface RetentionPeriods {
  /** Events, deliveries, attempts, alert e-mail, and alerts of budgets. */
  readonly webhooks: number;
  /** User-Agents as they were sent. */
  readonly userAgents: number;
  /** Credentials after they were revoked or ended, and registered clients after their last use. */
  readonly signIns: number;
}

/** What forgetting needs. */
export interface RetentionDeps {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly retention: RetentionPeriods;
  readonly metrics: Metrics;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of one statement, and how long others have the database to themselves after each: some thousand rows a second at most. */
const SLICE = 1_000;
const PAUSE_MS = 50;
/** The tables whose User-Agents are gone through; each has its own progress. */
const WITH_USER_AGENTS = ['observation', 'payment'] as const;

/** Notes that the nightly round ended well, for the gauge of its age. */
export async function noteNight({ database, clock }: Pick<RetentionDeps, 'database' | 'clock'>): Promise<void> {
  await markProgress(database, NIGHT, new Date(clock()));
}

/**
 * Forgets what has ended, in slices with pauses: what only served while it lasted (with hours to spare, so that no clock can disagree),
 * and what is kept for a configured time. Returns how many rows. A second call finds nothing; one that was interrupted goes on.
 */
export async function forgetWhatEnded(deps: RetentionDeps): Promise<number> {
  const before = (ms: number): Date => new Date(deps.clock() - ms);
  const { retention } = deps;
  const ended = async (list: readonly Ending[], at: Date): Promise<number> => {
    let gone = 0;
    for (const one of list) gone += await slices(deps, one.kind, () => forgetSlice(deps.database, one, at, SLICE));
    return gone;
  };
  const gone = [
    await ended([...SHORT_LIVED, FORMER_CREDITS], before(HOUR_MS)),
    await ended([REQUEST_KEYS], before(48 * HOUR_MS)),
    await ended([USAGE_REPORTS, CREDITS_COPIES], before(KEPT_OBSERVATIONS_DAYS * DAY_MS)),
    await ended([STRIKES], before(2 * HOUR_MS)),
    await ended([AGENT_DIRECTORIES], before(7 * DAY_MS)),
    await ended([AGENT_NAMES], before(10 * DAY_MS)),
    await slices(deps, 'licence_offer', () => dropOffers(deps.database, before(HOUR_MS), SLICE)),
    await ended([...CREDENTIALS, ACCOUNTS], before(retention.signIns * DAY_MS)), // a client goes before its account
    await ended([MAILS, BUDGET_ALERTS], before(retention.webhooks * DAY_MS)),
    await forgetOldEvents(deps, before(retention.webhooks * DAY_MS)),
    await forgetUserAgents(deps, before(retention.userAgents * DAY_MS)),
  ];
  return gone.reduce((sum, rows) => sum + rows, 0);
}

/** Takes slices until one is not full. */
async function slices({ metrics }: RetentionDeps, kind: string, take: () => Promise<number>): Promise<number> {
  for (let gone = 0; ; await sleep(PAUSE_MS)) {
    const rows = await take();
    gone += rows;
    if (rows > 0) metrics.count('svc.retention.rows', rows, { kind });
    if (rows < SLICE) return gone;
  }
}

async function forgetOldEvents(deps: RetentionDeps, before: Date): Promise<number> {
  let gone = 0;
  for (const tenantId of await listTenantIds(deps.database)) {
    gone += await slices(deps, 'webhook_event', () => forgetEvents(deps.database, tenantId, before, SLICE));
  }
  return gone;
}

/** Rows stay with all they count for; only the text goes. What was gone through is noted, so that each row is read once. */
async function forgetUserAgents(deps: RetentionDeps, before: Date): Promise<number> {
  let gone = 0;
  for (const table of WITH_USER_AGENTS) {
    const what = `user_agents_${table}`;
    const from = (await findProgress(deps.database, what)) ?? new Date(0);
    for (const tenantId of await listTenantIds(deps.database)) {
      let after: PlaceInTime | null = startOf(from);
      while (after !== null) {
        const slice = { tenantId, after, before, most: SLICE };
        const { removed, next } = await removeUserAgents(deps.database, table, slice);
        gone += removed;
        if (removed > 0) deps.metrics.count('svc.retention.rows', removed, { kind: what });
        if (next !== null) await sleep(PAUSE_MS);
        after = next;
      }
    }
    await markProgress(deps.database, what, before);
  }
  return gone;
}
