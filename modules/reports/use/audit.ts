import type { Sql } from '../../../db/database.ts';
import { OTHER } from '../../gate/rules/agent.ts';
import { isKnownCrawler } from '../../gate/rules/crawlers.ts';
import type { FailureReason } from '../../kernel/errors.ts';
import { FAILURE_REASONS } from '../../kernel/errors.ts';
import type { Answered } from '../../kernel/payment/answered.ts';
import { answeredOf } from '../../kernel/payment/answered.ts';
import type { ReadableWindow, Span } from '../../kernel/time/window.ts';
import { NO_CREDITS } from '../../pricing/rules/pricing.ts';
import { readAuditOverview } from '../store/audit/auditOverview.ts';
import type { StandingObservation } from '../store/audit/observationList.ts';
import { knowsAgentLabel } from '../store/audit/observationList.ts';
import type { ObservationScope, ObservationSum } from '../store/audit/observations.ts';
import {
  sumByAgent,
  sumByAuthor,
  sumBySlug,
  sumEachWindow,
  sumGroupsEachWindow,
  sumObservations,
} from '../store/audit/observations.ts';
import { listAuthorIds } from '../store/earnings/authors.ts';
import { cursorFromNumber, cursorToNumber, spanFrom } from '../store/earnings/pages.ts';
import { isWholeTenant } from '../store/scope.ts';
import type { AskedSeries } from './calendar.ts';
import { bucketsOf } from './calendar.ts';
import type { ReportDeps, ReportFrame, ReportQuery, ReportSite } from './request.ts';
import { comparedWindow, readReport, readShortReport } from './request.ts';

/** What the audit can be broken down by. */
export const AUDIT_GROUPS = ['host', 'slug', 'author', 'kind', 'agent', 'verdict'] as const;
/** One of them. */
export type AuditGroup = (typeof AUDIT_GROUPS)[number];

/** Most groups of a breakdown, and most agents; more is cut and said. */
export const MAX_GROUPS = 1_000;

/** Net sums of observations; micro-USDC. */
export interface AuditTotals extends Answered {
  readonly observations: number;
  readonly agentHits: number;
  /** Requests of people: the rest of the observations. */
  readonly peopleHits: number;
  readonly denied: number;
  readonly paid: number;
  readonly servedFree: number;
  /** Of these, agents' requests for pages that were free because nobody is named who could be paid. */
  readonly freeForWantOfAuthors: number;
  readonly paymentFailed: number;
  /** What denied and blocked requests would have paid, those among them that paid afterwards too. */
  readonly missedMicro: bigint;
  readonly failedMicro: bigint;
  readonly earnedMicro: bigint;
  readonly failedByReason: Readonly<Record<FailureReason, number>>;
  readonly verifiedHits: number;
  /** Of what was earned, what agents paid whose signature verified; the rest is of agents that proved nothing. */
  readonly verifiedEarnedMicro: bigint;
  /** Requests whose presented signature failed. */
  readonly masqueradeAttempts: number;
}

/** One group; `key` '' stands for none (no slug, no kind, no author known). */
export interface AuditGroupRow extends Answered {
  readonly key: string;
  readonly authorId: string | null;
  readonly hits: number;
  readonly denied: number;
  readonly paid: number;
  readonly missedMicro: bigint;
  readonly earnedMicro: bigint;
  /** As in `AuditTotals`. */
  readonly verifiedEarnedMicro: bigint;
}

/** One agent, by its label. */
export interface AgentRow extends Pick<Answered, 'answered'> {
  readonly agent: string;
  readonly hits: number;
  readonly denied: number;
  readonly paid: number;
  /** True when at least one of its requests carried a signature that verified. */
  readonly verified: boolean;
}

/** The audit of a window. */
export interface Audit extends ReportFrame {
  readonly totals: AuditTotals;
  readonly previous: AuditTotals | null;
  readonly breakdown: readonly AuditGroupRow[] | null;
  /** Requests classified as agents, the busiest first. */
  readonly byAgent: readonly AgentRow[];
  readonly recent: { readonly rows: readonly StandingObservation[]; readonly nextCursor: number | null };
  /** True when groups, agents, or rows that no cursor leads to were left out. */
  readonly isCut: boolean;
  /** One of each asked for, in their order; its buckets add up to the totals. */
  readonly series: readonly (readonly AuditBucket[])[];
  /** A group of the breakdown in each bucket of a series, as they were asked for; its buckets add up to the group. */
  readonly seriesOfGroup: (asked: AskedSeries, key: string) => readonly AuditBucket[];
}

/** Net sums of one bucket of a series. */
export interface AuditBucket extends Span {
  readonly totals: AuditTotals;
}

