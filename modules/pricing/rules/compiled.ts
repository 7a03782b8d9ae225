/** A site's price rules made quick to ask: the first in the order of choice that applies. */
import type { LicenceTerm } from '../../kernel/licence/period.ts';
import { MAX_PRICE_MICRO } from '../../kernel/money/money.ts';
import { matches } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { OrderedRule } from './order.ts';
import { inOrder, spelledTerms } from './order.ts';
import type { AgentCategory, PriceRule, RulePrices } from './rule.ts';
import { ruleMicro } from './rule.ts';

/** What a price is asked for. */
export interface Asked {
  /** Canonical path of the page (modules/kernel/pages/scope.ts). */
  readonly path: string;
  /** Null: the page is no article. */
  readonly slug: string | null;
  readonly kind: CrossingKind;
  /** Host that the agent was proven to be of; null: nobody verified it, whatever it says. */
  readonly operator: string | null;
  readonly category: AgentCategory | null;
  /** Empty: it does not say. */
  readonly terms: readonly LicenceTerm[];
  readonly atMs: number;
}

/** Who asks, as far as a price may depend on it. */
export type Asker = Pick<Asked, 'operator' | 'category' | 'terms'>;

/** An agent that nobody verified and that says nothing of itself. */
export const NOBODY: Asker = { operator: null, category: null, terms: [] };

/** What a page costs somebody: so much, nothing, or it is not given at all. */
export type Outcome = { readonly priceMicro: bigint } | 'free' | 'refused';

/** A rule with what it makes of each kind. */
export interface CompiledRule extends OrderedRule {
  readonly outcome: Readonly<Record<CrossingKind, Outcome>>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Rules ready to be asked. */
export interface CompiledRules {
  /** In the order of choice. */
  readonly ordered: readonly CompiledRule[];
  /** The moments at which a rule begins or ends, ascending. */
  readonly boundaries: readonly number[];
  /** The rule that decides; null: none does, so that what holds otherwise does. Of several terms the dearest decides, a refusal before any price. */
  find(asked: Asked, otherwise: Otherwise): CompiledRule | null;
  /** Operators, categories and terms that some rule names; whatever else an asker says changes no price. */
  readonly named: ReadonlySet<string>;
}

/** What holds where no rule decides, and the octets of the pattern that it stands for: a shorter one does not come before it. */
export interface Otherwise {
  readonly outcome: Readonly<Record<CrossingKind, Outcome>>;
  readonly octets: number;
}

/** Compiles rules that were judged; `floorMicro` is the lowest price of anything that is not free. */
export function compileRules(rules: readonly PriceRule[], prices: RulePrices, floorMicro: bigint): CompiledRules {
  const ordered = inOrder(rules).map((one) => compileRule(one, prices, floorMicro));
  const edges = ordered.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]).filter((edge) => edge > 0 && edge < Infinity);
  return {
    ordered,
    boundaries: [...new Set(edges)].sort((a, b) => a - b),
    find: ordered.length === 0 ? () => null : openFinder(ordered),
    named: new Set(rules.flatMap(({ operators, categories, terms }) => [...operators, ...categories, ...spelledTerms(terms)])),
  };
}

function compileRule(one: OrderedRule, prices: RulePrices, floorMicro: bigint): CompiledRule {
  const { rule } = one;
  const outcomeOf = (kind: CrossingKind): Outcome => {
    if (rule.effect === 'free') return 'free';
    if (rule.effect === 'refuse') return 'refused';
    const micro = ruleMicro(rule, kind, prices);
    return { priceMicro: micro < floorMicro ? floorMicro : micro };
  };
  const outcome = { read: outcomeOf('read'), citation: outcomeOf('citation') };
  return { ...one, outcome, fromMs: rule.fromMs ?? 0, untilMs: rule.untilMs ?? Infinity };
}

/** Indexes the rules by what their patterns begin with, so that a path meets only those that could match it. */
function openFinder(ordered: readonly CompiledRule[]): CompiledRules['find'] {
  const byFirst = new Map<string, CompiledRule[]>();
  for (const rule of ordered) {
    const bucket = byFirst.get(rule.pattern.first);
    if (bucket) bucket.push(rule);
    else byFirst.set(rule.pattern.first, [rule]);
  }
  const lengths = [...new Set([...byFirst.keys()].map(({ length }) => length))].sort((a, b) => b - a);
  const findOne = (asked: Asked, octets: number, term: LicenceTerm | null, meets: Meets): CompiledRule | null => {
    let found: CompiledRule | null = null;
    for (const length of lengths) {
      if (length > asked.path.length) continue;
      for (const rule of byFirst.get(asked.path.slice(0, length)) ?? []) {
        if (rule.octets < octets || (found && rule.rank > found.rank)) break;
        if (applies(rule, asked, term) && meets(rule)) found = rule;
      }
    }
    return found;
  };
  return (asked, { outcome, octets }) => {
    if (asked.terms.length === 0) return findOne(asked, octets, null, ({ pattern }) => matches(pattern, asked.path));
    const met = new Map<CompiledRule, boolean>();
    const meets: Meets = (rule) => {
      const known = met.get(rule) ?? matches(rule.pattern, asked.path);
      met.set(rule, known);
      return known;
    };
    const weigh = (rule: CompiledRule | null): bigint => weightOf((rule ?? { outcome }).outcome[asked.kind]);
    return spelledTerms(asked.terms)
      .map((term) => findOne(asked, octets, term, meets))
      .reduce((a, b) => (weigh(b) > weigh(a) ? b : a));
  };
}

/** What an outcome counts as beside others: nothing is dearer than a refusal. */
function weightOf(outcome: Outcome): bigint {
  if (outcome === 'free') return 0n;
  return outcome === 'refused' ? MAX_PRICE_MICRO + 1n : outcome.priceMicro;
}

/** True when the path that is asked for matches a rule's pattern; that takes longest, so it is looked at last, and once for all terms. */
type Meets = (rule: CompiledRule) => boolean;

/** True when a rule is for who asks, for what and when, wherever it is for. */
function applies(rule: CompiledRule, asked: Asked, term: LicenceTerm | null): boolean {
  const { kind, operators, categories, terms } = rule.rule;
  return (
    (kind === null || kind === asked.kind) &&
    rule.fromMs <= asked.atMs &&
    asked.atMs < rule.untilMs &&
    (operators.length === 0 || (asked.operator !== null && operators.includes(asked.operator))) &&
    (categories.length === 0 || (asked.category !== null && categories.includes(asked.category))) &&
    (terms.length === 0 || (term !== null && spelledTerms(terms).includes(term)))
  );
}
