/** What a crawler policy would do to the agents that were seen lately. Names are what the API calls them. */

/** Fragments of User-Agents: block before allow before charge. */
export interface Policy {
  readonly block: readonly string[];
  readonly allow: readonly string[];
  readonly charge: readonly string[];
}

/** An agent of the last days. */
export interface SeenAgent {
  readonly agent: string;
  readonly hits: number;
  readonly earnedMicro: string;
}

/** What becomes of an agent by the lists: `listed by none` is left to the gate, which knows crawlers by itself. */
export type Fate = 'blocked' | 'reads free' | 'pays' | 'search engine, reads free' | 'as the gate knows it: crawlers pay';

/** An agent whose lot changes. */
export interface FateChange extends SeenAgent {
  readonly before: Fate;
  readonly after: Fate;
}

/** The list an agent is on, as gates look: the first that has a fragment of its name. */
export function fateOf(agent: string, { block, allow, charge }: Policy, search: readonly string[]): Fate {
  const name = agent.toLowerCase();
  const isIn = (fragments: readonly string[]): boolean => fragments.some((one) => name.includes(one.trim().toLowerCase()));
  if (isIn(block)) return 'blocked';
  if (isIn(allow)) return 'reads free';
  if (isIn(charge)) return 'pays';
  return isIn(search) ? 'search engine, reads free' : 'as the gate knows it: crawlers pay';
}

/** The agents of the last days whose lot changes, those with the most requests first. */
export function fateChanges(
  agents: readonly SeenAgent[],
  before: { readonly policy: Policy; readonly search: readonly string[] },
  after: { readonly policy: Policy; readonly search: readonly string[] },
): readonly FateChange[] {
  return agents
    .map((one) => ({
      ...one,
      before: fateOf(one.agent, before.policy, before.search),
      after: fateOf(one.agent, after.policy, after.search),
    }))
    .filter((one) => one.before !== one.after)
    .sort((a, b) => b.hits - a.hits);
}
