import type { Answered } from '../../../kernel/payment/answered.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { ObservationSum } from '../../store/audit/observations.ts';
import { sumByAgent } from '../../store/audit/observations.ts';
import { totalsOf } from '../audit.ts';
import type { AskedWindow, ReportFrame, ReportSite } from '../request.ts';
import { readReport } from '../request.ts';

/** What agents did in a window; micro-USDC. */
export interface AgentSums extends Answered {
  readonly hits: number;
  readonly paid: number;
  readonly denied: number;
  readonly paymentFailed: number;
  readonly servedFree: number;
  readonly earnedMicro: bigint;
  /** Of that, what requests paid whose signature verified. */
  readonly verifiedEarnedMicro: bigint;
  readonly missedMicro: bigint;
  readonly failedMicro: bigint;
  readonly verifiedHits: number;
  readonly masqueradeAttempts: number;
}

/** What one agent, by its label, did in a window. */
export interface AgentTotals extends AgentSums {
  readonly agent: string;
}

/** How agents may be ordered; all have the most first. */
export const AGENT_ORDERS = {
  EARNED: ({ earnedMicro }) => earnedMicro,
  MISSED: ({ missedMicro }) => missedMicro,
  UNANSWERED_MICRO: ({ unansweredMicro }) => unansweredMicro,
  HITS: ({ hits }) => BigInt(hits),
  DENIED: ({ denied }) => BigInt(denied),
  UNANSWERED: ({ unanswered }) => BigInt(unanswered),
  PAYMENT_FAILED: ({ paymentFailed }) => BigInt(paymentFailed),
  MASQUERADES: ({ masqueradeAttempts }) => BigInt(masqueradeAttempts),
} as const satisfies Record<string, (agent: AgentSums) => bigint>;
/** One of them. */
export type AgentOrder = keyof typeof AGENT_ORDERS;

/**
 * Every agent label seen in a window with what it did, people left out; from the rollups, the same sums as the
 * audit's breakdown by agent. Throws database_unavailable.
 */
export function readAgents(
  deps: ReadingDeps,
  site: ReportSite,
  asked: AskedWindow & { readonly host: string | null; readonly kind: CrossingKind | null },
  orderBy: AgentOrder,
): Promise<ReportFrame & { readonly agents: readonly AgentTotals[] }> {
  return readReport({ database: deps.reading, clock: deps.clock }, site, asked, async (sql, frame) => {
    const scope = { tenantId: site.tenantId, host: asked.host, kind: asked.kind, verdict: null, agent: null };
    const sums = await sumByAgent(sql, scope, frame.window);
    const agents = [...Map.groupBy(sums, ({ key }) => key)]
      .map(([agent, rows]) => ({ agent, ...agentSums(rows) }))
      .filter(({ hits }) => hits !== 0);
    return { ...frame, agents: agents.sort(inAgentOrder(orderBy, ({ agent }) => agent)) };
  });
}

/** Adds observations up as agents are told of. */
export function agentSums(rows: readonly ObservationSum[]): AgentSums {
  const { observations: hits, agentHits: _hits, peopleHits: _people, failedByReason: _reasons, ...totals } = totalsOf(rows);
  return { hits, ...totals };
}

/** The most first, then by name. */
export function inAgentOrder<Row extends AgentSums>(orderBy: AgentOrder, nameOf: (row: Row) => string) {
  const measure = AGENT_ORDERS[orderBy];
  return (a: Row, b: Row): number => {
    const [x, y] = [measure(a), measure(b)];
    return x === y ? (nameOf(a) < nameOf(b) ? -1 : 1) : x > y ? -1 : 1;
  };
}
