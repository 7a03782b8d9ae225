import type { ObservedAgent } from '../pricing/terms.ts';
import { CRAWLERS, crawlerOf } from './crawlers.ts';

/** Hosts whose keys agents sign with, each with who runs them; what stands under a host is its operator's as well. */
const HOSTS: Readonly<Record<string, string>> = {
  'openai.com': 'OpenAI',
  'chatgpt.com': 'OpenAI',
  'anthropic.com': 'Anthropic',
  'claude.ai': 'Anthropic',
  'claude.com': 'Anthropic',
  'perplexity.ai': 'Perplexity',
  'google.com': 'Google',
  'microsoft.com': 'Microsoft',
  'bing.com': 'Microsoft',
  'apple.com': 'Apple',
  'amazon.com': 'Amazon',
  'commoncrawl.org': 'Common Crawl Foundation',
  'meta.com': 'Meta',
  'cohere.com': 'Cohere',
  'mistral.ai': 'Mistral',
  'duckduckgo.com': 'DuckDuckGo',
  'you.com': 'You',
  'diffbot.com': 'Diffbot',
  'timpi.io': 'Timpi',
};

/** Who runs the agent of a label; null where that is not known. */
export function operatorOf(label: string): string | null {
  if (Object.hasOwn(CRAWLERS, label)) return CRAWLERS[label]?.operator ?? null;
  return Object.entries(HOSTS).find(([host]) => label === host || label.endsWith(`.${host}`))?.[1] ?? null;
}

/**
 * The label that rollups group by: the verified operator host, a known crawler, or `other` (safety 23). Bounded in number,
 * so that a made-up User-Agent cannot grow the reports.
 */
export function agentLabel(agent: ObservedAgent): string {
  if (agent.verified && agent.verifiedAgent && /^[a-z0-9.-]{1,253}$/i.test(agent.verifiedAgent)) {
    return agent.verifiedAgent.toLowerCase();
  }
  return crawlerOf(agent.ua ?? '') ?? 'other';
}

/** The name that this service gives when it asks a site for a page, before it is sold and after. */
export const RELAY_BOT = 'PageRelayBot';

/**
 * True of a report that our own question before a sale was refused: a sale follows, none was missed. Whoever takes this name for himself is
 * refused like anybody, and is only missing from what the site might have earned.
 */
export function isOwnProbe({ verdict, agentUa }: { readonly verdict: string; readonly agentUa: string | null }): boolean {
  return verdict === 'denied' && (agentUa?.includes(RELAY_BOT) ?? false);
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
