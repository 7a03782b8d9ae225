/**
 * What a publisher's own gate decides by before it prices anything. Nothing here
 * is a price, a chain or a secret.
 */
import { ServiceError } from '../../kernel/errors.ts';
import { hasControlCharacter } from '../../kernel/hosts/host.ts';
import { DEFAULT_FORMS, isForm, MAX_FORMS } from '../../kernel/pages/forms.ts';
import type { ClassPolicies } from './visitors.ts';
import { DEFAULT_CLASSES } from './visitors.ts';

/** What is in scope: the article prefixes, or the whole site but some prefixes. */
export type GateScope =
  | { readonly mode: 'prefixes' }
  | { readonly mode: 'site'; readonly excludePrefixes: readonly string[]; readonly includeExtensions?: readonly string[] };

/** The scope as it is stored: with the forms of articles, where its owner decided on them. */
export type StoredScope = GateScope & { readonly forms?: readonly string[] };

/** Fragments of User-Agents, in lower case; `block` wins over `allow`, `allow` over `charge`. */
export interface CrawlerPolicy {
  readonly allow: readonly string[];
  readonly charge: readonly string[];
  readonly block: readonly string[];
}

/** What the tenant decides. */
export interface EnforcementSettings {
  readonly gateScope: GateScope;
  /** What other addresses of an article add to its own; none: each address is a page of its own. */
  readonly forms: readonly string[];
  /** Fragments of the User-Agents of search engines that read free. */
  readonly seoAllowlist: readonly string[];
  readonly crawlerPolicy: CrawlerPolicy;
  /** What becomes of classes of visitors that none of the lists names. */
  readonly visitorClasses: ClassPolicies;
}

/** What holds until a tenant decides otherwise: articles alone, and the search engines read free. */
export const DEFAULT_ENFORCEMENT: EnforcementSettings = {
  gateScope: { mode: 'prefixes' },
  forms: DEFAULT_FORMS,
  seoAllowlist: ['googlebot', 'bingbot', 'duckduckbot', 'applebot', 'yandexbot', 'baiduspider'],
  crawlerPolicy: { allow: [], charge: [], block: [] },
  visitorClasses: DEFAULT_CLASSES,
};

const MAX_FRAGMENT_CHARS = 64;
/** Most entries of each list of a gate's settings. */
export const MAX_LIST = 200;
const MAX_PREFIX_CHARS = 512;

/** User-Agents of people; a fragment found in one of them would gate readers. */
const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (Linux; Android 15; SM-S928B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
  'Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18',
].map((agent) => agent.toLowerCase());

/**
 * The settings in the form that is stored: fragments trimmed to lower case, without repetition. Throws invalid_parameter naming
 * the list: over 200 entries, a fragment over 64 characters, empty, with a control character, found in a browser's User-Agent, or
 * in two lists of the policy; a prefix that is no path; a form that is no ending and no last part of a path.
 */
export function normaliseEnforcement(settings: EnforcementSettings): EnforcementSettings {
  const { gateScope, forms, seoAllowlist, crawlerPolicy, visitorClasses } = settings;
  const policy = {
    allow: normaliseList(crawlerPolicy.allow, 'crawlerPolicy.allow'),
    charge: normaliseList(crawlerPolicy.charge, 'crawlerPolicy.charge'),
    block: normaliseList(crawlerPolicy.block, 'crawlerPolicy.block'),
  };
  const all = [...policy.allow, ...policy.charge, ...policy.block];
  const twice = all.find((fragment, index) => all.indexOf(fragment) !== index);
  if (twice !== undefined) refuse('crawlerPolicy', `"${twice}" is in two lists`);
  return {
    gateScope: normaliseScope(gateScope),
    forms: normaliseForms(forms),
    seoAllowlist: normaliseList(seoAllowlist, 'seoAllowlist'),
    crawlerPolicy: policy,
    visitorClasses,
  };
}

function normaliseList(list: readonly string[], name: string): readonly string[] {
  const fragments = [...new Set(list.map((fragment) => fragment.trim().toLowerCase()))];
  if (fragments.length > MAX_LIST) refuse(name, `at most ${MAX_LIST} entries`);
  for (const fragment of fragments) {
    const usable = fragment !== '' && fragment.length <= MAX_FRAGMENT_CHARS && !list.some(hasControlCharacter);
    if (!usable) refuse(name, `each entry has 1 to ${MAX_FRAGMENT_CHARS} printable characters`);
    if (BROWSERS.some((browser) => browser.includes(fragment))) refuse(name, `"${fragment}" is part of a browser's User-Agent`);
  }
  return fragments;
}

function normaliseForms(given: readonly string[]): readonly string[] {
  const forms = [...new Set(given.map((form) => form.trim().toLowerCase()))];
  if (forms.length > MAX_FORMS) refuse('forms', `at most ${MAX_FORMS} entries`);
  if (!forms.every(isForm)) refuse('forms', 'each entry is an ending such as .md, or a last part of a path such as /amp');
  return forms;
}

function normaliseScope(scope: GateScope): GateScope {
  if (scope.mode === 'prefixes') return { mode: 'prefixes' };
  const { excludePrefixes, includeExtensions } = scope;
  const isPrefix = (prefix: string): boolean =>
    prefix.startsWith('/') && prefix.length <= MAX_PREFIX_CHARS && !hasControlCharacter(prefix);
  if (excludePrefixes.length > MAX_LIST || !excludePrefixes.every(isPrefix)) {
    refuse('gateScope.excludePrefixes', `at most ${MAX_LIST} paths that begin with a slash`);
  }
  const extensions = includeExtensions?.map((extension) => extension.toLowerCase());
  if (extensions && (extensions.length > MAX_LIST || !extensions.every((extension) => /^\.[a-z0-9]{1,15}$/.test(extension)))) {
    refuse('gateScope.includeExtensions', 'each entry is a dot and up to 15 letters or digits');
  }
  return { mode: 'site', excludePrefixes: [...excludePrefixes], ...(extensions ? { includeExtensions: extensions } : {}) };
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}
