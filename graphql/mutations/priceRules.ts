import { z } from 'zod';
import type { PriceRule, RuleEffect } from '../../modules/pricing/rules/rule.ts';
import { AGENT_CATEGORIES, MAX_OPERATORS, MAX_RULES } from '../../modules/pricing/rules/rule.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { builder } from '../schema/builder.ts';
import { CrossingKind } from '../schema/enums.ts';
import { AgentCategoryName, RuleEffectName } from '../types/priceRules.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';
import { decimal, pricePayload } from './prices.ts';

/** A price rule as owners write it. */
export const PriceRuleInput = builder.inputType('PriceRuleInput', {
  description: 'A price rule; all that it names must hold. What is left out holds for everything.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'A unique name: 1 to 64 letters, digits, dots, dashes.' }),
    path: t.string({
      description:
        'Pattern of paths, at most 200 characters: `*` stands for anything, `$` ends the path (RFC 9309). Left out: every article.',
    }),
    kind: t.field({ type: CrossingKind, description: 'For reads or citations alone.' }),
    operators: t.stringList({ description: `Hosts whose agents it is for, signature verified; at most ${MAX_OPERATORS}.` }),
    categories: t.field({ type: [AgentCategoryName], description: 'What agents read for that it is for.' }),
    terms: t.stringList({ description: 'Uses that are asked for: `search`, `ai-index`, `ai-input`, `ai-train`, `all`.' }),
    from: t.field({ type: 'EpochMs', description: 'First moment at which it holds.' }),
    until: t.field({ type: 'EpochMs', description: 'First moment at which it holds no more.' }),
    effect: t.field({ type: RuleEffectName, required: true, description: 'What it makes of a page.' }),
    priceUsdc: t.string({
      description:
        'With `PRICE`: USD of a read, or of a citation where it is for these alone, as a decimal, the lowest price or more.',
    }),
  }),
});

const aRule = z
  .object({
    id: line(64),
    path: line(1_000).nullish(),
    kind: z.enum(['read', 'citation']).nullish(),
    operators: z.array(line(253)).max(MAX_OPERATORS, `has more than ${MAX_OPERATORS} entries`).nullish(),
    categories: z.array(z.enum(AGENT_CATEGORIES)).max(AGENT_CATEGORIES.length).nullish(),
    terms: z.array(line(64)).max(20, 'has more than 20 entries').nullish(),
    from: z.int().nullish(),
    until: z.int().nullish(),
    effect: z.enum(['price', 'free', 'refuse']),
    priceUsdc: decimal.nullish(),
  })
  .superRefine(({ effect, priceUsdc }, context) => {
    const isGiven = priceUsdc !== null && priceUsdc !== undefined;
    if (isGiven === (effect === 'price')) return;
    const message = isGiven ? 'goes with the effect PRICE alone' : 'is missing: the effect is PRICE';
    context.addIssue({ code: 'custom', path: ['priceUsdc'], message });
  })
  .transform((rule): PriceRule => {
    const { id, path, kind, operators, categories, terms, from, until, effect, priceUsdc } = rule;
    return {
      id,
      path: path ?? null,
      kind: kind ?? null,
      operators: operators ?? [],
      categories: categories ?? [],
      terms: (terms ?? []) as PriceRule['terms'],
      fromMs: from ?? null,
      untilMs: until ?? null,
      effect: effect === 'price' ? { price: priceUsdc ?? '' } : (effect satisfies RuleEffect),
    };
  });

/** All rules of a site as an input has them; modules/pricing/rules judges what they may be together. */
export const ruleList = z.array(aRule).max(MAX_RULES, `has more than ${MAX_RULES} entries`);

ownerMutation('setPriceRules', {
  description:
    'Sets all price rules of the site, in place of those it has: for some pages, agents, uses and times something else than the price. What rules would ' +
    'do is told by `simulatePriceRules`.',
  input: builder.inputType('SetPriceRulesInput', {
    description: 'Price rules to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      rules: t.field({
        type: [PriceRuleInput],
        required: true,
        description: `All of them, at most ${MAX_RULES}; none: every page costs the price.`,
      }),
    }),
  }),
  schema: z.object({ rules: ruleList }),
  payload: pricePayload('SetPriceRulesPayload'),
  change: (deps, call, { rules }) => changePricing(deps, call, 'rules.set', { rules: rules.length === 0 ? null : rules }),
});
