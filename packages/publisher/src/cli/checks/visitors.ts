import { randomBytes } from 'node:crypto';
import { CLAIMS } from '../../core/addresses.generated.ts';
import type { AgentLists, Caller, VisitorClass } from '../../core/who.ts';
import { createClassifier } from '../../core/who.ts';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown } from '../finding.ts';
import type { KnownVisitor } from '../knownVisitors.ts';
import { KNOWN_VISITORS } from '../knownVisitors.ts';
import type { Reply } from '../visitor.ts';
import { noPage } from './offer.ts';

/** What the site answered to one visitor of each class. */
type Replies = Partial<Readonly<Record<VisitorClass, Reply>>>;

interface Facts {
  /** What the owner decided; null: it could not be asked. */
  readonly lists: AgentLists | null;
  /** Null: no page is known that has a price. */
  readonly replies: Replies | null;
}

type Fate = 'read free' | 'pay' | 'are blocked';

const FATES: Readonly<Record<Caller['who'], Fate>> = {
  person: 'read free',
  search: 'read free',
  robot: 'read free',
  allowed: 'read free',
  agent: 'pay',
  blocked: 'are blocked',
};

const CLASSES: Readonly<Record<VisitorClass | 'person', string>> = {
  person: 'People',
  search: 'Search engines',
  preview: 'Link previews',
  ads: 'Crawlers of ads',
  feed: 'Feed readers',
  monitor: 'Monitors',
  app: 'Apps',
  ai: 'AI agents',
  automation: 'Automation that no list names',
  pretender: 'Tools that pretend',
  masquerade: 'Robots by name alone',
};
const ROBOTS = Object.keys(CLASSES).filter((name) => name !== 'person') as VisitorClass[];

/** A name that a gate checks by where it comes from, which this run does not. */
const FALSE_ROBOT = KNOWN_VISITORS.find((one) => one.name === 'Googlebot') as KnownVisitor;
const isChecked = ({ userAgent }: KnownVisitor): boolean => CLAIMS.some(({ names }) => names.test(userAgent.toLowerCase()));

/**
 * The visitor that is played for a class: of the first name in the table that nobody can check. A pretender is a browser that asks for Markdown, a
 * masquerade this run under the name of Googlebot.
 */
function playedFor(name: VisitorClass): KnownVisitor {
  if (name === 'masquerade') return FALSE_ROBOT;
  const wanted = name === 'pretender' ? 'person' : name;
  const found = KNOWN_VISITORS.find((one) => one.class === wanted && !isChecked(one)) as KnownVisitor;
  return name === 'pretender' ? { ...found, name: 'A browser that asks for Markdown' } : found;
}

/** Does the site do with each class what the owner decided? One request as a visitor of each; the gate's own rule says what is expected. */
export const visitorsCheck: Check<Facts> = {
  id: 'visitors',
  probe: async (world) => {
    const config = await world.config();
    const lists = config && { ...config, crawlerPolicy: config.policy };
    const page = lists && (await world.page());
    if (page === null) return { lists, replies: null };
    const replies: Partial<Record<VisitorClass, Reply>> = {};
    for (const name of ROBOTS) {
      // At an address of its own, so that no cache answers one visitor with what another got.
      const path = `${page}${page.includes('?') ? '&' : '?'}doctor=${randomBytes(4).toString('hex')}`;
      const accept = name === 'pretender' ? 'text/markdown' : 'text/html,*/*;q=0.8';
      replies[name] = await world.visit(path, { as: 'agent', headers: { 'user-agent': playedFor(name).userAgent, accept } });
    }
    return { lists, replies };
  },
  judge: ({ lists, replies }) => {
    if (lists === null)
      return [unknown('Who reads free and who pays is unclear.', 'Settle the findings about service and key first.')];
    const classify = createClassifier(lists);
    const fateOf = ({ userAgent }: KnownVisitor): Fate => FATES[classify(userAgent).who];
    const wanted = (name: VisitorClass): Fate =>
      name === 'pretender'
        ? FATES[classify.pretender().who]
        : name === 'masquerade'
          ? FATES[(classify.masquerade() ?? classify(FALSE_ROBOT.userAgent)).who]
          : fateOf(playedFor(name));
    const bySettings = (name: VisitorClass | 'person'): Finding[] => {
      if (name === 'pretender') return [ok(`${CLASSES.pretender} ${wanted(name)}: browsers that ask for Markdown.`)];
      if (name === 'masquerade')
        return [ok(`${CLASSES.masquerade} ${wanted(name)}: from an address that is not their operator’s.`)];
      const visitors = KNOWN_VISITORS.filter((one) => one.class === name);
      return [...new Set(visitors.map(fateOf))].map((fate) =>
        finding(
          name,
          fate,
          visitors.filter((one) => fateOf(one) === fate),
        ),
      );
    };
    const atSite = replies === null ? [noPage()] : contradictions(replies, wanted);
    const contradicted = new Set(replies === null ? [] : ROBOTS.filter((name) => seenFate(replies[name]) !== wanted(name)));
    const settled = (Object.keys(CLASSES) as (VisitorClass | 'person')[]).filter(
      (name) => name === 'person' || !contradicted.has(name),
    );
    return [...atSite, ...settled.flatMap(bySettings)];
  },
};

