/**
 * A site's prices as packages of IAB Tech Lab's Content Monetization Protocols (CoMP 1.0): a projection of its price classes, which says
 * nothing that a quote would not. Numbers are those of the standard's lists.
 */
import type { LicenceTerm } from '../../kernel/licence/period.ts';
import { formatUsdc } from '../../kernel/money/money.ts';
import type { CompiledPattern } from '../../kernel/pages/scope.ts';
import { compilePattern, isWithin, matches } from '../../kernel/pages/scope.ts';
import type { PriceClass } from './classes.ts';
import type { Outcome } from './compiled.ts';
import { weightOf } from './compiled.ts';
import { spelledTerms } from './order.ts';
import { mayOverlap } from './overlap.ts';

/** Uses by their number in the list of intended functions, in our words. */
const TERMS_OF_FUNCTION: readonly (readonly LicenceTerm[])[] = [
  ['all'],
  ['ai-index', 'ai-input', 'ai-train'],
  ['ai-train'],
  ['ai-input'],
  ['ai-index'],
  ['search'],
];
/** Numbers a request may name. */
export const FUNCTIONS = TERMS_OF_FUNCTION.length;
/** Most packages of an answer: a site has as many rules, and its prefixes besides. */
const MAX_PACKAGES = 200;

const CONTENT_SCOPE = { corpus: 0, section: 1 } as const;
const ALLOWED_USE_AS_LICENSED = 5;
const PRICE_TYPE = { perUse: 0, other: 5 } as const;
const CONTENT_TEXT = 0;
const AUTHORIZATION = { none: 0, other: 4 } as const;
const DELIVERY_HTML = 0;

/** What packages are made of. */
export interface CompFacts {
  readonly host: string;
  /** In their order: of a page's the first holds. */
  readonly classes: readonly PriceClass[];
  /** Canonical paths of sections or pages that are asked for; empty: the whole site. */
  readonly paths: readonly string[];
  /** The uses that are asked for, by number; empty: none is said. */
  readonly functions: readonly number[];
  readonly licenseUrl: string;
  readonly reportUrl: string;
  /** Who makes the package for the host. */
  readonly packager: string;
}

/** A package, in the standard's words. */
export interface CompPackage {
  readonly id: string;
  readonly title: string;
  readonly seller: string;
  readonly packager: string;
  readonly licenseurl: string;
  readonly reporturl: string;
  readonly scope: {
    readonly scope: number;
    readonly ause: number;
    readonly pricetype: number;
    /** USD a read; left out where pages of the package cost different amounts for the uses asked for. */
    readonly unitprice?: number;
    readonly cur: 'USD';
    readonly max: 0;
    readonly ctype: readonly number[];
  };
  readonly retrieval: { readonly auth: number; readonly endpoint: string; readonly type: readonly number[] };
  /** What the standard has no words for. */
  readonly ext: {
    /** Of the pages in it (RFC 9309): of several packages with a page, the first holds. */
    readonly pattern: string;
    /** USD a citation; 0: free. Left out: it is refused. */
    readonly citationprice?: number;
    /** When prices of the site change by themselves next, epoch milliseconds. */
    readonly validuntil?: number;
  };
}

/** The packages that a request concerns, the most specific pattern first; what is refused to everybody is in none. At most 200. */
export function packagesOf(facts: CompFacts): readonly CompPackage[] {
  const terms = [...new Set(facts.functions.flatMap((number) => TERMS_OF_FUNCTION[number] ?? []))];
  const rules = terms.length === 0 ? new Map() : useRulesOf(facts.classes);
  return facts.classes
    .filter(isConcerned(facts))
    .flatMap((one) => {
      const read = readOutcome(one, terms, rules);
      return read === 'refused' ? [] : [packageOf(facts, one, read)];
    })
    .slice(0, MAX_PACKAGES);
}

