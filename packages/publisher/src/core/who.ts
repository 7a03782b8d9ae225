/** Who reads: decided at the site, from the User-Agent and what the site's owner said of it. */
import { isbot } from 'isbot';
import { CRAWLERS } from './crawlers.generated.ts';
import { Lru } from './lru.ts';

/** What the reader counts as. */
export type Who = 'person' | 'search' | 'allowed' | 'blocked' | 'agent';

/** Why; `classifyReason` of reports. */
export type Reason =
  | 'policy_block'
  | 'policy_allow'
  | 'policy_charge'
  | 'search_engine'
  | 'crawler_list'
  | 'isbot'
  | 'site_classifier'
  | 'person'
  | 'service_away'
  | 'over_budget'
  | 'paying'
  | 'signed';

/** A reader, and what it was told by. */
export interface Caller {
  readonly who: Who;
  readonly reason: Reason;
}

/** Fragments of User-Agents in lower case, as the service's enforce-config has them. */
export interface AgentLists {
  readonly seoAllowlist: readonly string[];
  readonly crawlerPolicy: {
    readonly allow: readonly string[];
    readonly charge: readonly string[];
    readonly block: readonly string[];
  };
}

/** More of a User-Agent than this is not looked at. */
const MAX_UA_CHARS = 512;
const REMEMBERED = 5_000;
const escaped = CRAWLERS.map((name) => name.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
/** A crawler's name as a whole token: `Code` is in `Code/1.0`, not in `opencode`. */
const CRAWLER = new RegExp(`(?<![a-z0-9-])(?:${escaped.join('|')})(?![a-z0-9-])`);

/**
 * Tells readers apart by their User-Agent; `lists` null while the site's settings are unknown. Block wins over allow, allow over charge, these over
 * the search engines, and all of them over the lists of crawlers. What nothing names is a person.
 */
export function createClassifier(lists: AgentLists | null): (userAgent: string | undefined) => Caller {
  const remembered = new Lru<Caller>(REMEMBERED);
  return (userAgent = '') => {
    const ua = userAgent.length > MAX_UA_CHARS ? userAgent.slice(0, MAX_UA_CHARS) : userAgent;
    const known = remembered.get(ua);
    if (known) return known;
    const caller = classify(ua.toLowerCase(), lists);
    remembered.set(ua, caller);
    return caller;
  };
}

function classify(ua: string, lists: AgentLists | null): Caller {
  const has = (fragments: readonly string[] | undefined): boolean => fragments?.some((one) => ua.includes(one)) ?? false;
  const policy = lists?.crawlerPolicy;
  if (has(policy?.block)) return { who: 'blocked', reason: 'policy_block' };
  if (has(policy?.allow)) return { who: 'allowed', reason: 'policy_allow' };
  if (has(policy?.charge)) return { who: 'agent', reason: 'policy_charge' };
  if (has(lists?.seoAllowlist ?? SEARCH_ENGINES)) return { who: 'search', reason: 'search_engine' };
  if (CRAWLER.test(ua)) return { who: 'agent', reason: 'crawler_list' };
  if (isbot(ua)) return { who: 'agent', reason: 'isbot' };
  return { who: 'person', reason: 'person' };
}

/** Who reads free until the site's settings arrive. */
const SEARCH_ENGINES = ['googlebot', 'bingbot', 'duckduckbot', 'applebot', 'yandexbot', 'baiduspider'];
