import type { AgentCategory } from '../rules/rule.ts';

/**
 * What the crawlers that are known by name read for; a label that is none of these says nothing of it. Publishers' gates tell the same of
 * them (`core/category.ts` of their package), which a test holds: a replay of what was observed would price other visits otherwise.
 */
export const READ_FOR: Readonly<Record<string, AgentCategory>> = {
  gptbot: 'train',
  claudebot: 'train',
  'anthropic-ai': 'train',
  'google-extended': 'train',
  bytespider: 'train',
  ccbot: 'train',
  'meta-externalagent': 'train',
  timpibot: 'train',
  diffbot: 'train',
  'oai-searchbot': 'search',
  'claude-searchbot': 'search',
  perplexitybot: 'search',
  googlebot: 'search',
  bingbot: 'search',
  applebot: 'search',
  amazonbot: 'search',
  youbot: 'search',
  'chatgpt-user': 'assistant',
  'claude-user': 'assistant',
  'perplexity-user': 'assistant',
  'meta-externalfetcher': 'assistant',
  'mistralai-user': 'assistant',
  duckassistbot: 'assistant',
  'cohere-ai': 'assistant',
};

/** What an agent of this label reads for, as the list of crawlers says; null where it does not say. */
export function categoryOf(label: string): AgentCategory | null {
  return Object.hasOwn(READ_FOR, label) ? (READ_FOR[label] ?? null) : null;
}
