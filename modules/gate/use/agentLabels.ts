import type { Database } from '../../../db/database.ts';
import { retryConflicts } from '../../../db/database.ts';
import { isTransientError } from '../../../db/outage.ts';
import { gathered } from '../../../platform/pacing/gather.ts';
import { openMemory } from '../../identity/use/keys/accessEpoch.ts';
import type { ObservedAgent } from '../../kernel/terms.ts';
import { claimOf, OTHER } from '../rules/agent.ts';
import { MAX_NAMES } from '../rules/agentName.ts';
import type { NameOfDay } from '../store/agentNames.ts';
import { takePlaces } from '../store/agentNames.ts';

/** An agent that came to a site; `atMs` is the time of its request. */
export interface SeenAgent {
  readonly tenantId: string;
  readonly agent: ObservedAgent;
  readonly atMs: number;
}

/** The names that have a place, by site and day. A name keeps its place, so that what is remembered stays true. */
const remembered = openMemory<Set<string>>(1_000);
/** Each time another process took a place first, the next question finds it taken. */
const ATTEMPTS = 3;

const askPlace: (database: Database, wish: NameOfDay) => Promise<string> = gathered(findLabels, {
  limit: 1_000,
  concurrency: 1,
  isOutage: isTransientError,
  same: ({ tenantId, day, name }) => `${tenantId} ${day} ${name}`,
});

/**
 * The labels of agents, in their order: rows of the ledger keep them, so that what is shown, filtered and grouped is one text. Memory
 * answers for all but names that are new on a day of a site while it has free places; those share one statement, whatever came in with
 * them. Rejects with the error of Postgres.
 */
export function labelAgents(database: Database, seen: readonly SeenAgent[]): Promise<string[]> {
  return Promise.all(
    seen.map(({ tenantId, agent, atMs }) => {
      const claim = claimOf(agent);
      if ('label' in claim) return claim.label;
      const wish = { tenantId, day: new Date(atMs).toISOString().slice(0, 10), name: claim.name };
      return known(database, wish) ?? askPlace(database, wish);
    }),
  );
}

/** The label of one agent. */
export async function labelAgent(database: Database, seen: SeenAgent): Promise<string> {
  const [label = OTHER] = await labelAgents(database, [seen]);
  return label;
}

/** Its name, `other` on a day without a free place, or undefined: Postgres must be asked. */
function known(database: Database, { tenantId, day, name }: NameOfDay): string | undefined {
  const names = remembered(database).get(`${tenantId} ${day}`);
  if (names?.has(name)) return name;
  return names && names.size >= MAX_NAMES ? OTHER : undefined;
}

async function findLabels(database: Database, wishes: readonly NameOfDay[]): Promise<string[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const open = wishes.filter((wish) => known(database, wish) === undefined);
    if (open.length === 0) break;
    for (const { tenantId, day, names } of await retryConflicts(() => takePlaces(database, open))) {
      remembered(database).set(`${tenantId} ${day}`, new Set(names));
    }
  }
  return wishes.map((wish) => known(database, wish) ?? OTHER);
}