/** What an audit takes besides the common parameters. */
export interface AuditQuery extends ReportQuery {
  readonly groupBy: AuditGroup | null;
  readonly verdict: string | null;
  /** A label, or the exact name an agent gave. */
  readonly agent: string | null;
  /** Of the label `agent`, those under exactly this name: the User-Agent or verified host they gave, or `unknown`. */
  readonly agentName?: string | null;
  readonly slug?: string | null;
  /** A wallet, in lower case: what payments stand behind that pay it, with its part of their amounts. */
  readonly author?: string | null;
  readonly series?: readonly AskedSeries[];
  /** Series of some groups of the breakdown; each takes a statement for each of its series. */
  readonly groupSeries?: readonly {
    readonly series: readonly AskedSeries[];
    readonly keysOf: (groups: readonly AuditGroupRow[]) => readonly string[];
  }[];
}

/**
 * What was observed on a site in a window. Every filter applies to every part. Throws
 * database_unavailable, and invalid_parameter as `bucketsOf` does.
 */
export function readAudit(deps: ReportDeps, site: ReportSite, query: AuditQuery): Promise<Audit> {
  const { groupBy, series = [], groupSeries = [], compare, host, kind, verdict, agent: label, agentName, slug, author } = query;
  const asked = { tenantId: site.tenantId, host, kind, verdict, label, agentName, slug, author };
  // Of a whole site the newest day fills a page, as a rule; a filter may leave less of it, and then the list takes a second statement.
  const mayBeOne =
    isWholeTenant(asked) &&
    !compare &&
    series.length + groupSeries.length === 0 &&
    (groupBy === null || !(groupBy in GROUP_READERS));
  return (mayBeOne ? readShortReport : readReport)(deps, site, query, async (sql, frame) => {
    const { window } = frame;
    const cut = series.map((asked) => bucketsOf(window, asked, frame.generatedAtMs));
    const agent = await agentFilter(sql, site.tenantId, query);
    const rest = { slug: slug ?? null, wallets: author ? [author] : null };
    const scope = { tenantId: site.tenantId, host, kind, verdict, agent, ...rest };
    const cursor = query.cursorMs === null ? null : cursorFromNumber(query.cursorMs);
    const listed = spanFrom(bounded(window, frame.generatedAtMs), cursor);
    const tellsHosts = groupBy === 'host' || groupBy === 'kind';
    const parts = { listed, limit: query.limit, cursor, tellsHosts };
    const { sums, agents, recent } = await readAuditOverview(sql, scope, window, parts);
    const before = compare ? comparedWindow(query, frame, site) : null;
    const groups = groupBy && (await breakDown(sql, { scope, window, groupBy }, sums));
    const breakdown = groups?.slice(0, MAX_GROUPS) ?? null;
    const byAgent = agentRows(agents);
    return {
      ...frame,
      totals: totalsOf(sums),
      previous: before && totalsOf(await sumObservations(sql, scope, before)),
      breakdown,
      byAgent: byAgent.slice(0, MAX_GROUPS),
      recent: { rows: recent.rows, nextCursor: recent.next && cursorToNumber(recent.next) },
      isCut: (groups?.length ?? 0) > MAX_GROUPS || byAgent.length > MAX_GROUPS || recent.isCut,
      series: await seriesOf(sql, scope, cut),
      seriesOfGroup: await seriesOfGroups(sql, query, { scope, frame, groups: breakdown ?? [] }),
    };
  });
}

/** The sums of each bucket of each series. */
async function seriesOf(sql: Sql, scope: ObservationScope, series: readonly (readonly Span[])[]): Promise<AuditBucket[][]> {
  const all: AuditBucket[][] = [];
  for (const buckets of series) {
    const sums = Map.groupBy(await sumEachWindow(sql, scope, buckets), ({ place }) => place);
    all.push(buckets.map((bucket, place) => ({ ...bucket, totals: totalsOf(sums.get(place) ?? []) })));
  }
  return all;
}

/** The series of groups that were asked for: what was observed of each group in each bucket. */
async function seriesOfGroups(
  sql: Sql,
  { groupBy, groupSeries = [] }: AuditQuery,
  {
    scope,
    frame,
    groups,
  }: { readonly scope: ObservationScope; readonly frame: ReportFrame; readonly groups: readonly AuditGroupRow[] },
): Promise<Audit['seriesOfGroup']> {
  const nameOf = ({ every, timeZone }: AskedSeries, key: string): string => `${every} ${timeZone} ${key}`;
  const known = new Map<string, readonly AuditBucket[]>();
  for (const { series, keysOf } of groupBy === null ? [] : groupSeries) {
    const keys = keysOf(groups);
    for (const asked of series) {
      const buckets = bucketsOf(frame.window, asked, frame.generatedAtMs);
      const by = groupBy as AuditGroup;
      const sums = Map.groupBy(await sumGroupsEachWindow(sql, scope, buckets, { by, keys }), ({ key }) => key);
      for (const key of keys) {
        const places = Map.groupBy(sums.get(key) ?? [], ({ place }) => place);
        known.set(
          nameOf(asked, key),
          buckets.map((bucket, place) => ({ ...bucket, totals: totalsOf(places.get(place) ?? []) })),
        );
      }
    }
  }
  return (asked, key) => known.get(nameOf(asked, key)) ?? [];
}

