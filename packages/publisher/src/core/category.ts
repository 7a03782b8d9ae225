/** What crawlers read for, by what their operators say of them. A User-Agent proves nothing, but a liar could as well claim to be a person. */
import type { AgentCategory } from '../client.ts';

const READ_FOR = {
  train: [
    'gptbot',
    'claudebot',
    'anthropic-ai',
    'google-extended',
    'bytespider',
    'ccbot',
    'meta-externalagent',
    'timpibot',
    'diffbot',
  ],
  search: ['oai-searchbot', 'claude-searchbot', 'perplexitybot', 'googlebot', 'bingbot', 'applebot', 'amazonbot', 'youbot'],
  assistant: [
    'chatgpt-user',
    'claude-user',
    'perplexity-user',
    'meta-externalfetcher',
    'mistralai-user',
    'duckassistbot',
    'cohere-ai',
  ],
  agent: ['chatgpt agent', 'google-agent', 'googleagent-mariner', 'novaact', 'manus-user', 'amazonbuyforme', 'twinagent'],
} as const satisfies Record<AgentCategory, readonly string[]>;

const CATEGORY_OF: ReadonlyMap<string, AgentCategory> = new Map(
  (Object.keys(READ_FOR) as AgentCategory[]).flatMap((category) => READ_FOR[category].map((name) => [name, category] as const)),
);
/** As in the classifier, a whole token; the longest first. Only ASCII is folded, so that a letter that looks like another one is none. */
const NAMED = new RegExp(
  `(?<![a-z0-9-])(?:${[...CATEGORY_OF.keys()].sort((a, b) => b.length - a.length).join('|')})(?![a-z0-9-])`,
  'i',
);
const MAX_UA_CHARS = 512;

/** What the agent of a User-Agent reads for; null where it is not known. */
export function categoryOf(userAgent: string): AgentCategory | null {
  const [name] = NAMED.exec(userAgent.slice(0, MAX_UA_CHARS)) ?? [];
  return name === undefined ? null : (CATEGORY_OF.get(name.toLowerCase()) ?? null);
}
