import { operatorOf } from '../../../modules/gate/rules/agent.ts';
import { robotClassOf } from '../../../modules/gate/rules/visitors.ts';
import type { AgentCard } from '../../../modules/gate/rules/webbotauth/card.ts';
import { cardsOf } from '../../../modules/gate/use/agents/cards.ts';
import { pageOf } from '../../../modules/paging/use/pages.ts';
import type { AgentSums } from '../../../modules/reports/use/lists/agents.ts';
import type { OperatorTotals } from '../../../modules/reports/use/lists/operators.ts';
import { readOperators } from '../../../modules/reports/use/lists/operators.ts';
import type { OtherAgent, OtherAgents } from '../../../modules/reports/use/lists/otherAgents.ts';
import { MAX_OTHERS, readOtherAgents } from '../../../modules/reports/use/lists/otherAgents.ts';
import { REPORT_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { connect, connectionOf, listCost } from '../../schema/connections.ts';
import { CrossingKind, VisitorClassName } from '../../schema/enums.ts';
import { filterText, hostFilter } from '../../schema/inputs.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';
import { AnsweredType } from './answered.ts';
import { AgentSumsType, AgentType, agentArgs, askedAgents } from './audit.ts';

builder.objectField(AgentType, 'operator', (t) =>
  t.string({
    nullable: true,
    description: 'Who runs it, where that is known of its label. A label of a User-Agent is what the agent says of itself.',
    resolve: ({ agent }) => operatorOf(agent),
  }),
);

builder.objectField(AgentType, 'visitorClass', (t) =>
  t.field({
    type: VisitorClassName,
    description: 'The class that the lists put its label in; `AUTOMATION` where none does.',
    resolve: ({ agent }) => robotClassOf(agent),
  }),
);

const OwnWordsType = builder.objectRef<AgentCard>('AgentOwnWords').implement({
  description: 'What an agent with its own keys says about itself. Nobody vouches for it.',
  fields: (t) => ({
    operator: t.exposeString('operator', { nullable: true, description: 'Who runs it.' }),
    purpose: t.exposeString('purpose', { nullable: true, description: 'What it reads for.' }),
  }),
});

builder.objectField(AgentType, 'ownWords', (t) =>
  t.loadable({
    type: OwnWordsType,
    nullable: true,
    description: 'What it says of itself, where its label is a verified host.',
    load: (labels: string[], { deps }) => cardsOf(deps, labels),
    resolve: ({ agent }) => agent,
  }),
);

const OperatorType = builder.objectRef<OperatorTotals>('Operator').implement({
  description: 'Who runs agents, with what all of them did in a window.',
  interfaces: [AgentSumsType, AnsweredType],
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name; of an agent whose operator is not known, its label.' }),
    isKnown: t.exposeBoolean('isKnown', { description: 'False: nobody is known to run this agent.' }),
    agents: t.stringList({
      description: 'Labels of its agents, the one with the most requests first; 20 at most.',
      resolve: ({ agents }) => [...agents],
    }),
  }),
});

const OperatorConnection = connectionOf(OperatorType, 'Operator', 'operators');

const OtherAgentType = builder.objectRef<OtherAgent>('OtherAgent').implement({
  description: 'Requests under `other` that sent the same User-Agent.',
  interfaces: [AgentSumsType, AnsweredType],
  fields: (t) => ({
    name: t.exposeString('name', {
      description:
        'The text it sent, 200 characters at most. `agentName` of `audit` and `observations` takes a name that is not cut.',
    }),
    isCut: t.exposeBoolean('isCut', { description: 'True: the name was longer; all that begin so are together.' }),
  }),
});

const RestType = builder.objectRef<AgentSums>('RestOfAgents').implement({
  description: 'All others together.',
  interfaces: [AgentSumsType, AnsweredType],
});

const OtherAgentsType = builder.objectRef<OtherAgents>('OtherAgents').implement({
  description: 'The requests under `other`, by the User-Agent they sent. The largest names and the rest add up to the label.',
  interfaces: [Report],
  fields: (t) => ({
    agents: t.field({
      type: [OtherAgentType],
      description: `Those with the most requests; ${MAX_OTHERS} at most.`,
      resolve: ({ agents }) => [...agents],
    }),
    rest: t.field({ type: RestType, description: 'All others together.', resolve: ({ rest }) => rest }),
    restNames: t.exposeInt('restNames', { description: 'How many names the rest has.' }),
  }),
});

builder.objectFields(Tenant, (t) => ({
  operators: t.field({
    type: OperatorConnection,
    nullable: true,
    description: 'Agents of a window put together by who runs them: claude.ai and claudebot are one. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: (args) => ({ ...listCost(args), field: REPORT_COST }),
    args: agentArgs,
    resolve: async (site, args, { deps }) => {
      const { asked, order, request } = askedAgents(args, deps.clock());
      const { operators } = await readOperators(deps, site, asked, order);
      return connect(pageOf(operators, ({ name }) => name, request));
    },
  }),
  otherAgents: t.field({
    type: OtherAgentsType,
    nullable: true,
    description: 'The largest names inside the label `other`; reads every observation of the window. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
    },
    resolve: (site, { window, host, kind }, { deps }) =>
      readOtherAgents(deps, site, { ...askedWindow(window, deps.clock()), host: hostFilter(host), kind: kind ?? null }),
  }),
}));
