import type { AgentLists, Caller, VisitorClass } from '../../core/who.ts';
import { createClassifier } from '../../core/who.ts';
import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown } from '../finding.ts';
import type { KnownVisitor } from '../knownVisitors.ts';
import { KNOWN_VISITORS } from '../knownVisitors.ts';

interface Facts {
  /** What the owner decided; null: it could not be asked. */
  readonly lists: AgentLists | null;
}

const FATES: Readonly<Record<Caller['who'], string>> = {
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
  ads: 'Advertising',
  feed: 'Feed readers',
  monitor: 'Monitors',
  app: 'Apps',
  ai: 'AI agents',
  automation: 'Other automation',
  pretender: 'Tools that pretend',
};

/** What becomes of those whom a publisher meets, by what the owner decided? The gate's own rule says it; no request is made. */
export const visitorsCheck: Check<Facts> = {
  id: 'visitors',
  probe: async (world) => {
    const config = await world.config();
    return { lists: config && { ...config, crawlerPolicy: config.policy } };
  },
  judge: ({ lists }) => {
    if (lists === null)
      return [unknown('Who reads free and who pays is unclear.', 'Settle the findings about service and key first.')];
    const classify = createClassifier(lists);
    const classes = Object.keys(CLASSES) as (VisitorClass | 'person')[];
    return classes.flatMap((name) => {
      if (name === 'pretender')
        return [ok(`${CLASSES.pretender} ${FATES[classify.pretender().who]}: browsers that ask for Markdown.`)];
      const visitors = KNOWN_VISITORS.filter((one) => one.class === name);
      const fateOf = ({ userAgent }: KnownVisitor): string => FATES[classify(userAgent).who];
      return [...new Set(visitors.map(fateOf))].map((fate) =>
        finding(
          name,
          fate,
          visitors.filter((one) => fateOf(one) === fate),
        ),
      );
    });
  },
};

function finding(name: VisitorClass | 'person', fate: string, visitors: readonly KnownVisitor[]): Finding {
  const says = `${CLASSES[name]} ${fate}: ${visitors.map((one) => one.name).join(', ')}.`;
  if (name !== 'person' || fate === 'read free') return ok(says);
  return problem(says, 'Take the entry out of the crawler policy that a browser’s User-Agent contains.');
}
