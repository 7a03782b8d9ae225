import { checksumAddress } from '../../chain/offer.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { PageCredits } from '../../domain/money/credits.ts';
import { flattenCredits } from '../../domain/money/credits.ts';
import type { Address } from '../../domain/money/legs.ts';

const MAX_JSON_DEPTH = 16;

/**
 * Reads an answer of a credits API by the credits contract (docs/credits-api.md): `{"free": true}`, or a page as in `credits_inline` (depth
 * ≤ 8, ≤ 50 distinct wallets, none zero, none `forbidden`), wallets in mixed case with a right checksum (EIP-55), and no author who is a
 * member of himself. Throws invalid_parameter; whoever throws here is asked again later, never guessed at.
 */
export function readCredits(entry: unknown, forbidden: readonly string[]): PageCredits | 'free' {
  requireShallow(entry, 0);
  if ((entry as { free?: unknown } | null)?.free === true) return 'free';
  const credits = flattenCredits(entry, 'credits', forbidden);
  requireSound((entry as { contributors: readonly Contributor[] }).contributors, []);
  return credits;
}

/** Refuses a wallet whose checksum (EIP-55) is wrong: invalid_parameter with the place. */
export function requireChecksum(wallet: string, place: string): void {
  if (isChecksummed(wallet)) return;
  throw new ServiceError('invalid_parameter', `${place}: the checksum of a wallet is wrong`, { parameter: place });
}

interface Contributor {
  readonly authorId: string;
  readonly wallet?: string;
  readonly members?: readonly Contributor[];
}

function requireSound(contributors: readonly Contributor[], above: readonly string[]): void {
  for (const { authorId, wallet, members } of contributors) {
    if (above.includes(authorId)) refuse('an author is credited as a member of itself');
    if (wallet !== undefined) requireChecksum(wallet, 'credits');
    if (members) requireSound(members, [...above, authorId]);
  }
}

/** One case throughout carries no checksum; mixed case must carry the right one. */
function isChecksummed(wallet: string): boolean {
  const digits = wallet.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return checksumAddress(wallet.toLowerCase() as Address) === wallet;
}

function requireShallow(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_JSON_DEPTH) refuse('the answer is nested too deep');
  for (const member of Object.values(value)) requireShallow(member, depth + 1);
}

function refuse(sentence: string): never {
  throw new ServiceError('invalid_parameter', `credits: ${sentence}`, { parameter: 'credits' });
}
