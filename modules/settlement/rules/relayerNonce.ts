/** Whether a chain's count of a relayer's transactions is believed when it is ahead of ours. Pure. */

/** How far past what we have in flight a count may be, and still be adopted without a person. */
const MARGIN = 8n;

/** What is known of a relayer's nonce in one round. */
export interface NonceFacts {
  /** The nonce our next batch would take. */
  readonly nextNonce: bigint;
  /** Our batches on their way. */
  readonly inFlight: number;
  /** The chain's counts at its safe block and at its newest one, from two calls. */
  readonly safeCount: bigint;
  readonly latestCount: bigint;
  /** What the round before saw ahead of us; null when it saw nothing. */
  readonly seenBefore: bigint | null;
}

/**
 * `keep`: the chain is not ahead, or its two counts contradict each other. `seen`: it is ahead for the first time; the next round says
 * whether that was one wrong answer. `adopt`: two rounds agree, on a count that is near. `suspect`: it is further ahead than a key that
 * was also used elsewhere explains; only a person moves the nonce that far, since nothing moves it back by itself.
 */
export type NonceVerdict =
  | { readonly kind: 'keep' }
  | { readonly kind: 'seen'; readonly count: bigint }
  | { readonly kind: 'adopt'; readonly count: bigint }
  | { readonly kind: 'suspect'; readonly count: bigint };

/** Judges a round's counts. */
export function judgeNonce({ nextNonce, inFlight, safeCount, latestCount, seenBefore }: NonceFacts): NonceVerdict {
  if (safeCount <= nextNonce || latestCount < safeCount) return { kind: 'keep' };
  const farthest = nextNonce + BigInt(inFlight) + MARGIN;
  if (safeCount > farthest) return { kind: 'suspect', count: safeCount };
  if (seenBefore === null || seenBefore <= nextNonce || seenBefore > farthest) return { kind: 'seen', count: safeCount };
  return { kind: 'adopt', count: seenBefore < safeCount ? seenBefore : safeCount };
}

/** The first nonce from the chain's count on that no batch holds: those before it are on their way, or are filled by their own bytes. */
export function firstFreeNonce(minedCount: bigint, held: ReadonlySet<bigint>): bigint {
  let free = minedCount;
  while (held.has(free)) free += 1n;
  return free;
}
