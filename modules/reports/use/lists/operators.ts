import { operatorOf } from '../../../gate/rules/agent.ts';
import { conversionOf } from '../../../kernel/payment/answered.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { AskedWindow, ReportFrame, ReportSite } from '../request.ts';
import type { AgentOrder, AgentSums, AgentTotals } from './agents.ts';
import { inAgentOrder, readAgents } from './agents.ts';

/** Who runs agents, with what all of them did. */
export interface OperatorTotals extends AgentSums {
  /** Its name; the label of an agent whose operator is not known. */
  readonly name: string;
  readonly isKnown: boolean;
  /** Labels of its agents, the one with the most requests first. */
  readonly agents: readonly string[];
}

/** Most labels that are named of one operator. */
export const MAX_AGENTS_OF_ONE = 20;

/** Every operator of a window: the sums of its agents. Throws database_unavailable. */
export async function readOperators(
  deps: ReadingDeps,
  site: ReportSite,
  asked: AskedWindow & { readonly host: string | null; readonly kind: CrossingKind | null },
  orderBy: AgentOrder,
): Promise<ReportFrame & { readonly operators: readonly OperatorTotals[] }> {
  const { agents, ...frame } = await readAgents(deps, site, asked, 'HITS');
  const operators = [...Map.groupBy(agents, ({ agent }) => operatorOf(agent) ?? agent)].map(([name, members]) => ({
    name,
    isKnown: members.some(({ agent }) => operatorOf(agent) !== null),
    agents: members.slice(0, MAX_AGENTS_OF_ONE).map(({ agent }) => agent),
    ...together(members),
  }));
  return { ...frame, operators: operators.sort(inAgentOrder(orderBy, ({ name }) => name)) };
}

function together(agents: readonly AgentTotals[]): AgentSums {
  const count = (of: (agent: AgentSums) => number): number => agents.reduce((sum, agent) => sum + of(agent), 0);
  const micro = (of: (agent: AgentSums) => bigint): bigint => agents.reduce((sum, agent) => sum + of(agent), 0n);
  const [denied, answered] = [count((of) => of.denied), count((of) => of.answered)];
  return {
    hits: count(({ hits }) => hits),
    paid: count(({ paid }) => paid),
    denied,
    answered,
    unanswered: count(({ unanswered }) => unanswered),
    unansweredMicro: micro(({ unansweredMicro }) => unansweredMicro),
    conversion: conversionOf(denied, answered),
    paymentFailed: count(({ paymentFailed }) => paymentFailed),
    servedFree: count(({ servedFree }) => servedFree),
    verifiedHits: count(({ verifiedHits }) => verifiedHits),
    masqueradeAttempts: count(({ masqueradeAttempts }) => masqueradeAttempts),
    earnedMicro: micro(({ earnedMicro }) => earnedMicro),
    verifiedEarnedMicro: micro(({ verifiedEarnedMicro }) => verifiedEarnedMicro),
    missedMicro: micro(({ missedMicro }) => missedMicro),
    failedMicro: micro(({ failedMicro }) => failedMicro),
  };
}
