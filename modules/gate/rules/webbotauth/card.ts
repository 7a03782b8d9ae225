/** What an agent says of itself: nobody vouches for it, so it is shown and decides nothing. */
import { hasControlCharacter } from '../../../kernel/hosts/host.ts';

/** Who runs an agent, and what for, in its own words. */
export interface AgentCard {
  readonly operator: string | null;
  readonly purpose: string | null;
}

const MOST_CHARS = 120;

/**
 * The operator and the purpose of a Signature Agent Card: client metadata of OAuth with a member `web_bot_auth`, or both members at the top,
 * as older drafts and directories have them. What is no short plain text is left out.
 */
export function readCard(document: unknown): AgentCard {
  const card = membersOf(document);
  const own = membersOf(card['web_bot_auth']);
  return {
    operator: plainText(card['client_name']) ?? plainText(card['name']),
    purpose: plainText(own['purpose'] ?? card['purpose']),
  };
}

/** The first that says something, member by member. */
export function joinCards(first: AgentCard, second: AgentCard): AgentCard {
  return { operator: first.operator ?? second.operator, purpose: first.purpose ?? second.purpose };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function plainText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const isPlain = text !== '' && text.length <= MOST_CHARS && !hasControlCharacter(text) && text.isWellFormed();
  return isPlain ? text : null;
}
