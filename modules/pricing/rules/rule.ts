/** Price rules as a site's owner writes them: for which pages, agents, uses and times something else than the site's price holds. */
import { ServiceError } from '../../kernel/errors.ts';
import { normaliseHost } from '../../kernel/hosts/host.ts';
import type { LicenceTerm } from '../../kernel/licence/period.ts';
import { TERMS } from '../../kernel/licence/period.ts';
import { MAX_PRICE_MICRO, parseDecimal, priceToMicro } from '../../kernel/money/money.ts';
import { compilePattern } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** Most rules of a site, and most operators of one rule. */
export const MAX_RULES = 200;
export const MAX_OPERATORS = 50;

/** What an agent reads for. It is what its User-Agent says, which nobody proves: an agent that lies there could as well pose as a person. */
export const AGENT_CATEGORIES = ['train', 'search', 'assistant', 'agent'] as const;
/** One of them. */
export type AgentCategory = (typeof AGENT_CATEGORIES)[number];

/**
 * What holds where a rule applies: a price, as a decimal of USDC, nothing to pay, or no page at all. The price is that of the rule's kind; of a
 * rule for both kinds it is that of a read, and a citation costs it times the site's multiplier.
 */
export type RuleEffect = { readonly price: string } | 'free' | 'refuse';

/** One rule; everything it names must hold. */
export interface PriceRule {
  /** Its owner's name for it, one of a kind in its list. */
  readonly id: string;
  /** Pattern of RFC 9309 for paths of pages, which have no closing slash; null: every article. */
  readonly path: string | null;
  /** Null: both. */
  readonly kind: CrossingKind | null;
  /** Hosts that agents were proven to be of; empty: any agent. */
  readonly operators: readonly string[];
  /** Empty: whatever it says it reads for. */
  readonly categories: readonly AgentCategory[];
  /** Words of use of which one is asked for; empty: also where none is. */
  readonly terms: readonly LicenceTerm[];
  /** First millisecond in which it holds; null: always did. */
  readonly fromMs: number | null;
  /** First millisecond in which it does not hold any more; null: never ends. */
  readonly untilMs: number | null;
  readonly effect: RuleEffect;
}

/** What prices of rules are judged by. */
export interface RulePrices {
  readonly citationMultiplier: string;
}

/** What a rule with a price asks for a kind, micro-USDC, before there is a floor. Decimals are those that were judged. */
export function ruleMicro({ kind, effect }: PriceRule, asked: CrossingKind, { citationMultiplier }: RulePrices): bigint {
  if (typeof effect === 'string') return 0n;
  return priceToMicro(effect.price, kind === null && asked === 'citation' ? citationMultiplier : '1');
}

/** Refuses rules of which one alone says why: invalid_parameter (400) with its place. What rules are together is judged in `conflicts.ts`. */
export function validateEach(rules: readonly PriceRule[], prices: RulePrices): void {
  if (rules.length > MAX_RULES) refuseRule('rules', `a site has at most ${MAX_RULES}`);
  const ids = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const place = `rules.${index}`;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(rule.id)) refuseRule(place, 'id is 1 to 64 letters, digits, dots, dashes');
    if (ids.has(rule.id)) refuseRule(place, `id ${rule.id} is used twice`);
    ids.add(rule.id);
    validateOne(rule, place, prices);
  }
}

function validateOne(rule: PriceRule, place: string, prices: RulePrices): void {
  const { path, operators, categories, terms, fromMs, untilMs } = rule;
  if (path !== null) {
    compilePattern(path, `${place}.path`);
    if (path.length > 2 && path.endsWith('/$'))
      refuseRule(`${place}.path`, 'page paths have no trailing slash: end the path with $ alone');
  }
  if (operators.length > MAX_OPERATORS) refuseRule(`${place}.operators`, `has more than ${MAX_OPERATORS}`);
  if (!operators.every(isOperator)) refuseRule(`${place}.operators`, 'each must be a host name in lower case');
  if (!isSetOf(categories, AGENT_CATEGORIES))
    refuseRule(`${place}.categories`, `distinct words from ${AGENT_CATEGORIES.join(', ')}`);
  if (!isSetOf(terms, TERMS)) refuseRule(`${place}.terms`, `distinct words from ${TERMS.join(', ')}`);
  for (const at of [fromMs, untilMs]) {
    if (at !== null && !(Number.isSafeInteger(at) && at >= 0)) refuseRule(place, 'times must be epoch milliseconds');
  }
  if (fromMs !== null && untilMs !== null && fromMs >= untilMs) refuseRule(place, 'must end after it begins');
  validatePrice(rule, place, prices);
}

function validatePrice(rule: PriceRule, place: string, prices: RulePrices): void {
  const { effect } = rule;
  if (typeof effect === 'string') return;
  const price = parseDecimal(effect.price);
  if (!price || price.scale > 6) refuseRule(`${place}.price`, 'must be a decimal amount in USD with at most 6 places');
  if (price.digits === 0n) refuseRule(`${place}.price`, 'is 0: make the rule free instead');
  if (ruleMicro(rule, 'citation', prices) > MAX_PRICE_MICRO) refuseRule(`${place}.price`, 'is too large');
}

/** True for a host name as verified agents are named by: lower case, A-labels. */
export function isOperator(text: string): boolean {
  return /^[a-z0-9.-]{1,253}$/.test(text) && normaliseHost(text) === text && text !== '';
}

function isSetOf<T>(given: readonly T[], known: readonly T[]): boolean {
  return new Set(given).size === given.length && given.every((one) => known.includes(one));
}

/** Throws invalid_parameter (400) about a place in the list. */
export function refuseRule(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
