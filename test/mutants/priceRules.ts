import type { Mutant } from './mutant.ts';

const compiled = 'modules/pricing/rules/compiled.ts';
const unit = 'test/unit/price-rules.test.ts';
const file = 'test/integration/price-rules.test.ts';
const bounds = 'test/unit/publisher/bounds.test.ts';
const quotes = 'packages/publisher/src/knowing/quotes.ts';

/** Bugs of price rules: whose price it is, and for how long. */
export const PRICE_RULE_MUTANTS: readonly Mutant[] = [
  {
    id: 'operator-by-the-end-of-its-name',
    rule: 17,
    bug: 'evilopenai.com has the price of openai.com',
    edits: [
      {
        file: compiled,
        search: 'operators.includes(asked.operator)',
        replace: 'operators.some((one) => asked.operator?.endsWith(one))',
      },
    ],
    test: { file: unit, name: 'an operator is a host and no part of one, and nobody is one without being verified' },
  },
  {
    id: 'cheapest-of-several-uses',
    rule: 17,
    bug: 'who asks for training and for searching pays for searching',
    edits: [{ file: compiled, search: 'weigh(b) > weigh(a)', replace: 'weigh(b) < weigh(a)' }],
    test: { file: unit, name: 'who asks for several uses pays for the dearest, and is refused where one is' },
  },
  {
    id: 'rule-below-the-floor',
    rule: 19,
    bug: 'a rule that was stored below the lowest price is charged as it stands',
    edits: [{ file: compiled, search: 'micro < floorMicro ? floorMicro : micro', replace: 'micro' }],
    test: {
      file: unit,
      name: 'a price below the floor is refused, also that of a citation, and is charged as the floor where it was stored before',
    },
  },
  {
    id: 'quotes-of-all-agents-alike',
    rule: 17,
    bug: 'the quote made for one agent is given to the next',
    edits: [
      {
        file: 'modules/quotes/use/issue.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
        search: 'const name = `${micro} ${nameOf(asker)} ',
        replace: 'const name = `',
      },
    ],
    test: {
      file,
      name: 'each agent is quoted its own price, in whatever order they ask, and the same words get the same answer again',
    },
  },
  {
    id: 'remembered-past-its-rule',
    rule: 17,
    bug: 'a page that was asked for in these words keeps the price of a rule that has ended',
    edits: [
      {
        file: 'modules/quotes/use/memory.ts',
        search: '(page.untilMs === null || nowMs < page.untilMs)',
        replace: '(page.untilMs === null || nowMs > 0)',
      },
    ],
    test: { file, name: 'a price ends with its rule, is honoured ten minutes longer, and to the agent it was for alone' },
  },
  {
    id: 'no-grace-when-a-rule-ends',
    rule: 17,
    bug: 'who saw the price of a rule a second before its end cannot pay it',
    edits: [
      {
        file: 'modules/quotes/use/resolveTerms.ts',
        search: 'one.pricing.changesBetween(sinceMs, lastMs)',
        replace: 'one.pricing.changesBetween(lastMs, sinceMs)',
      },
    ],
    test: { file, name: 'a price ends with its rule, is honoured ten minutes longer, and to the agent it was for alone' },
  },
  {
    id: 'former-price-of-an-agent-forgotten',
    rule: 17,
    bug: 'a token does not say who was asked, so that his former price is not honoured',
    edits: [
      {
        file: 'modules/quotes/use/resolveTerms.ts',
        search: '?.issued.asker ?? NOBODY',
        replace: '?.issued ? NOBODY : NOBODY',
      },
    ],
    test: { file, name: 'an agent’s former price is honoured also after its rule was taken away' },
  },
  {
    id: 'refused-agent-buys',
    rule: 17,
    bug: 'a refusal is told as a price that is over, so that its buyer asks for the next',
    edits: [
      { file: 'modules/quotes/use/resolveTerms.ts', search: 'if (isRefused) throw agentRefused();', replace: 'void isRefused;' },
    ],
    test: {
      file,
      name: 'a page that a rule begins to refuse is sold to who saw its price for ten minutes more, and then refused',
    },
  },
  {
    id: 'gate-mixes-agents',
    rule: 17,
    bug: 'the gate keeps the price of one agent for all',
    edits: [
      {
        file: quotes,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
        search: "${kind} ${agent ?? ''} ${category ?? ''} ${resource}",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
        replace: '${kind} ${resource}',
      },
    ],
    test: {
      file: bounds,
      name: 'what one agent is asked is never what another is, and a page refused to one leaves the service at work for all',
    },
  },
  {
    id: 'refused-agents-open-the-gate',
    rule: 17,
    bug: 'five pages that are refused to an agent count as an outage, in which everybody reads free',
    edits: [
      {
        file: quotes,
        search: '!isRefused && (isAway(answer) || isKeyRefused(answer))',
        replace: 'isAway(answer) || isKeyRefused(answer)',
      },
    ],
    test: {
      file: bounds,
      name: 'what one agent is asked is never what another is, and a page refused to one leaves the service at work for all',
    },
  },
];
