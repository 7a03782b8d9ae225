import type { ObservedAgent } from './terms.ts';

/** Crawlers known by a fragment of their User-Agent, lower case; reports group everything else under `other`. */
const KNOWN_CRAWLERS = [
  'gptbot',
  'oai-searchbot',
  'chatgpt-user',
  'claudebot',
  'claude-user',
  'claude-searchbot',
  'anthropic-ai',
  'perplexitybot',
  'perplexity-user',
  'google-extended',
  'googlebot',
  'bingbot',
  'applebot',
  'amazonbot',
  'bytespider',
  'ccbot',
  'meta-externalagent',
  'meta-externalfetcher',
  'cohere-ai',
  'mistralai-user',
  'duckassistbot',
  'youbot',
  'diffbot',
  'timpibot',
] as const;

/**
 * The label that rollups group by: the verified operator host, a known crawler, or `other` (safety 23). Bounded in number,
 * so that a made-up User-Agent cannot grow the reports.
 */
export function agentLabel(agent: ObservedAgent): string {
  if (agent.verified && agent.verifiedAgent && /^[a-z0-9.-]{1,253}$/i.test(agent.verifiedAgent)) {
    return agent.verifiedAgent.toLowerCase();
  }
  const ua = agent.ua?.toLowerCase() ?? '';
  return KNOWN_CRAWLERS.find((fragment) => ua.includes(fragment)) ?? 'other';
}

/** Text that Postgres can store, as jsonb too: neither NUL nor half of a surrogate pair is a character there. */
function storable(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** The agent as stored with a payment or observation: its telemetry made storable, and its label. */
export function storedAgent(agent: ObservedAgent): ObservedAgent & { readonly label: string } {
  const ua = storable(agent.ua);
  const classifyReason = storable(agent.classifyReason);
  const verifiedAgent = storable(agent.verifiedAgent);
  return {
    label: agentLabel(agent),
    ...(ua === undefined ? {} : { ua }),
    ...(classifyReason === undefined ? {} : { classifyReason }),
    ...(verifiedAgent === undefined ? {} : { verifiedAgent }),
    ...(agent.verified === undefined ? {} : { verified: agent.verified }),
    ...(agent.sigInvalid === undefined ? {} : { sigInvalid: agent.sigInvalid }),
  };
}

/** True of a label that stands for a known crawler. */
export function isKnownCrawler(label: string): boolean {
  return KNOWN_CRAWLERS.some((crawler) => crawler === label);
}
