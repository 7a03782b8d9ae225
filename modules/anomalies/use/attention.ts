/** What of a site needs a look now: a few rows of each kind, each read by itself, from indexes, small tables and rollups. */

import { enforcementStatus } from '../../gate/use/enforcement.ts';
import type { EnforcementStatus } from '../../hosts/rules/enforcementStatus.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { Prices } from '../../pricing/rules/pricing.ts';
import { chargedPrices } from '../../pricing/rules/pricing.ts';
import { findPricing } from '../../pricing/store/pricing.ts';
import { sumObservations } from '../../reports/store/audit/observations.ts';
import type { WaitingStage, WaitingSum } from '../../reports/store/lists/waiting.ts';
import { sumWaiting } from '../../reports/store/lists/waiting.ts';
import { countFailing } from '../../reports/store/lists/webhooks.ts';
import { totalsOf } from '../../reports/use/audit.ts';
import type { AgentTotals } from '../../reports/use/lists/agents.ts';
import { readAgents } from '../../reports/use/lists/agents.ts';
import type { Endpoint, Host, SoldLicence } from '../../reports/use/lists/lists.ts';
import { endpoints, hosts, soldLicences } from '../../reports/use/lists/lists.ts';
import type { ReportSite } from '../../reports/use/request.ts';
import { readShortReport } from '../../reports/use/request.ts';
import { MAX_FAILING } from '../../reports/use/webhookTimes.ts';
import type { ShownRule } from './rules.ts';
import { listRules } from './rules.ts';

/** Most hosts, and most licences, that are named; how many there are is counted apart. */
export const MAX_LISTED = 20;
/** Most agents that are named of those that others pretended to be. */
export const MAX_PRETENDED = 5;
/** How far back requests are looked at, and how far ahead the ends of licences. */
export const LOOK_BACK_MS = 7 * 86_400_000;
export const LOOK_AHEAD_MS = 14 * 86_400_000;

/** Most hosts that are judged: a site has no more. */
const MAX_HOSTS = 1_000;

/** A host somebody should look at. */
export interface HostToLookAt extends Host {
  readonly status: EnforcementStatus;
}

/** A price that was stored below the lowest one, and what is charged in its place. */
export interface RaisedPrice {
  readonly stored: Prices;
  readonly charged: Prices;
}

/** Money of live payments by where they stand; every stage is there. Throws database_unavailable, as all of these. */
export async function waitingMoney(
  { reading }: ReadingDeps,
  tenantId: string,
): Promise<Readonly<Record<WaitingStage | 'total', WaitingSum>>> {
  const sums = await sumWaiting(reading, tenantId);
  const of = (stage: WaitingStage): WaitingSum => sums.get(stage) ?? { payments: 0, micro: 0n, oldestAtMs: null };
  const all = [...sums.values()];
  const oldest = all.flatMap(({ oldestAtMs }) => oldestAtMs ?? []);
  const total = {
    payments: all.reduce((sum, { payments }) => sum + payments, 0),
    micro: all.reduce((sum, { micro }) => sum + micro, 0n),
    oldestAtMs: oldest.length === 0 ? null : Math.min(...oldest),
  };
  return { total, unsettled: of('unsettled'), unfinal: of('unfinal'), review: of('review') };
}

/** Endpoints that fail, or were switched off since they did. */
export async function failingEndpoints(deps: ReadingDeps, tenantId: string, most: number): Promise<Endpoint[]> {
  const page = await endpoints.page(deps, tenantId, { isFailing: true }, { first: most, after: null, orderBy: 'OLDEST' });
  return page.rows.map(({ row }) => row);
}

/** How many deliveries fail now, counted up to 1,000. */
export function failingDeliveries({ reading }: ReadingDeps, tenantId: string): Promise<number> {
  return countFailing(reading, { tenantId, endpointId: null }, MAX_FAILING);
}

