import type { AuditQuery } from '../../services/reports/audit.ts';
import { readAudit } from '../../services/reports/audit.ts';
import { readEarnings } from '../../services/reports/earnings.ts';
import type { ReportDeps, ReportQuery } from '../../services/reports/request.ts';
import { BUSY, HOSTS } from './load.ts';
import type { Answer, BenchWindow } from './plain.ts';

/** The busy site, as its key would ask. */
export const BUSY_SITE = { tenantId: BUSY, hosts: HOSTS, plan: 'studio' as const, keyId: 'bench' };

const COMMON: Omit<ReportQuery, 'fromMs' | 'toMs'> = { compare: false, cursorMs: null, limit: 50, host: null, kind: null };

/** Earnings through the service, with the newest 50 crossings, in the words of `plainEarnings`. */
export async function ourEarnings(deps: ReportDeps, window: BenchWindow): Promise<Answer> {
  const { totals } = await readEarnings(deps, BUSY_SITE, { ...COMMON, ...window, groupBy: null });
  return { events: totals.events, reads: totals.reads, micro: String(totals.grossMicro), authors: totals.authors };
}

/** A breakdown of earnings through the service, in the words of `plainEarningsBy`. */
export async function ourEarningsBy(deps: ReportDeps, window: BenchWindow, groupBy: 'slug' | 'author'): Promise<Answer> {
  const { breakdown } = await readEarnings(deps, BUSY_SITE, { ...COMMON, ...window, groupBy });
  return Object.fromEntries((breakdown ?? []).map(({ key, events, grossMicro }) => [key, `${events} ${grossMicro}`]));
}

/** The audit through the service, with the newest 50 observations, in the words of `plainAudit`. */
export async function ourAudit(deps: ReportDeps, window: BenchWindow): Promise<Answer> {
  const query: AuditQuery = { ...COMMON, ...window, groupBy: null, verdict: null, agent: null };
  const { totals, byAgent } = await readAudit(deps, BUSY_SITE, query);
  return {
    observations: totals.observations,
    verified: totals.verifiedHits,
    denied: totals.denied,
    paid: totals.paid,
    'served-free': totals.servedFree,
    'payment-failed': totals.paymentFailed,
    missed: Number(totals.missedMicro),
    earned: Number(totals.earnedMicro),
    ...Object.fromEntries(byAgent.map(({ agent, hits }) => [`agent ${agent}`, hits])),
  };
}
