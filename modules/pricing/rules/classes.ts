/**
 * The prices of a site as path patterns: what an agent that nobody verified is asked, for the documents that print it (manifests, licences, packages). Exact
 * for the rules that `conflicts.ts` lets through: of a page's patterns the first in the list says what the page costs, if it has authors.
 */
import { mergeSlashes } from '../../kernel/hosts/host.ts';
import { normalisePrefix } from '../../kernel/pages/resource.ts';
import type { CompiledPattern } from '../../kernel/pages/scope.ts';
import { canonicalPath, compilePattern, isWithin } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { CompiledRule, CompiledRules, Otherwise, Outcome } from './compiled.ts';

/** What a pattern of pages costs. */
export interface PriceClass {
  /** RFC 9309, as its owner wrote it; of an article prefix the prefix, encoded. */
  readonly pattern: string;
  /** The article prefix that this is the default of; null: a rule's pattern. */
  readonly prefix: string | null;
  /** The pattern as a route with one open part, such as /blog/:slug; null where it is none. */
  readonly routeTemplate: string | null;
  readonly read: Outcome;
  readonly citation: Outcome;
  /** What others are asked who were verified, or say what they read for; the first that fits holds. */
  readonly byAgent: readonly AgentOutcome[];
  /** When something of the site's prices changes by itself next; null: never. */
  readonly validUntilMs: number | null;
}

/** What a rule says for some agents in a class. */
export interface AgentOutcome {
  readonly ruleId: string;
  /** Of the rule, which may be for a part of the class; null: every article. */
  readonly pattern: string | null;
  readonly operators: readonly string[];
  readonly categories: readonly string[];
  readonly terms: readonly string[];
  readonly kind: CrossingKind;
  readonly outcome: Outcome;
}

/** A site's article prefixes without those that stand under another one. */
export function outermostPrefixes(articlePrefixes: readonly string[] | null): readonly string[] {
  const prefixes = [...new Set((articlePrefixes ?? ['/']).map(normalisePrefix))];
  // In this order a prefix stands right behind those that it stands under.
  const outermost = new Set<string>();
  let last: string | null = null;
  for (const prefix of prefixes.toSorted()) {
    if (last !== null && prefix.startsWith(last)) continue;
    outermost.add(prefix);
    last = prefix;
  }
  return prefixes.filter((prefix) => outermost.has(prefix));
}

/** The classes of some rules at a moment: patterns of rules in the order of choice, then each article prefix with what holds `otherwise`. */
export function classesOf(
  rules: CompiledRules,
  otherwise: Otherwise['outcome'],
  articlePrefixes: readonly string[] | null,
  atMs: number,
): readonly PriceClass[] {
  const inForce = rules.ordered.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  const forAll = inForce.filter(({ isForAll }) => isForAll);
  const validUntilMs = nextBoundary(rules.boundaries, atMs);
  const classOf = (pattern: string, prefix: string | null): PriceClass => {
    const compiled = compilePattern(pattern);
    const [read, citation] = [decisive(forAll, compiled, 'read'), decisive(forAll, compiled, 'citation')];
    return {
      pattern,
      prefix,
      routeTemplate: routeOf(pattern),
      read: (read ?? { outcome: otherwise }).outcome.read,
      citation: (citation ?? { outcome: otherwise }).outcome.citation,
      byAgent: inForce.flatMap((rule) => agentOutcomes(rule, compiled, { read, citation })),
      validUntilMs,
    };
  };
  const prefixes = outermostPrefixes(articlePrefixes).map((prefix) => ({ prefix, pattern: canonicalPath(prefix) }));
  const under = prefixes.map(({ pattern }) => compilePattern(pattern));
  const isOfRule = ({ pattern }: CompiledRule): boolean =>
    under.some((prefix) => isWithin(pattern, prefix)) && !under.some((prefix) => isWithin(prefix, pattern));
  const patterns = new Set(forAll.filter(isOfRule).flatMap(({ rule }) => (rule.path === null ? [] : [rule.path])));
  return [
    ...[...patterns].map((pattern) => classOf(pattern, null)),
    ...prefixes.map(({ prefix, pattern }) => classOf(pattern, prefix)),
  ];
}

/** The first moment after another at which a rule begins or ends; null: none does. `boundaries` are ascending. */
export function nextBoundary(boundaries: readonly number[], atMs: number): number | null {
  return boundaries.find((boundary) => boundary > atMs) ?? null;
}

/** The first rule for a kind that every path of a pattern meets. */
function decisive(rules: readonly CompiledRule[], pattern: CompiledPattern, kind: CrossingKind): CompiledRule | null {
  return rules.find(({ rule, pattern: own }) => (rule.kind === null || rule.kind === kind) && isWithin(pattern, own)) ?? null;
}

/** What a rule for some agents says in a class: where it is for all of it, only before what decides for everybody; and where it is for a part. */
function agentOutcomes(
  one: CompiledRule,
  pattern: CompiledPattern,
  decided: Readonly<Record<CrossingKind, CompiledRule | null>>,
): readonly AgentOutcome[] {
  if (one.isForAll) return [];
  const { rule, rank, outcome } = one;
  const isWhole = isWithin(pattern, one.pattern);
  if (!isWhole && !isWithin(one.pattern, pattern)) return [];
  return (['read', 'citation'] as const)
    .filter((kind) => (rule.kind === null || rule.kind === kind) && (!isWhole || rank < (decided[kind]?.rank ?? Infinity)))
    .map((kind) => ({
      ruleId: rule.id,
      pattern: rule.path,
      operators: rule.operators,
      categories: rule.categories,
      terms: rule.terms,
      kind,
      outcome: outcome[kind],
    }));
}

/** A pattern as a route: a place for whatever follows a slash, or a path as it is. Null for any other, and for characters no route has. */
function routeOf(pattern: string): string | null {
  const open = pattern.endsWith('/') ? `${pattern}*` : pattern;
  const isExact = open.endsWith('$');
  const parts = (isExact ? open.slice(0, -1) : open).split('*');
  const [before = '', after = ''] = parts;
  if (parts.length > 2 || (parts.length === 1 && !isExact) || (parts.length === 2 && !before.endsWith('/'))) return null;
  if (parts.length === 2 && !isExact && after !== '') return null;
  const route = parts.length === 1 ? before : `${before}:slug${after}`;
  return /^[a-zA-Z0-9_/:.\-~%]+$/.test(route) && mergeSlashes(route) === route && !route.includes('..') ? route : null;
}