/**
 * The hosts that somebody should look at, by name: not proven or not held, failing their rechecks, or with a gate that said within seven
 * days that it served pages free while we were away.
 */
export async function hostsToLookAt(deps: ReadingDeps, tenantId: string): Promise<HostToLookAt[]> {
  const { hosts: found } = await enforcementStatus({ ...deps, database: deps.reading }, tenantId);
  const byHost = new Map(found.map((status) => [status.host, status]));
  const { rows } = await hosts.page(deps, tenantId, {}, { first: MAX_HOSTS, after: null, orderBy: 'NAME' });
  const sinceMs = deps.clock() - LOOK_BACK_MS;
  return rows.flatMap(({ row }) => {
    const status = byHost.get(row.host);
    if (!status) return [];
    const needsLook = status.attention || row.failingSince !== null || (status.failedOpenAtMs ?? 0) >= sinceMs;
    return needsLook ? [{ ...row, status }] : [];
  });
}

/** The licences in force that end within fourteen days, the first to end first; more than `MAX_LISTED` are not named. */
export async function licencesEnding(deps: ReadingDeps, tenantId: string): Promise<SoldLicence[]> {
  const page = await soldLicences.page(deps, tenantId, endingOf(deps), { first: MAX_LISTED, after: null, orderBy: 'ENDING' });
  return page.rows.map(({ row }) => row);
}

/** How many licences in force end within fourteen days. */
export function countLicencesEnding(deps: ReadingDeps, tenantId: string): Promise<number> {
  return soldLicences.count(deps, tenantId, endingOf(deps));
}

function endingOf({ clock }: ReadingDeps): { readonly inForceAtMs: number; readonly untilMs: number } {
  const nowMs = clock();
  return { inForceAtMs: nowMs, untilMs: nowMs + LOOK_AHEAD_MS };
}

/** The agents that others pretended to be in the last seven days, as far as the plan lets read; those with the most attempts first. */
export async function masqueraded(deps: ReadingDeps, site: ReportSite): Promise<AgentTotals[]> {
  const asked = { ...lastDays(deps), host: null, kind: null };
  const { agents } = await readAgents(deps, site, asked, 'MASQUERADES');
  return agents.filter(({ masqueradeAttempts }) => masqueradeAttempts > 0);
}

/** Requests of agents, in the last seven days, for pages that were free because nobody is named who could be paid. */
export function freeForWantOfAuthors(deps: ReadingDeps, site: ReportSite): Promise<number> {
  const { reading: database, clock } = deps;
  const scope = { tenantId: site.tenantId, host: null, kind: null, verdict: 'served-free', agent: null };
  return readShortReport(
    { database, clock },
    site,
    lastDays(deps),
    async (sql, { window }) => totalsOf(await sumObservations(sql, scope, window)).freeForWantOfAuthors,
  );
}

/** Rules that are out of bounds now. */
export async function breachedRules({ reading, clock }: ReadingDeps, tenantId: string): Promise<ShownRule[]> {
  const rules = await listRules({ database: reading }, tenantId, clock());
  return rules.filter(({ enabled, phase }) => enabled && phase === 'breached');
}

/** The site's price, where it was stored below the lowest one; null where it is charged as it stands. */
export async function raisedPrice(
  { reading, priceFloorMicro }: ReadingDeps & { readonly priceFloorMicro: bigint },
  tenantId: string,
): Promise<RaisedPrice | null> {
  const stored = await findPricing(reading, tenantId);
  if (stored === null) return null;
  const charged = chargedPrices(stored, priceFloorMicro);
  const isAsStored = charged.priceUsdc === stored.priceUsdc && charged.citationMultiplier === stored.citationMultiplier;
  return isAsStored ? null : { stored, charged };
}

function lastDays({ clock }: ReadingDeps): { readonly fromMs: number; readonly toMs: null } {
  return { fromMs: clock() - LOOK_BACK_MS, toMs: null };
}
