import type { CrossingKind } from '../../../kernel/terms.ts';
import type { ReadingDeps } from '../../../paging/use/deps.ts';
import { MAX_NAME_CHARS, sumOtherNames } from '../../store/audit/otherNames.ts';
import type { AskedWindow, ReportFrame, ReportSite } from '../request.ts';
import { readShortReport } from '../request.ts';
import type { AgentSums } from './agents.ts';
import { agentSums } from './agents.ts';

/** Most names that are told of agents that are no label of their own. */
export const MAX_OTHERS = 20;

/** An agent by the name it gave, which is whatever text it liked. */
export interface OtherAgent extends AgentSums {
  /** At most `MAX_NAME_CHARS` characters; `isCut`: there were more, and all that begin so are together. */
  readonly name: string;
  readonly isCut: boolean;
}

/** Agents under the label `other`: those with the most requests, and the rest; together they are the label's own sums. */
export interface OtherAgents extends ReportFrame {
  readonly agents: readonly OtherAgent[];
  readonly rest: AgentSums;
  readonly restNames: number;
}

/** The largest names inside the label `other`. Throws database_unavailable. */
export function readOtherAgents(
  { reading: database, clock }: ReadingDeps,
  site: ReportSite,
  { host, kind, ...asked }: AskedWindow & { readonly host: string | null; readonly kind: CrossingKind | null },
): Promise<OtherAgents> {
  const work = async (sql: Parameters<typeof sumOtherNames>[0], frame: ReportFrame): Promise<OtherAgents> => {
    const { named, rest, restNames } = await sumOtherNames(
      sql,
      { tenantId: site.tenantId, host, kind },
      frame.window,
      MAX_OTHERS,
    );
    const agents = [...Map.groupBy(named, ({ key }) => key)].map(([key, rows]) => {
      const characters = [...key];
      const isCut = characters.length > MAX_NAME_CHARS;
      return { name: isCut ? characters.slice(0, MAX_NAME_CHARS).join('') : key, isCut, ...agentSums(rows) };
    });
    return { ...frame, agents: agents.filter(({ hits }) => hits !== 0), rest: agentSums(rest), restNames };
  };
  return readShortReport({ database, clock }, site, asked, work);
}
