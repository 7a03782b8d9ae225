/** Price rules in words, as they are typed, and what a simulation says. Every figure is the API's. */
import { day, plain } from '../../core/format.ts';
import { entriesOf } from '../../core/lists.ts';
import { Problem } from '../../core/problem.ts';

/** A rule as the API answers and takes it. */
export interface Rule {
  readonly id: string;
  readonly path: string | null;
  readonly kind: 'READ' | 'CITATION' | null;
  readonly operators: readonly string[];
  readonly categories: readonly string[];
  readonly terms: readonly string[];
  readonly from: number | null;
  readonly until: number | null;
  readonly effect: 'PRICE' | 'FREE' | 'REFUSE';
  readonly priceUsdc: string | null;
}

/** A rule as it is typed. */
export interface TypedRule {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly operators: string;
  readonly categories: readonly string[];
  readonly terms: readonly string[];
  /** Days, `2026-11-22`; empty: none. */
  readonly from: string;
  readonly until: string;
  readonly effect: string;
  readonly price: string;
}

/** What agents read for. */
export const CATEGORIES = [
  { value: 'TRAIN', label: 'Training' },
  { value: 'SEARCH', label: 'Search' },
  { value: 'ASSISTANT', label: 'Assistants, for a person who asks' },
  { value: 'AGENT', label: 'Agents that act on their own' },
] as const;

/** Words of use that a licence is asked for. */
export const TERMS = [
  { value: 'ai-train', label: 'Training (ai-train)' },
  { value: 'ai-index', label: 'Indexing (ai-index)' },
  { value: 'ai-input', label: 'Answers (ai-input)' },
  { value: 'search', label: 'Search (search)' },
  { value: 'all', label: 'Every use (all)' },
] as const;

export const KINDS = [
  { value: '', label: 'Reads and citations' },
  { value: 'READ', label: 'Reads' },
  { value: 'CITATION', label: 'Citations' },
] as const;

export const EFFECTS = [
  { value: 'PRICE', label: 'They pay a price' },
  { value: 'FREE', label: 'They read free' },
  { value: 'REFUSE', label: 'They are refused, whatever they would pay' },
] as const;

const labelOf = (options: readonly { readonly value: string; readonly label: string }[], value: string): string =>
  options.find((one) => one.value === value)?.label ?? value;

/** What pages a rule is for: `/news/*`, or every article; with its kind where it names one. */
export function pagesText({ path, kind }: Pick<Rule, 'path' | 'kind'>): string {
  const pages = path ?? 'Every article';
  return kind === null ? pages : `${pages}, ${labelOf(KINDS, kind).toLowerCase()} alone`;
}

/** Whom a rule is for, and for which use. */
export function readersText({ operators, categories, terms }: Pick<Rule, 'operators' | 'categories' | 'terms'>): string {
  const who = [
    ...(operators.length > 0 ? [`verified agents of ${operators.join(' or ')}`] : []),
    ...(categories.length > 0 ? [`agents for ${categories.map((one) => CATEGORY_WORDS[one] ?? one).join(' or ')}`] : []),
  ];
  const text = who.length === 0 ? 'Every agent' : capital(who.join(', and these only as '));
  return terms.length > 0 ? `${text} that asks for ${terms.join(' or ')}` : text;
}

const CATEGORY_WORDS: Readonly<Record<string, string>> = {
  TRAIN: 'training',
  SEARCH: 'search',
  ASSISTANT: 'assistants',
  AGENT: 'their own tasks',
};

/** When a rule holds; null: always. */
export function whenText({ from, until }: Pick<Rule, 'from' | 'until'>): string | null {
  if (from === null && until === null) return null;
  if (until === null) return `from ${day(from)} on`;
  return from === null ? `until ${day(until)}` : `from ${day(from)} until ${day(until)}`;
}

/** What a rule says: `$0.02`, `free`, `refused`. */
export function effectText({ effect, priceUsdc }: Pick<Rule, 'effect' | 'priceUsdc'>): string {
  if (effect === 'FREE') return 'free';
  return effect === 'REFUSE' ? 'refused' : `$${plain(priceUsdc ?? '')}`;
}

/** A rule in one sentence, for screen readers. */
export function ruleText(rule: Rule): string {
  const when = whenText(rule);
  return `${pagesText(rule)}: ${readersText(rule)}, ${effectText(rule)}${when === null ? '' : `, ${when}`}`;
}

/** A rule as it is first typed. */
export const NEW_RULE: TypedRule = {
  id: '',
  path: '',
  kind: '',
  operators: '',
  categories: [],
  terms: [],
  from: '',
  until: '',
  effect: 'PRICE',
  price: '',
};

/** A rule to change. */
export function typedOf(rule: Rule): TypedRule {
  const { id, path, kind, operators, categories, terms, from, until, effect, priceUsdc } = rule;
  return {
    id,
    path: path ?? '',
    kind: kind ?? '',
    operators: operators.join('\n'),
    categories,
    terms,
    effect,
    from: dateOf(from),
    until: dateOf(until),
    price: plain(priceUsdc ?? ''),
  };
}

/** What was typed, as the API takes it. Throws a problem of the day that is none; all else is the API's to judge. */
export function ruleOf(typed: TypedRule): Rule {
  const { id, path, kind, operators, categories, terms, from, until, effect, price } = typed;
  return {
    id: id.trim(),
    path: path.trim() === '' ? null : path.trim(),
    kind: kind === '' ? null : (kind as Rule['kind']),
    operators: entriesOf(operators.toLowerCase()),
    categories,
    terms,
    from: midnightOf(from, 'from'),
    until: midnightOf(until, 'until'),
    effect: effect as Rule['effect'],
    priceUsdc: effect === 'PRICE' ? price.trim().replace(',', '.') : null,
  };
}

/** Midnight at the beginning of a day, by the clock here; null for none. */
function midnightOf(text: string, parameter: string): number | null {
  if (text.trim() === '') return null;
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim()) ?? [];
  const at = new Date(Number(year), Number(month) - 1, Number(date)).getTime();
  if (Number.isNaN(at)) throw new Problem('invalid', 'Write a day as 2026-12-31.', { parameter });
  return at;
}

function dateOf(at: number | null): string {
  if (at === null) return '';
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Whether a rule holds at a moment: not yet, now, or not any more. */
export function standingOf({ from, until }: Pick<Rule, 'from' | 'until'>, now: number): 'to come' | 'in force' | 'over' {
  if (until !== null && until <= now) return 'over';
  return from !== null && from > now ? 'to come' : 'in force';
}

/** A list with a rule in it: in place of the one of that id, or at its end. */
export function withRule(rules: readonly Rule[], id: string | null, rule: Rule): readonly Rule[] {
  return rules.some((one) => one.id === id) ? rules.map((one) => (one.id === id ? rule : one)) : [...rules, rule];
}

/** Where in the form a refusal of the list belongs: `rules.3.path` is `path` of the fourth rule; null: to no field of this one. */
export function placeOf(parameter: string | null, place: number): string | null {
  const [list, at, member = ''] = (parameter ?? '').split('.');
  if (list !== 'rules' || at !== String(place)) return null;
  return member === 'price' ? 'priceUsdc' : member === '' ? null : member;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
