/** How many batches one relayer key may have on their way, and for whom the last place is kept. Pure. */

/**
 * Gas limits of batches on their way beyond which only newcomers are sent: about one block. What is signed behind a full block waits for
 * the next ones, and everything signed later waits behind it, since nonces are mined in order.
 */
export const IN_FLIGHT_GAS = 24_000_000n;

/** What a relayer key has on its way. */
export interface QueueLoad {
  /** Unmined batches. */
  readonly open: number;
  /** Their gas limits together. */
  readonly openGas: bigint;
  /** Most unmined batches the key may have. */
  readonly limit: number;
}

/**
 * True when one batch more may take the key's next nonce. `isNewcomer`: nothing of any site in it is on its way. The last place is kept
 * for newcomers, so that a site which fills the queue makes no other wait for more than the block that is being made.
 */
export function queueHasRoom({ open, openGas, limit }: QueueLoad, isNewcomer: boolean): boolean {
  if (open >= limit) return false;
  return isNewcomer || open === 0 || (open < limit - 1 && openGas < IN_FLIGHT_GAS);
}