/** Classes that hold for a path asked for, and those of pages below it. */
function isConcerned({ classes, paths }: CompFacts): (one: PriceClass) => boolean {
  if (paths.length === 0) return () => true;
  const compiled = new Map(classes.map((one) => [one, compilePattern(one.pattern)]));
  const concerned = new Set<PriceClass>();
  for (const path of paths) {
    const below = compilePattern(path);
    for (const [one, pattern] of compiled) if (isWithin(pattern, below)) concerned.add(one);
    const holding = [...compiled].find(([, pattern]) => matches(pattern, path));
    if (holding) concerned.add(holding[0]);
  }
  return (one) => concerned.has(one);
}

/** A rule for any agent that says what it reads for. */
interface UseRule {
  readonly terms: readonly LicenceTerm[];
  readonly pattern: CompiledPattern;
  readonly outcome: Outcome;
}

/** The rules for reads by use alone, of all classes, by their ids. */
function useRulesOf(classes: readonly PriceClass[]): ReadonlyMap<string, UseRule> {
  const all = classes.flatMap(({ byAgent }) => byAgent).filter(({ kind }) => kind === 'read');
  const open = all.filter(({ operators, categories, terms }) => terms.length > 0 && operators.length + categories.length === 0);
  return new Map(
    open.map(({ ruleId, terms, pattern, outcome }) => [
      ruleId,
      { terms: spelledTerms(terms as readonly LicenceTerm[]), pattern: compilePattern(pattern ?? '/'), outcome },
    ]),
  );
}

/**
 * What a read costs an agent that nobody verified and that asks for these uses: as a quote says, the dearest of several. Null: it depends on the
 * page, since a rule for such a use is for a part of the class.
 */
function readOutcome(
  { pattern, read, byAgent }: PriceClass,
  terms: readonly LicenceTerm[],
  rules: ReadonlyMap<string, UseRule>,
): Outcome | null {
  const own = compilePattern(pattern);
  const fits = (rule: UseRule, term: LicenceTerm): boolean => rule.terms.includes(term);
  const isPart = (rule: UseRule): boolean => !isWithin(own, rule.pattern) && mayOverlap(own, rule.pattern);
  const asked = spelledTerms(terms);
  const named = [...rules.values()].filter((rule) => asked.some((term) => fits(rule, term)));
  if (named.length === 0) return read;
  if (named.some(isPart)) return null;
  const here = byAgent.flatMap(({ kind, ruleId }) => (kind === 'read' ? (rules.get(ruleId) ?? []) : []));
  const outcomes = asked.map((term) => here.find((rule) => fits(rule, term))?.outcome ?? read);
  return outcomes.reduce((a, b) => (weightOf(b) > weightOf(a) ? b : a));
}

function packageOf(facts: CompFacts, one: PriceClass, read: Exclude<Outcome, 'refused'> | null): CompPackage {
  const { host, licenseUrl, reportUrl, packager } = facts;
  const { pattern, prefix, citation, validUntilMs } = one;
  const [fixed = '/'] = pattern.split('*');
  return {
    id: `${host}${pattern}`,
    title: prefix === '/' ? `All articles of ${host}` : `${pattern} of ${host}`,
    seller: host,
    packager,
    licenseurl: licenseUrl,
    reporturl: reportUrl,
    scope: {
      scope: prefix === '/' ? CONTENT_SCOPE.corpus : CONTENT_SCOPE.section,
      ause: ALLOWED_USE_AS_LICENSED,
      ...(read === null ? { pricetype: PRICE_TYPE.other } : { pricetype: PRICE_TYPE.perUse, unitprice: dollars(read) }),
      cur: 'USD',
      max: 0,
      ctype: [CONTENT_TEXT],
    },
    retrieval: {
      auth: read === 'free' ? AUTHORIZATION.none : AUTHORIZATION.other,
      endpoint: `https://${host}${fixed.replace(/\$$/, '')}`,
      type: [DELIVERY_HTML],
    },
    ext: {
      pattern,
      ...(citation === 'refused' ? {} : { citationprice: dollars(citation) }),
      ...(validUntilMs === null ? {} : { validuntil: validUntilMs }),
    },
  };
}

/** Dollars as the number nearest to them, which prints as the decimal it is: prices have few digits. */
function dollars(outcome: Exclude<Outcome, 'refused'>): number {
  return outcome === 'free' ? 0 : Number(formatUsdc(outcome.priceMicro));
}
