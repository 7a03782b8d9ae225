import type { AgentCategory } from '../../pricing/rules/rule.ts';

/**
 * Crawlers known by a name in their User-Agent, lower case, each with who runs it and what it reads for. Publishers' gates know the same
 * names (`core/category.ts` of their package), which tests hold: a replay of what was observed would price other visits otherwise.
 */
export const CRAWLERS: Readonly<Record<string, { readonly operator: string; readonly readsFor: AgentCategory }>> = {
  gptbot: { operator: 'OpenAI', readsFor: 'train' },
  'oai-searchbot': { operator: 'OpenAI', readsFor: 'search' },
  'chatgpt-user': { operator: 'OpenAI', readsFor: 'assistant' },
  claudebot: { operator: 'Anthropic', readsFor: 'train' },
  'claude-user': { operator: 'Anthropic', readsFor: 'assistant' },
  'claude-searchbot': { operator: 'Anthropic', readsFor: 'search' },
  'anthropic-ai': { operator: 'Anthropic', readsFor: 'train' },
  perplexitybot: { operator: 'Perplexity', readsFor: 'search' },
  'perplexity-user': { operator: 'Perplexity', readsFor: 'assistant' },
  'google-extended': { operator: 'Google', readsFor: 'train' },
  googlebot: { operator: 'Google', readsFor: 'search' },
  bingbot: { operator: 'Microsoft', readsFor: 'search' },
  applebot: { operator: 'Apple', readsFor: 'search' },
  amazonbot: { operator: 'Amazon', readsFor: 'search' },
  bytespider: { operator: 'ByteDance', readsFor: 'train' },
  ccbot: { operator: 'Common Crawl Foundation', readsFor: 'train' },
  'meta-externalagent': { operator: 'Meta', readsFor: 'train' },
  'meta-externalfetcher': { operator: 'Meta', readsFor: 'assistant' },
  'cohere-ai': { operator: 'Cohere', readsFor: 'assistant' },
  'mistralai-user': { operator: 'Mistral', readsFor: 'assistant' },
  duckassistbot: { operator: 'DuckDuckGo', readsFor: 'assistant' },
  youbot: { operator: 'You', readsFor: 'search' },
  diffbot: { operator: 'Diffbot', readsFor: 'train' },
  timpibot: { operator: 'Timpi', readsFor: 'train' },
  'chatgpt agent': { operator: 'OpenAI', readsFor: 'agent' },
  'google-agent': { operator: 'Google', readsFor: 'agent' },
  'googleagent-mariner': { operator: 'Google', readsFor: 'agent' },
  novaact: { operator: 'Amazon', readsFor: 'agent' },
  amazonbuyforme: { operator: 'Amazon', readsFor: 'agent' },
  'manus-user': { operator: 'Butterfly Effect', readsFor: 'agent' },
  twinagent: { operator: 'Twin', readsFor: 'agent' },
};

/** As many characters of a User-Agent are looked at. */
export const MAX_UA_CHARS = 512;
const NAMES = Object.keys(CRAWLERS).sort((a, b) => b.length - a.length);
/** A name as a whole word, of the longest first; JavaScript and Postgres read it alike. It stands in lower case, and only ASCII is folded. */
export const CRAWLER_PATTERN = `(?<![a-z0-9-])(?:${NAMES.join('|')})(?![a-z0-9-])`;
const NAMED = new RegExp(CRAWLER_PATTERN, 'i');

/** The known crawler that a User-Agent names first; null where it names none. No more than 512 characters are looked at. */
export function crawlerOf(userAgent: string): string | null {
  return NAMED.exec(userAgent.slice(0, MAX_UA_CHARS))?.[0].toLowerCase() ?? null;
}

/** What a crawler of this name reads for; null of any other text. */
export function categoryOf(name: string): AgentCategory | null {
  return isKnownCrawler(name) ? (CRAWLERS[name]?.readsFor ?? null) : null;
}

/** True of a label that stands for a known crawler. */
export function isKnownCrawler(label: string): boolean {
  return Object.hasOwn(CRAWLERS, label);
}
