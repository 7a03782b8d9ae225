/** What is known of the work of a network when one payment more asks to be let in. */
export interface Backlog {
  /** Batches on their way. */
  readonly openBatches: number;
  /** How many may be on their way at once. */
  readonly inFlightLimit: number;
  /** Relayer keys that send: each is counted with one batch a block, however many it may have on their way. */
  readonly keys: number;
  /** Planned gas of what waits of the payment's own site, itself included. */
  readonly ownGas: bigint;
  /** The same of the other sites, of each no more than `ownGas`: a site with much work has no more turns than this one. */
  readonly othersGas: bigint;
}

/**
 * How long a payment waits until a batch has carried it, milliseconds: what is on its way, and then the turns that come before its own
 * when sites share every batch by gas. What one site has waiting beyond its share delays that site alone.
 */
export function expectedWaitMs(backlog: Backlog, batchGas: bigint, blockTimeMs: number): number {
  const sending = backlog.openBatches / Math.max(1, backlog.inFlightLimit);
  const waiting = Number(backlog.ownGas + backlog.othersGas) / (Number(batchGas) * Math.max(1, backlog.keys));
  return (sending + waiting) * blockTimeMs;
}
