import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { AgentCard } from '../../rules/webbotauth/card.ts';
import { findCards } from '../../store/agentDirectories.ts';

/**
 * What verified agents say of themselves, in the order of their labels; null for a label that is no host, and where nothing is known. One
 * statement. Throws database_unavailable.
 */
export async function cardsOf({ reading }: ReadingDeps, labels: readonly string[]): Promise<(AgentCard | null)[]> {
  const hosts = labels.filter((label) => label.includes('.'));
  const found = hosts.length === 0 ? null : await findCards(reading, hosts);
  return labels.map((label) => found?.get(label) ?? null);
}
