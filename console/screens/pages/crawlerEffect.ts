/** What a change of lists or classes would do to the agents that were seen lately. Names are what the API calls them. */

/** Fragments of User-Agents: block before allow before charge. */
export interface Policy {
  readonly block: readonly string[];
  readonly allow: readonly string[];
  readonly charge: readonly string[];
}

/** Visitors that are decided about together. */
export type VisitorClass =
  | 'AI'
  | 'AUTOMATION'
  | 'PRETENDER'
  | 'MASQUERADE'
  | 'SEARCH'
  | 'PREVIEW'
  | 'ADS'
  | 'FEED'
  | 'MONITOR'
  | 'APP';

/** What becomes of a class. */
export type ClassPolicy = 'READ' | 'CHARGE' | 'BLOCK';

/** By what agents are told apart: the lists, then the owner's search engines, then the class of an agent. */
export interface Rules {
  readonly policy: Policy;
  readonly search: readonly string[];
  readonly classes: Readonly<Record<VisitorClass, ClassPolicy>>;
}

/** An agent of the last days. */
export interface SeenAgent {
  readonly agent: string;
  readonly visitorClass: VisitorClass;
  readonly hits: number;
  readonly earnedMicro: string;
}

/** What becomes of an agent. */
export type Fate = 'reads free' | 'pays' | 'blocked';

/** What becomes of a class, in words. */
export const FATES: Readonly<Record<ClassPolicy, Fate>> = { READ: 'reads free', CHARGE: 'pays', BLOCK: 'blocked' };

/** An agent whose lot changes. */
export interface FateChange extends SeenAgent {
  readonly before: Fate;
  readonly after: Fate;
}

/** What becomes of an agent, as gates look: the first list that has a fragment of its name, else its class. */
export function fateOf({ agent, visitorClass }: SeenAgent, { policy, search, classes }: Rules): Fate {
  const name = agent.toLowerCase();
  const isIn = (fragments: readonly string[]): boolean => fragments.some((one) => name.includes(one.trim().toLowerCase()));
  if (isIn(policy.block)) return 'blocked';
  if (isIn(policy.allow)) return 'reads free';
  if (isIn(policy.charge)) return 'pays';
  return FATES[classes[isIn(search) ? 'SEARCH' : visitorClass]];
}

/** The agents of the last days whose lot changes, those with the most requests first. */
export function fateChanges(agents: readonly SeenAgent[], before: Rules, after: Rules): readonly FateChange[] {
  return agents
    .map((one) => ({ ...one, before: fateOf(one, before), after: fateOf(one, after) }))
    .filter((one) => one.before !== one.after)
    .sort((a, b) => b.hits - a.hits);
}
