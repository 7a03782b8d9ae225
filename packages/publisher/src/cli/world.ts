/** What the checks of one run share: who answers, and the replies that more than one check looks at. */
import type { Client, Result } from '../client.ts';
import type { Budget } from './budget.ts';
import type { Robots } from './robotsText.ts';
import { readRobots } from './robotsText.ts';
import type { Sample } from './sample.ts';
import { takeSample } from './sample.ts';
import type { GateConfig, SelfRow } from './site.ts';
import { readConfig, readSelf } from './site.ts';
import type { Reply, Visit } from './visitor.ts';
import { openVisitor } from './visitor.ts';

/** An answer of the service, or why there is none. Bodies are read by `site.ts`: this service may be of another release. */
export type Told = Result<unknown>;

/** An answer of the service with our clock before and after the call, epoch ms. */
export interface TimedAnswer {
  readonly answer: Told;
  readonly sentAtMs: number;
  readonly cameAtMs: number;
}

/** The world of one run. Every promise resolves; what is asked once is remembered. */
export interface World {
  /** The site's public address. */
  readonly site: URL;
  /** Where requests go instead, if told. */
  readonly connectTo: URL | undefined;
  /** Null without a key or an address of the service. */
  readonly client: Client | null;
  readonly keyKind: 'live' | 'test' | 'unknown' | 'none';
  readonly visit: Visit;
  readonly givenPages: readonly string[];
  config(): Promise<GateConfig | null>;
  configAnswer(): Promise<TimedAnswer | null>;
  self(): Promise<{ readonly answer: Told; readonly row: SelfRow | null } | null>;
  robots(): Promise<{ readonly reply: Reply; readonly robots: Robots | null }>;
  sample(): Promise<Sample>;
  /** The page that the checks try: the first that was named, or the first of the sample that has a price; null: none is known. */
  page(): Promise<string | null>;
  /** The quote of a page. */
  quote(path: string): Promise<Told | null>;
  /** The page as an agent, and as a person, gets it. */
  asAgent(path: string): Promise<Reply>;
  asPerson(path: string): Promise<Reply>;
  /** The name that agents are played under: one that the owner neither lets in free nor shuts out. */
  agentName(): Promise<string>;
}

const AGENTS = ['GPTBot', 'ClaudeBot', 'PerplexityBot', 'CCBot', 'Bytespider'];

/** The name of a crawler that the owner's policy leaves to be charged; the first when it leaves none. */
export function chooseAgent(policy: GateConfig['policy'] | null): string {
  const named = [...(policy?.block ?? []), ...(policy?.allow ?? [])];
  const isFree = (name: string): boolean => !named.some((fragment) => name.toLowerCase().includes(fragment));
  return AGENTS.find(isFree) ?? (AGENTS[0] as string);
}

/** Opens the world; asks nothing yet. */
export function openWorld(options: {
  readonly site: URL;
  readonly connectTo?: URL | undefined;
  readonly pages: readonly string[];
  readonly client: Client | null;
  readonly keyKind: World['keyKind'];
  readonly budget: Budget;
  readonly now: () => number;
}): World {
  const { site, connectTo, pages, client, keyKind, budget, now } = options;
  const configAnswer = once(async () => {
    if (client === null) return null;
    const sentAtMs = now();
    const answer = await client.config();
    return { answer, sentAtMs, cameAtMs: now() };
  });
  const config = once(async () => {
    const answer = (await configAnswer())?.answer;
    return answer?.ok ? readConfig(answer.body) : null;
  });
  const agentName = once(async () => chooseAgent((await config())?.policy ?? null));
  const visit = openVisitor({ site, connectTo, agentName, budget });
  const robots = once(async () => {
    const reply = await visit('/robots.txt', { as: 'googlebot' });
    const isText = reply.came && reply.status === 200 && !looksLikeHtml(reply);
    return { reply, robots: isText ? readRobots(reply.body) : null };
  });
  const quote = memo(async (path) => (client === null ? null : client.quote({ resource: resourceOf(site, path), kind: 'read' })));
  const sample = once(async () => takeSample({ site, pages, visit, config: await config(), robots, quote }));
  return {
    site,
    connectTo,
    client,
    keyKind,
    visit,
    config,
    configAnswer,
    robots,
    quote,
    sample,
    agentName,
    givenPages: pages,
    self: once(async () => {
      if (client === null) return null;
      const answer = await client.self();
      return { answer, row: answer.ok ? readSelf(answer.body) : null };
    }),
    page: once(async () => pages[0] ?? (await sample()).looks.find(({ verdict }) => verdict === 'priced')?.path ?? null),
    asAgent: memo((path) => visit(path, { as: 'agent' })),
    asPerson: memo((path) => visit(path, { as: 'person' })),
  };
}

/** The address of a page as quotes name it. */
export function resourceOf(site: URL, path: string): string {
  return `https://${site.host}${path}`;
}

/** True for a web page, whatever it says it is. */
export function looksLikeHtml(reply: { readonly headers: Readonly<Record<string, string>>; readonly body: string }): boolean {
  return /html/i.test(reply.headers['content-type'] ?? '') || /^\s*<(!doctype html|html)/i.test(reply.body.slice(0, 200));
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask();
    return asked;
  };
}

function memo<T>(ask: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (path) => {
    const known = asked.get(path) ?? ask(path);
    asked.set(path, known);
    return known;
  };
}
