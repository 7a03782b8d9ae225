import type { ObservedAgent } from '../../kernel/terms.ts';
import { nameOf } from './agentName.ts';
import { CRAWLERS, crawlerOf, isKnownCrawler } from './crawlers.ts';
import { MASQUERADE, robotOperatorOf } from './visitors.ts';

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
  if (label.includes('.'))
    return Object.entries(HOSTS).find(([host]) => label === host || label.endsWith(`.${host}`))?.[1] ?? null;
  return robotOperatorOf(label);
}

/** The label of requests whose agent has no name of its own: people, and agents without a place of the day. */
export const OTHER = 'other';

/** What an agent goes by: a label that is certain, or a name that it gives itself and that first takes a place of its site's day. */
export type AgentClaim = { readonly label: string } | { readonly name: string };

/**
 * What reports know an agent by: the verified host, the known crawler that its User-Agent names, the name it gives itself, or `other`.
 * A verified host has a dot and a name has none, so that no agent can call itself what another has proven. Prices go by neither names
 * nor their places.
 */
export function claimOf({ ua = '', verified, verifiedAgent }: ObservedAgent): AgentClaim {
  if (verified && verifiedAgent?.includes('.') && /^[a-z0-9.-]{1,253}$/i.test(verifiedAgent)) {
    return { label: verifiedAgent.toLowerCase() };
  }
  const crawler = crawlerOf(ua);
  if (crawler !== null) return { label: crawler };
  const name = nameOf(ua);
  return name === null || isKnownCrawler(name) ? { label: OTHER } : { name };
}

/** The name that this service gives when it asks a site for a page, before it is sold and after. */
export const RELAY_BOT = 'PageRelayBot';

/** The name that this service gives when a test purchase asks a site for its page. */
export const TEST_BOT = 'TestPurchaseBot';

/**
 * True of a report of our own questions, which reports leave out: of the one before a sale, refused, since a sale follows; and of a test purchase,
 * whatever came of it. Licences read again are never ours. An agent that takes one of these names is refused like any other, and is only missing
 * from what the site might have earned.
 */
export function isOwnProbe({ verdict, agentUa }: { readonly verdict: string; readonly agentUa: string | null }): boolean {
  if (agentUa === null) return false;
  return (verdict === 'denied' && agentUa.includes(RELAY_BOT)) || (verdict !== 'agent-reread' && agentUa.includes(TEST_BOT));
}

/**
 * True of an agent that is not who it says: its signature failed, or its gate saw it come from none of the addresses of the robot that it names.
 * Kept as `sigInvalid`, which masquerades are counted by.
 */
export function isFalse({ sigInvalid, classifyReason }: ObservedAgent): boolean | undefined {
  return classifyReason === MASQUERADE ? true : sigInvalid;
}

/** Text that Postgres can store, as jsonb too: neither NUL nor half of a surrogate pair is a character there. */
function storable(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** The agent as stored with a payment or its refusal: its telemetry made storable, and its label. */
export function storedAgent(agent: ObservedAgent, label: string): ObservedAgent & { readonly label: string } {
  const ua = storable(agent.ua);
  const classifyReason = storable(agent.classifyReason);
  const verifiedAgent = storable(agent.verifiedAgent);
  const sigInvalid = isFalse(agent);
  return {
    label,
    ...(ua === undefined ? {} : { ua }),
    ...(classifyReason === undefined ? {} : { classifyReason }),
    ...(verifiedAgent === undefined ? {} : { verifiedAgent }),
    ...(agent.verified === undefined ? {} : { verified: agent.verified }),
    ...(sigInvalid === undefined ? {} : { sigInvalid }),
  };
}
