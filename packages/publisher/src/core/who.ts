/** Who reads: decided at the site, from the User-Agent and what the site's owner said of it. */
import { isbot } from 'isbot';
import { Lru } from './lru.ts';
import { BROWSERS, CDNS, DEFAULTS, ROBOTS } from './robots.generated.ts';

/** What the reader counts as; `person` also where a CDN hides who asks; `robot` and `search` read free by their class, `allowed` by the owner's word on a name. */
export type Who = 'person' | 'search' | 'robot' | 'allowed' | 'blocked' | 'agent';

/**
 * Classes of visitors that an owner decides about as a whole. `automation` is what no list names, or what names nothing of itself; `pretender`
 * says that it is a browser and asks as no browser does; `masquerade` that it is a robot whose addresses are known, and comes from none of them.
 */
export type VisitorClass = keyof typeof DEFAULTS;
/** What becomes of a class. */
export type ClassPolicy = 'read' | 'charge' | 'block';

/** Why; `classifyReason` of reports. */
export type Reason =
  | 'policy_block'
  | 'policy_allow'
  | 'policy_charge'
  | 'search_engine'
  | 'crawler_list'
  | 'isbot'
  | 'no_name'
  | 'pretender'
  | 'masquerade'
  | Exclude<VisitorClass, 'ai' | 'search' | 'automation'>
  | 'site_classifier'
  | 'person'
  | 'cdn'
  | 'service_away'
  | 'over_budget'
  | 'paying'
  | 'signed';

/** A reader, and what it was told by. */
export interface Caller {
  readonly who: Who;
  readonly reason: Reason;
}

/** Fragments of User-Agents in lower case and what becomes of classes, as the service's enforce-config has them. */
export interface AgentLists {
  readonly seoAllowlist: readonly string[];
  readonly crawlerPolicy: {
    readonly allow: readonly string[];
    readonly charge: readonly string[];
    readonly block: readonly string[];
  };
  /** Nothing from a service that knows no classes; a class that is not named has its default. */
  readonly visitorClasses?: Readonly<Record<string, string>>;
}

/** Tells readers apart. */
export interface Classifier {
  (userAgent: string | undefined): Caller;
  /** What becomes of one who says to be a browser and is none. */
  readonly pretender: () => Caller;
  /** What becomes of one who says to be a robot and comes from none of its addresses; null where the owner believes names. */
  readonly masquerade: () => Caller | null;
}

/** More of a User-Agent than this is not looked at. */
const MAX_UA_CHARS = 512;
const REMEMBERED = 5_000;
const WITH_BROWSER = /^mozilla\/5\.0 .*chrome\//;
const { ai: AI, ...OTHERS } = ROBOTS;

/**
 * Tells readers apart by their User-Agent; `lists` null while the site's settings are unknown. Block wins over allow, allow over charge, and these
 * over the classes. What no list takes for a robot is a person.
 */
export function createClassifier(lists: AgentLists | null): Classifier {
  const remembered = new Lru<Caller>(REMEMBERED);
  const classifier = (userAgent = ''): Caller => {
    const ua = userAgent.length > MAX_UA_CHARS ? userAgent.slice(0, MAX_UA_CHARS) : userAgent;
    const known = remembered.get(ua);
    if (known) return known;
    const caller = classify(ua.toLowerCase(), lists);
    remembered.set(ua, caller);
    return caller;
  };
  const masquerade = (): Caller | null => {
    const found = byClass('masquerade', 'masquerade', lists);
    return found.who === 'robot' ? null : found;
  };
  return Object.assign(classifier, { pretender: () => byClass('pretender', 'pretender', lists), masquerade });
}

function classify(ua: string, lists: AgentLists | null): Caller {
  const has = (fragments: readonly string[] | undefined): boolean => fragments?.some((one) => ua.includes(one)) ?? false;
  const policy = lists?.crawlerPolicy;
  if (has(policy?.block)) return { who: 'blocked', reason: 'policy_block' };
  if (has(policy?.allow)) return { who: 'allowed', reason: 'policy_allow' };
  if (has(policy?.charge)) return { who: 'agent', reason: 'policy_charge' };
  if (/^[\s-]*$/.test(ua)) return byClass('automation', 'no_name', lists);
  // Under a CDN's own name come people, search engines and agents alike: nobody is charged by mistake.
  if (CDNS.test(ua)) return { who: 'person', reason: 'cdn' };
  if (has(lists?.seoAllowlist ?? SEARCH_ENGINES)) return byClass('search', 'search_engine', lists);
  // Editors have browsers inside, with the editor's name in front of the engine's: people read in them.
  const text = WITH_BROWSER.test(ua) ? ua.replace(BROWSERS, '') : ua;
  if (AI.test(text)) return byClass('ai', 'crawler_list', lists);
  if (!isbot(text)) return { who: 'person', reason: 'person' };
  for (const [name, names] of Object.entries(OTHERS) as [keyof typeof OTHERS, RegExp][]) {
    if (names.test(text)) return byClass(name, name === 'search' ? 'search_engine' : name, lists);
  }
  return byClass('automation', 'isbot', lists);
}

function byClass(name: VisitorClass, reason: Reason, lists: AgentLists | null): Caller {
  const policy = lists?.visitorClasses?.[name] ?? DEFAULTS[name];
  if (policy === 'block') return { who: 'blocked', reason: 'policy_block' };
  return { who: policy === 'charge' ? 'agent' : name === 'search' ? 'search' : 'robot', reason };
}

/** Who counts as a search engine until the site's settings arrive. */
const SEARCH_ENGINES = ['googlebot', 'bingbot', 'duckduckbot', 'applebot', 'yandexbot', 'baiduspider'];
