import { z } from 'zod';
import { pageOf } from '../../../modules/paging/use/pages.ts';
import type { Tally } from '../../../modules/pricing/rules/replay.ts';
import type { Simulation } from '../../../modules/reports/use/simulate.ts';
import { simulateRules } from '../../../modules/reports/use/simulate.ts';
import { CATALOGUE_COST } from '../../limits/limits.ts';
import { checked } from '../../mutations/field.ts';
import { PriceRuleInput, ruleList } from '../../mutations/priceRules.ts';
import { builder } from '../../schema/builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { filterText, hostFilter } from '../../schema/inputs.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';

const RequestSums = builder.objectRef<Tally>('RequestSums').implement({
  description: 'Requests by what became of them: each is one of `paid`, `missed`, `refused` and `free`.',
  fields: (t) => ({
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    missed: t.exposeInt('missed', {
      description:
        'Requests that were told a price and did not pay it. One that came again with a payment is among `paid` as well.',
    }),
    refused: t.exposeInt('refused', {
      description: 'Requests that were turned away whatever they pay: by the crawler policy or by a rule.',
    }),
    free: t.exposeInt('free', { description: 'Requests of agents for pages that cost nothing.' }),
    earnedMicro: t.field({ type: 'Micro', description: 'What those paid come to.', resolve: ({ earnedMicro }) => earnedMicro }),
    missedMicro: t.field({
      type: 'Micro',
      description: 'What those missed were asked for: all that there could have been; 0 of a gate that named no price.',
      resolve: ({ missedMicro }) => missedMicro,
    }),
  }),
});

const Compared = builder.interfaceRef<Pick<Simulation, 'was' | 'byRules'>>('Simulated').implement({
  description: 'The same requests, as they were and by the rules.',
  fields: (t) => ({
    was: t.field({ type: RequestSums, description: 'As they were, at prices of then.', resolve: ({ was }) => was }),
    byRules: t.field({ type: RequestSums, description: 'By the rules that were given.', resolve: ({ byRules }) => byRules }),
  }),
});

const Page = builder.objectRef<Simulation['pages'][number]>('SimulatedPage').implement({
  description: 'One page by the rules.',
  interfaces: [Compared],
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The host it was asked for on.' }),
    path: t.exposeString('path', { description: 'Its path, encoded as in addresses.' }),
  }),
});

const Agent = builder.objectRef<Simulation['agents'][number]>('SimulatedAgent').implement({
  description: 'One agent by the rules.',
  interfaces: [Compared],
  fields: (t) => ({ agent: t.exposeString('agent', { description: 'Its label.' }) }),
});

const DecidingRule = builder.objectRef<Simulation['rules'][number]>('SimulatedRule').implement({
  description: 'The requests that one rule decides. A rule that is not listed decides none of those that were replayed.',
  interfaces: [Compared],
  fields: (t) => ({
    ruleId: t.exposeString('ruleId', {
      nullable: true,
      description: 'Its id; null: no rule fits, and the prices of the site hold.',
    }),
  }),
});

const PageConnection = connectionOf(Page, 'SimulatedPage', 'pages whose earnings the rules change most, first');
const AgentConnection = connectionOf(Agent, 'SimulatedAgent', 'agents whose earnings the rules change most, first');

const SimulationType = builder.objectRef<Simulation>('PriceRuleSimulation').implement({
  description:
    'What price rules would have made of the requests of a window. Nothing is forecast: who paid at the price of then is asked the new one and pays ' +
    'it; who did not pay is asked it and is missed; who read free and is asked a price now is missed, too. Requests that a gate turned away by the ' +
    'crawler policy stay refused. What a licence covers, failed payments, licences, people and search engines are in none of it. An observation does ' +
    'not say for which use a page was read, so that rules with `terms` decide nothing here; and of what an agent reads for is known what the list of ' +
    'crawlers says of its name.',
  interfaces: [Report, Compared],
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version of the site that this was computed from: give it as `ifVersion`.' }),
    requests: t.exposeInt('requests', { description: 'Requests of the window.' }),
    replayed: t.exposeInt('replayed', {
      description:
        'Of these, how many are in all figures here; fewer than `requests` where the window has more than 10,000 groups of like requests.',
    }),
    assumedPaths: t.exposeInt('assumedPaths', {
      description:
        'Of those replayed, how many are for pages that neither the catalogue nor a purchase says the path of: they are taken to stand under the ' +
        'first of several article prefixes.',
    }),
    rules: t.field({ type: [DecidingRule], description: 'By the rule that decides.', resolve: ({ rules }) => [...rules] }),
    pages: t.field({
      type: PageConnection,
      description: 'By page.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ pages }, page) => {
        const request = pageRequest(page, 'MOST');
        return connect(pageOf(pages, ({ host, path }) => `${host}${path}`, request));
      },
    }),
    agents: t.field({
      type: AgentConnection,
      description: 'By agent.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ agents }, page) => {
        const request = pageRequest(page, 'MOST');
        return connect(pageOf(agents, ({ agent }) => agent, request));
      },
    }),
  }),
});

builder.objectField(Tenant, 'simulatePriceRules', (t) =>
  t.field({
    type: SimulationType,
    nullable: true,
    description:
      'What price rules, saved or not, would have made of the requests of a window, beside what was; nothing is changed. Rules that `setPriceRules` would ' +
      'refuse are refused with the same sentence. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: CATALOGUE_COST,
    args: {
      rules: t.arg({ type: [PriceRuleInput], required: true, description: 'All rules of the site, as of setPriceRules.' }),
      window: t.arg({ type: WindowInput, description: 'When the requests came.' }),
      at: t.arg({
        type: 'EpochMs',
        description: 'The rules in force at this moment decide; left out: those that were in force when each request came.',
      }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      slug: t.arg.string({ description: 'Of this page alone.', validate: filterText }),
      agent: t.arg.string({ description: 'Of the agent with this label alone.', validate: filterText }),
    },
    resolve: (site, { rules, window, at, host, slug, agent }, { deps }) =>
      simulateRules(deps, site, {
        ...askedWindow(window, deps.clock()),
        host: hostFilter(host),
        slug: slug ?? null,
        agent: agent ?? null,
        rules: checked(z.object({ rules: ruleList }), { rules }).rules,
        atMs: at ?? null,
      }),
  }),
);
