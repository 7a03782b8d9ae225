import { raiseAlert } from '../../../db/alerts.ts';
import { ensureObservationPartitions } from '../../gate/store/observations.ts';
import type { Span } from '../../kernel/time/window.ts';
import { wholeDays } from '../../kernel/time/window.ts';
import type { RollupMismatch } from '../store/rollupCheck.ts';
import { findMismatches, gatherShards, listTenantIds, rebuildRollups } from '../store/rollupCheck.ts';
import type { ReportDeps } from './request.ts';

/** A site whose rollups did not add up, with some of the places. */
export interface SiteMismatch {
  readonly tenantId: string;
  readonly mismatches: readonly RollupMismatch[];
}

/** Makes the days ahead that a worker which runs for weeks would run out of: what comes later than the last has no place of its own. */
export async function keepDaysAhead(deps: Pick<ReportDeps, 'database'>): Promise<void> {
  await ensureObservationPartitions(deps.database);
}

/** What a check needs to be told. */
export interface RollupJob {
  /** How many days back, today included; null: everything. */
  readonly days: number | null;
  /** One site, or null for every one. */
  readonly tenantId: string | null;
  /** Called before each site and each piece of work on it. */
  readonly onSite?: () => void;
}

/**
 * Compares rollups with their rows (safety 23). A site that differs is rewritten from its rows and the operator is told; the
 * returned list says where. A second call finds nothing.
 */
export async function checkRollups(deps: ReportDeps, job: RollupJob): Promise<SiteMismatch[]> {
  const found: SiteMismatch[] = [];
  const days = daysOf(deps, job);
  await siteBySite(deps, job, async (tenantId) => {
    const mismatches = await findMismatches(deps.database, tenantId, days);
    if (mismatches.length === 0) return;
    await rebuildRollups(deps.database, tenantId, days);
    const [first] = mismatches;
    const detail = `${first?.table}: ${first?.detail.slice(0, 500)}`;
    await raiseAlert(deps.database, 'rollup_mismatch', detail, tenantId);
    found.push({ tenantId, mismatches });
  });
  return found;
}

/**
 * Gathers what keys are spread over into one row each, site by site, for days that are over, and into their months (`gatherShards`).
 * Returns how many rows were gathered; a second call finds none.
 */
export async function gatherRollups(deps: ReportDeps, job: RollupJob): Promise<number> {
  const days = daysOf(deps, job);
  let gathered = 0;
  await siteBySite(deps, job, async (tenantId) => {
    gathered += await gatherShards(deps.database, tenantId, days, job.onSite);
  });
  return gathered;
}

/** Rewrites rollups from their rows, site by site. */
export async function rebuildAll(deps: ReportDeps, job: RollupJob): Promise<number> {
  const sites = await sitesOf(deps, job);
  const days = daysOf(deps, job);
  for (const tenantId of sites) {
    job.onSite?.();
    await rebuildRollups(deps.database, tenantId, days);
  }
  return sites.length;
}

/**
 * Works on one site after the other. One that fails keeps no other from its turn: the operator is told of it, and the first failure is thrown
 * when all had theirs.
 */
async function siteBySite(deps: ReportDeps, job: RollupJob, work: (tenantId: string) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const tenantId of await sitesOf(deps, job)) {
    try {
      job.onSite?.();
      await work(tenantId);
    } catch (error) {
      failures.push(error);
      await raiseAlert(deps.database, 'night_failed', error instanceof Error ? error.message : String(error), tenantId);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function sitesOf(deps: ReportDeps, job: RollupJob): Promise<readonly string[]> {
  return job.tenantId === null ? await listTenantIds(deps.database) : [job.tenantId];
}

function daysOf(deps: ReportDeps, job: RollupJob): Span {
  return job.days === null ? { fromMs: 0, toMs: null } : wholeDays(deps.clock(), job.days);
}
