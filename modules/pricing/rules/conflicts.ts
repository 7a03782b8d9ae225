/**
 * What rules may not be together. Every price that a page has for everybody can be printed as a list of path patterns (`classes.ts`), so a list
 * that could not be is refused when it is set; so is a rule that could never decide.
 */
import type { CompiledPattern } from '../../kernel/pages/scope.ts';
import { canonicalPath, compilePattern, isWithin } from '../../kernel/pages/scope.ts';
import { outermostPrefixes } from './classes.ts';
import type { OrderedRule } from './order.ts';
import { hides, inOrder, lastsAsLong } from './order.ts';
import type { PriceRule } from './rule.ts';
import { refuseRule } from './rule.ts';

/**
 * Refuses rules, each of which is good, for what they are together, or to the site's article prefixes. Throws invalid_parameter (400), which names
 * both. At most 200 rules, so at most 20,000 pairs of patterns are compared, and each rule with at most 1,000 prefixes.
 */
export function validateTogether(rules: readonly PriceRule[], articlePrefixes: readonly string[] | null): void {
  const ordered = inOrder(rules);
  const prefixes = outermostPrefixes(articlePrefixes).map((prefix) => ({ prefix, under: compilePattern(canonicalPath(prefix)) }));
  for (const later of ordered) {
    const hiding = ordered.find((earlier) => earlier.rank < later.rank && hides(earlier, later));
    if (hiding)
      refuseRule(`rules.${later.index}`, `${later.rule.id} would never apply: ${hiding.rule.id} always takes precedence`);
    requirePlace(later, prefixes);
  }
  for (const rule of ordered) requireOneClass(rule, ordered);
}

/** A pattern is under an article prefix, takes in whole ones, or meets none: otherwise its pages could not be named by one pattern. */
function requirePlace(
  { rule, index, pattern }: OrderedRule,
  prefixes: readonly { readonly prefix: string; readonly under: CompiledPattern }[],
): void {
  for (const { prefix, under } of prefixes) {
    if (isWithin(pattern, under) || isWithin(under, pattern) || !mayOverlap(pattern, under)) continue;
    refuseRule(`rules.${index}.path`, `${rule.id} covers only some pages under ${prefix}: start its path with ${prefix}`);
  }
}

/**
 * A rule of one kind for everybody leaves the other kind to later rules. Where one of these meets some of its pages and not others, the other kind
 * would have two prices under one pattern.
 */
function requireOneClass(first: OrderedRule, ordered: readonly OrderedRule[]): void {
  const { kind } = first.rule;
  if (kind === null || !first.isForAll) return;
  for (const next of ordered) {
    if (!next.isForAll || next.rule.kind === kind) continue;
    const isWhole = isWithin(first.pattern, next.pattern);
    if (isWhole && lastsAsLong(next.rule, first.rule)) return;
    if (isWhole || !mayOverlap(first.pattern, next.pattern) || !inForceTogether(first.rule, next.rule)) continue;
    const other = kind === 'read' ? 'citations' : 'reads';
    const sentence = `does not cover ${other}, and ${next.rule.id} prices only some of them: add a rule with the same path for ${other}`;
    refuseRule(`rules.${first.index}`, `${first.rule.id} ${sentence}`);
  }
}

function inForceTogether(a: PriceRule, b: PriceRule): boolean {
  return (a.fromMs ?? 0) < (b.untilMs ?? Infinity) && (b.fromMs ?? 0) < (a.untilMs ?? Infinity);
}

/** False when no path can match both patterns, by what they begin and end with; true also where that is not known. */
export function mayOverlap(a: CompiledPattern, b: CompiledPattern): boolean {
  const beginsAlike = agrees(a, b.first) && agrees(b, a.first);
  if (!beginsAlike) return false;
  const [endOfA, endOfB] = [a.last, b.last];
  return !endOfA || !endOfB || endOfA.endsWith(endOfB) || endOfB.endsWith(endOfA);
}

/** True when a path that matches the pattern may begin so. */
function agrees({ first, middle, last }: CompiledPattern, begin: string): boolean {
  if (first.startsWith(begin)) return true;
  const isExact = middle.length === 0 && last === '';
  return !isExact && begin.startsWith(first);
}