/** A list's window with an end: nothing is observed later than minutes from now, and days to come need not be opened. */
function bounded(window: ReadableWindow, nowMs: number): ReadableWindow {
  const latestMs = nowMs + 3_600_000;
  return { ...window, toMs: Math.min(window.toMs ?? latestMs, latestMs) };
}

/** Labels are read from the rollups, any other name from the rows (safety 23). */
async function agentFilter(
  sql: Sql,
  tenantId: string,
  { agent, agentName = null }: Pick<AuditQuery, 'agent' | 'agentName'>,
): Promise<ObservationScope['agent']> {
  if (agentName !== null) return { ...(agent === null ? {} : { label: agent }), name: agentName };
  if (agent === null) return null;
  const mayBeSeen = /^[a-z0-9._-]{1,253}$/.test(agent);
  const isLabel = agent === OTHER || isKnownCrawler(agent) || (mayBeSeen && (await knowsAgentLabel(sql, tenantId, agent)));
  return isLabel ? { label: agent } : { name: agent };
}

/** What reads groups that the totals do not tell apart. */
const GROUP_READERS = { slug: sumBySlug, author: sumByAuthor, agent: sumByAgent } as const;

async function breakDown(
  sql: Sql,
  { scope, window, groupBy }: { readonly scope: ObservationScope; readonly window: Span; readonly groupBy: AuditGroup },
  sums: readonly ObservationSum[],
): Promise<AuditGroupRow[]> {
  const rows = groupBy in GROUP_READERS ? await GROUP_READERS[groupBy as keyof typeof GROUP_READERS](sql, scope, window) : sums;
  const keyOf = (row: ObservationSum): string =>
    groupBy === 'host' ? row.host : groupBy === 'kind' ? row.kind : groupBy === 'verdict' ? row.verdict : row.key;
  const groups = Map.groupBy(rows, keyOf);
  const wallets = groupBy === 'author' ? [...groups.keys()].filter((key) => key !== '') : [];
  const ids = await listAuthorIds(sql, scope.tenantId, wallets, window);
  return [...groups]
    .map(([key, members]) => ({ key, authorId: ids.get(key) ?? null, ...groupOf(members) }))
    .filter((row) => row.hits !== 0)
    .sort((a, b) => b.hits - a.hits || (a.key < b.key ? -1 : 1));
}

function groupOf(rows: readonly ObservationSum[]) {
  const { observations: hits, denied, paid, missedMicro, earnedMicro, verifiedEarnedMicro } = totalsOf(rows);
  return { hits, denied, paid, missedMicro, earnedMicro, verifiedEarnedMicro, ...answeredOf(rows) };
}

function agentRows(rows: readonly ObservationSum[]): AgentRow[] {
  return [...Map.groupBy(rows, ({ agent }) => agent)]
    .map(([agent, members]) => {
      const { observations: hits, denied, answered, paid, verifiedHits } = totalsOf(members);
      return { agent, hits, denied, answered, paid, verified: verifiedHits > 0 };
    })
    .filter((row) => row.hits !== 0)
    .sort((a, b) => b.hits - a.hits || (a.agent < b.agent ? -1 : 1));
}

/** Adds sums up. */
export function totalsOf(rows: readonly ObservationSum[]): AuditTotals {
  const hits = (isMember: (row: ObservationSum) => boolean) =>
    rows.reduce((sum, row) => (isMember(row) ? sum + row.hits : sum), 0);
  const micro = (...verdicts: string[]) =>
    rows.reduce((sum, row) => (verdicts.includes(row.verdict) ? sum + row.micro : sum), 0n);
  const reasons = FAILURE_REASONS.map((reason) => [
    reason,
    hits((row) => row.verdict === 'payment-failed' && row.reason === reason),
  ]);
  return {
    observations: hits(() => true),
    agentHits: hits((row) => row.classifiedAs === 'agent'),
    peopleHits: hits((row) => row.classifiedAs === 'human'),
    denied: hits((row) => row.verdict === 'denied'),
    ...answeredOf(rows),
    paid: hits((row) => row.verdict === 'paid'),
    servedFree: hits((row) => row.verdict === 'served-free'),
    freeForWantOfAuthors: hits((row) => row.verdict === 'served-free' && row.reason === NO_CREDITS),
    paymentFailed: hits((row) => row.verdict === 'payment-failed'),
    missedMicro: micro('denied', 'blocked'),
    failedMicro: micro('payment-failed'),
    earnedMicro: micro('paid'),
    failedByReason: Object.fromEntries(reasons) as Record<FailureReason, number>,
    verifiedHits: rows.reduce((sum, row) => sum + row.verified, 0),
    verifiedEarnedMicro: rows.reduce((sum, row) => (row.verdict === 'paid' ? sum + row.verifiedMicro : sum), 0n),
    masqueradeAttempts: rows.reduce((sum, row) => sum + row.invalid, 0),
  };
}
