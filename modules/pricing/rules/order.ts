/** Which of two rules comes first: the rules of a site in one order, the first that applies decides. */
import { TERMS } from '../../kernel/licence/period.ts';
import type { CompiledPattern } from '../../kernel/pages/scope.ts';
import { compilePattern, isWithin } from '../../kernel/pages/scope.ts';
import type { PriceRule } from './rule.ts';

/** A rule in its place. */
export interface OrderedRule {
  readonly rule: PriceRule;
  /** Place in the order of choice. */
  readonly rank: number;
  /** Place in its owner's list. */
  readonly index: number;
  /** What it begins with, and so on; of a rule for every article the pattern of every path. */
  readonly pattern: CompiledPattern;
  /** Octets of its pattern; 0 for every article. */
  readonly octets: number;
  /** True when it applies to an agent that nobody verified and that says nothing of itself. */
  readonly isForAll: boolean;
}

/** The pattern that every path matches. */
const EVERY_PATH = compilePattern('/');

/**
 * Rules in the order of choice: longest path pattern first (octets); then rules that name an operator and a category, an operator, a category,
 * neither; then terms, kind and validity named before not named; then the owner's order.
 */
export function inOrder(rules: readonly PriceRule[]): readonly OrderedRule[] {
  return rules
    .map((rule, index) => ({ rule, index, key: [...keyOf(rule), index] }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ rule, index }, rank) => ({
      rule,
      rank,
      index,
      pattern: rule.path === null ? EVERY_PATH : compilePattern(rule.path, `rules.${index}.path`),
      octets: rule.path?.length ?? 0,
      isForAll: rule.operators.length === 0 && rule.categories.length === 0 && rule.terms.length === 0,
    }));
}

/** The smaller comes first. */
function keyOf({ path, kind, operators, categories, terms, fromMs, untilMs }: PriceRule): number[] {
  const agent = (operators.length > 0 ? 2 : 0) + (categories.length > 0 ? 1 : 0);
  const named = [terms.length > 0, kind !== null, fromMs !== null || untilMs !== null];
  return [-(path?.length ?? 0), -agent, ...named.map((isNamed) => (isNamed ? 0 : 1))];
}

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}

/** True when `later` never decides where `earlier` stands before it: wherever it applies, that one does. */
export function hides(earlier: OrderedRule, later: OrderedRule): boolean {
  const [a, b] = [earlier.rule, later.rule];
  return (
    (a.kind === null || a.kind === b.kind) &&
    lastsAsLong(a, b) &&
    isWithin(later.pattern, earlier.pattern) &&
    takesIn(a.categories, b.categories) &&
    takesIn(spelledTerms(a.terms), spelledTerms(b.terms)) &&
    takesIn(a.operators, b.operators)
  );
}

const EVERY_TERM = TERMS.filter((term) => term !== 'all');

/** The terms that a list means: `all` is each of the others. */
export function spelledTerms(terms: PriceRule['terms']): PriceRule['terms'] {
  return terms.includes('all') ? EVERY_TERM : terms;
}

/** True when one rule is in force whenever the other is. */
export function lastsAsLong(a: PriceRule, b: PriceRule): boolean {
  return (a.fromMs ?? 0) <= (b.fromMs ?? 0) && (a.untilMs ?? Infinity) >= (b.untilMs ?? Infinity);
}

/** True when whatever one list lets in, the other does; an empty list lets in everything. */
function takesIn<T>(outer: readonly T[], inner: readonly T[]): boolean {
  if (outer.length === 0) return true;
  const known = new Set(outer);
  return inner.length > 0 && inner.every((one) => known.has(one));
}
