/** What is asked under which paths, by use: a site's classes, the parts of them for which a use costs something else, and its free pages. */
import type { LicenceTerm } from '../../../kernel/licence/period.ts';
import { normalisePrefix, slugOf } from '../../../kernel/pages/resource.ts';
import { canonicalPath, compilePattern, exactPattern, isWithin, MAX_PATTERN_CHARS } from '../../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { AgentOutcome, PriceClass } from '../classes.ts';
import type { Outcome } from '../compiled.ts';
import { NOBODY } from '../compiled.ts';
import type { CompiledPricing } from '../pricing.ts';

/** Pages of one pattern, and what an agent that nobody verified is asked there. */
export interface RslPath {
  /** As every client reads it (`printPattern`). */
  readonly pattern: string;
  outcomeOf(kind: CrossingKind, use: LicenceTerm): Outcome;
}

/** Most free pages that are named one by one; those beyond are shown as what they stand among costs. A slug may be one under each prefix. */
const MOST_FREE_PAGES = 1_000;
const MOST_LOOKED_AT = 4_000;

/** The paths of a site at a moment, those of longer patterns first: of a page's paths the first says what is asked for it. */
export function rslPaths(pricing: CompiledPricing, atMs: number): readonly RslPath[] {
  const classes = pricing.classes(atMs);
  const found = [...freePages(pricing, atMs), ...classes.flatMap((one) => [...partsOf(one), pathOf(one, one.pattern)])];
  const named = new Map(found.toReversed().map((path) => [path.pattern, path])); // the first of a pattern stays
  return [...named.values()]
    .toReversed()
    .toSorted((a, b) => b.pattern.length - a.pattern.length)
    .map(printed);
}

const printed = (path: RslPath): RslPath => ({ ...path, pattern: printPattern(path.pattern) });

/** A class, or a part of it: the first rule for the use that is for all of the pattern holds, else what holds for everybody. */
function pathOf(one: PriceClass, pattern: string): RslPath {
  const compiled = compilePattern(pattern);
  const rules = one.byAgent.filter((rule) => isForUses(rule) && isWithin(compiled, compilePattern(rule.pattern ?? '/')));
  return {
    pattern,
    outcomeOf: (kind, use) =>
      rules.find((rule) => rule.kind === kind && (rule.terms.includes(use) || rule.terms.includes('all')))?.outcome ?? one[kind],
  };
}

function partsOf(one: PriceClass): readonly RslPath[] {
  const compiled = compilePattern(one.pattern);
  const isPart = ({ pattern }: AgentOutcome): boolean => pattern !== null && !isWithin(compiled, compilePattern(pattern));
  const patterns = new Set(one.byAgent.filter((rule) => isForUses(rule) && isPart(rule)).map(({ pattern }) => pattern as string));
  return [...patterns].map((pattern) => pathOf(one, pattern));
}

/** True for a rule that names uses and no agent. A document is for everybody: it says nothing of single agents. */
function isForUses({ operators, categories, terms }: AgentOutcome): boolean {
  return operators.length === 0 && categories.length === 0 && terms.length > 0;
}

/** The pages that the owner names free, unless a rule says otherwise of them. */
function freePages(pricing: CompiledPricing, atMs: number): readonly RslPath[] {
  const prefixes = (pricing.articlePrefixes ?? ['/']).map(normalisePrefix);
  const slugs = pricing.freeSlugs.slice(0, Math.min(MOST_FREE_PAGES, Math.ceil(MOST_LOOKED_AT / Math.max(1, prefixes.length))));
  const pages = slugs
    .flatMap((slug) => prefixes.map((prefix) => ({ slug, plain: `${prefix}${slug}` })))
    .filter(({ slug, plain }) => slugOf(pricing.articlePrefixes, plain) === slug)
    .map(({ slug, plain }) => ({ slug, path: canonicalPath(plain) }))
    .filter(({ path }) => path.length < MAX_PATTERN_CHARS)
    .slice(0, MOST_FREE_PAGES);
  return pages.map(({ slug, path }) => ({
    pattern: exactPattern(path),
    outcomeOf: (kind, use) => {
      const price = pricing.resolve({ ...NOBODY, slug, path, kind, terms: [use], atMs });
      return price.kind === 'free' || price.kind === 'refused' ? price.kind : { priceMicro: price.micro };
    },
  }));
}

/**
 * A pattern as every client reads it: canonical, and an open end said by a star, since some take `/a/` for that path and what lies below
 * `/a//`. No character of it means anything in XML or JSON. Throws invalid_parameter for text that is no pattern.
 */
function printPattern(given: string): string {
  const { first, middle, last } = compilePattern(given);
  if (last === '') return `${first}$`;
  const parts = [first, ...middle].join('*');
  return last === null ? `${parts}*` : `${parts}*${last}$`;
}
