import type { AgentCategory, PriceRule } from '../../modules/pricing/rules/rule.ts';
import { listPriceRules } from '../../modules/quotes/use/managePrices.ts';
import { LIST_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { CrossingKind, named } from '../schema/enums.ts';
import { Tenant } from '../schema/site.ts';

/** What an agent reads for. */
export const AgentCategoryName = builder.enumType('AgentCategory', {
  description: 'What an agent reads for, by what it says of itself: nobody proves it.',
  values: named<AgentCategory>({
    train: 'To train models.',
    search: 'To be found in a search.',
    assistant: 'For a person who asked.',
    agent: 'On its own.',
  }),
});

/** What a rule makes of a page. */
export const RuleEffectName = builder.enumType('PriceRuleEffect', {
  description: 'What a price rule makes of a page.',
  values: named<'price' | 'free' | 'refuse'>({
    price: 'It costs the rule’s price.',
    free: 'It costs nothing.',
    refuse: 'It is not given, whatever would be paid.',
  }),
});

const PriceRuleType = builder.objectRef<PriceRule>('PriceRule').implement({
  description: 'For some pages, agents, uses and times something else than the price of the site. All that it names must hold.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Its name, one of a kind at the site.' }),
    path: t.exposeString('path', { nullable: true, description: 'Pattern of paths (RFC 9309); null: every article.' }),
    kind: t.field({
      type: CrossingKind,
      nullable: true,
      description: 'Reads or citations alone; null: both.',
      resolve: ({ kind }) => kind,
    }),
    operators: t.exposeStringList('operators', { description: 'Hosts whose verified agents it applies to; empty: every agent.' }),
    categories: t.field({
      type: [AgentCategoryName],
      description: 'What agents read for that it is for; empty: whatever they read for.',
      resolve: ({ categories }) => [...categories],
    }),
    terms: t.exposeStringList('terms', { description: 'Uses that are asked for; empty: also where none is.' }),
    from: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'First moment at which it holds; null: it always did.',
      resolve: ({ fromMs }) => fromMs,
    }),
    until: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'First moment at which it holds no more; null: it does not end.',
      resolve: ({ untilMs }) => untilMs,
    }),
    effect: t.field({
      type: RuleEffectName,
      description: 'What it makes of a page.',
      resolve: ({ effect }) => (typeof effect === 'string' ? effect : 'price'),
    }),
    priceUsdc: t.string({
      nullable: true,
      description: 'USD of a read, or of a citation where it is for these alone; null: it has no price.',
      resolve: ({ effect }) => (typeof effect === 'string' ? null : effect.price),
    }),
  }),
});

builder.objectField(Tenant, 'priceRules', (t) =>
  t.field({
    type: [PriceRuleType],
    nullable: true,
    description:
      'Its price rules, at most 200, in the order in which they are looked at: the first that fits decides. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: LIST_COST,
    resolve: async (site, _args, { deps }) => [...(await listPriceRules(deps, site.tenantId))],
  }),
);