/** Where the site does otherwise than its owner decided, or could not be asked. */
function contradictions(replies: Replies, wanted: (name: VisitorClass) => Fate): Finding[] {
  const seen = ROBOTS.map((name) => ({ name, fate: seenFate(replies[name]), reply: replies[name] }));
  const isNear = (name: VisitorClass, fate: Fate | null): boolean => name === 'masquerade' && fate === 'read free';
  const wrong = seen.filter(({ name, fate }) => fate !== null && fate !== wanted(name) && !isNear(name, fate));
  // A pretender is told by what it asks for, not by its name.
  const fates = new Set(seen.flatMap(({ name, fate }) => (name === 'pretender' || name === 'masquerade' ? [] : fate)));
  if (wrong.length > 0 && fates.size === 1)
    return [
      problem(
        `The site treats all visitors alike, whatever their User-Agent: they ${[...fates].join()}.`,
        'Have the CDN or proxy forward the User-Agent of its visitors (CloudFront sends its own unless an origin request policy names ' +
          'User-Agent), and see that the package stands in front of this page.',
      ),
    ];
  const unasked = seen.flatMap(({ name, fate, reply }) =>
    fate === null ? `${playedFor(name).name} ${reply?.came ? `gets ${reply.status}` : 'got no answer'}` : [],
  );
  const unseen = seen.some(({ name, fate }) => isNear(name, fate) && fate !== wanted(name));
  return [
    ...(unseen ? [NEAR] : []),
    ...wrong.map(({ name, fate }) =>
      problem(
        `${CLASSES[name]} ${fate} at the site; by the owner’s settings they ${wanted(name)} (asked as: ${playedFor(name).name}).`,
        'Update the package. If it is new, see what stands in front of it and your own `classify`; after a change of settings, wait a minute.',
      ),
    ),
    ...(unasked.length === 0
      ? []
      : [
          unknown(
            `What becomes of some visitors is unclear: ${unasked.join(', ')}.`,
            'See whether a firewall refuses them; run this again when the site answers.',
          ),
        ]),
  ];
}

/** The gate does not know where this run comes from, or took it for Google. */
const NEAR = unknown(
  'This run reads free under the name of Googlebot: the gate does not see which address it comes from.',
  'Name the proxies in front of the site (`trustedProxies`, `[]` for none), and run this from another machine than the site’s.',
);

/** What a reply means to a visitor; null where it says nothing of that. */
function seenFate(reply: Reply | undefined): Fate | null {
  if (!reply?.came) return null;
  return reply.status === 200 ? 'read free' : reply.status === 402 ? 'pay' : reply.status === 403 ? 'are blocked' : null;
}

function finding(name: VisitorClass | 'person', fate: Fate, visitors: readonly KnownVisitor[]): Finding {
  const says = `${CLASSES[name]} ${fate}: ${visitors.map((one) => one.name).join(', ')}.`;
  if (name !== 'person' || fate === 'read free') return ok(says);
  return problem(says, 'Take the entry out of the crawler policy that a browser’s User-Agent contains.');
}
