import { ServiceError } from '../../kernel/errors.ts';
import type { PageCredits } from '../../kernel/money/credits.ts';
import { flattenCredits } from '../../kernel/money/credits.ts';
import type { PayeeRule } from '../../kernel/money/wallet.ts';

const MAX_JSON_DEPTH = 16;

/**
 * Reads an answer of a credits API by the credits contract (docs/credits-api.md): `{"free": true}`, or a page as in `credits_inline` (depth
 * ≤ 8, ≤ 50 distinct wallets, wallets as `rule` asks), and no author who is a
 * member of itself. Throws invalid_parameter; an API whose answer throws here is asked again later, never guessed at.
 */
export function readCredits(entry: unknown, rule: PayeeRule): PageCredits | 'free' {
  requireShallow(entry, 0);
  if ((entry as { free?: unknown } | null)?.free === true) return 'free';
  const credits = flattenCredits(entry, 'credits', rule);
  requireSound((entry as { contributors: readonly Contributor[] }).contributors, []);
  return credits;
}

interface Contributor {
  readonly authorId: string;
  readonly members?: readonly Contributor[];
}

function requireSound(contributors: readonly Contributor[], above: readonly string[]): void {
  for (const { authorId, members } of contributors) {
    if (above.includes(authorId)) refuse('an author is credited as a member of itself');
    if (members) requireSound(members, [...above, authorId]);
  }
}

function requireShallow(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_JSON_DEPTH) refuse('the answer is nested too deep');
  for (const member of Object.values(value)) requireShallow(member, depth + 1);
}

function refuse(sentence: string): never {
  throw new ServiceError('invalid_parameter', `credits: ${sentence}`, { parameter: 'credits' });
}
