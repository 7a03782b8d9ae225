import { createHash, randomBytes } from 'node:crypto';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import type { Reply } from '../visitor.ts';
import { noPage } from './offer.ts';

/** What a reply shows of caches. */
export interface Seen {
  readonly status: number;
  /** True when it says that it comes from a cache: Age above 0, or a hit in one of the usual headers. */
  readonly isFromCache: boolean;
  /** True when a shared cache may keep it. */
  readonly mayBeKept: boolean;
  /** True when a cache stands in between, whatever it did. */
  readonly hasCache: boolean;
  readonly variesByAgent: boolean;
  readonly fingerprint: string;
}

interface Facts {
  readonly page: string | null;
  /** Agent, agent, person, agent, one after the other. */
  readonly agentFirst: readonly (Seen | null)[];
  /** Person, person, agent, at an address that nobody has asked for. */
  readonly personFirst: readonly (Seen | null)[];
}

/** Does a cache give the 402 of agents to people, or the page of people to agents? */
export const cachesCheck: Check<Facts> = {
  id: 'caches',
  probe: async (world) => {
    const page = await world.page();
    if (page === null) return { page, agentFirst: [], personFirst: [] };
    // What was asked before this check may have filled the cache: it is part of the order, not asked again.
    const first = seen(await world.asAgent(page));
    const second = seen(await world.visit(page, { as: 'agent' }));
    const person = seen(await world.visit(page, { as: 'person' }));
    const last = seen(await world.visit(page, { as: 'agent' }));
    const fresh = `${page}${page.includes('?') ? '&' : '?'}doctor=${randomBytes(4).toString('hex')}`;
    const personFirst: (Seen | null)[] = [];
    for (const as of ['person', 'person', 'agent'] as const) personFirst.push(seen(await world.visit(fresh, { as })));
    return { page, agentFirst: [first, second, person, last], personFirst };
  },
  judge: ({ page, agentFirst, personFirst }) => {
    if (page === null) return [noPage()];
    const [first, second, person, last] = agentFirst;
    const [freshPerson, , freshAgent] = personFirst;
    if (!first || !second || !person || !last || !freshPerson || !freshAgent) {
      return [unknown('Caches could not be tried: not all requests were answered.', 'Run this again when the site answers.')];
    }
    const problems = [
      ...keptOffers([first, second, last], person),
      ...keptPages([last, freshAgent], [person, freshPerson], first),
    ];
    if (problems.length > 0) return problems;
    return [riskOf(person) ?? ok('People and agents each get their own answer, whichever asks first.')];
  },
};

/** The 402 of agents that a cache holds. */
function keptOffers(agents: readonly Seen[], person: Seen): Finding[] {
  const todo = 'Let the CDN keep no 402, and let the Cache-Control of the package pass.';
  const isAgents = person.status === 402 && agents.some(({ fingerprint }) => fingerprint === person.fingerprint);
  if (isAgents && (person.isFromCache || person.hasCache)) return [problem('A cache gives the 402 of agents to people.', todo)];
  if (agents.some(({ status, isFromCache }) => status === 402 && isFromCache))
    return [problem('A cache keeps 402 answers.', todo)];
  return [];
}

/** The page of people that a cache gives to agents. */
function keptPages(agents: readonly Seen[], people: readonly Seen[], first: Seen): Finding[] {
  const isPage = ({ status, fingerprint }: Seen): boolean =>
    status === 200 && people.some((person) => person.status === 200 && person.fingerprint === fingerprint);
  const given = agents.filter(isPage);
  const isKept = given.some(({ isFromCache }) => isFromCache) || (first.status === 402 && given.length > 0);
  if (!isKept) return [];
  return [
    problem(
      'A cache gives the page of people to agents, free.',
      'Let the CDN pass requests of agents by their User-Agent, or keep pages that are for sale out of its cache.',
    ),
  ];
}

/** A page that a cache in front would be right to give to agents, though it has not done so. */
function riskOf(person: Seen): Finding | null {
  if (!person.hasCache || !person.mayBeKept || person.variesByAgent) return null;
  return warning(
    'A cache stands in front, and the page of people may be kept there for anybody.',
    'Let the CDN tell agents from people, or send pages that are for sale with Cache-Control: private.',
  );
}

function seen(reply: Reply): Seen | null {
  if (!reply.came) return null;
  const { status, headers, body } = reply;
  const control = (headers['cache-control'] ?? '').toLowerCase();
  const state = ['x-cache', 'cf-cache-status', 'cache-status', 'x-vercel-cache', 'x-proxy-cache']
    .map((name) => headers[name] ?? '')
    .join(' ');
  const age = Number(headers['age'] ?? '0');
  const maxAge = /(?:s-maxage|max-age)\s*=\s*"?(\d{1,10})/.exec(control)?.[1];
  return {
    status,
    isFromCache: age > 0 || /\b(hit|stale|updating|revalidated)\b/i.test(state),
    mayBeKept: !/\b(private|no-store|no-cache)\b/.test(control) && (/\bpublic\b/.test(control) || Number(maxAge ?? '0') > 0),
    hasCache: headers['age'] !== undefined || /\b(hit|miss|stale|updating|revalidated|expired|fwd)\b/i.test(state),
    variesByAgent: /(^|,)\s*(user-agent|\*)\s*(,|$)/i.test(headers['vary'] ?? ''),
    fingerprint: createHash('sha256').update(body).digest('base64url'),
  };
}
