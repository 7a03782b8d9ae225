/** When paying out what lies in a split is worth its gas, and whom it is charged to. Pure. */

/** Wei in one coin of a chain's native currency. */
const COIN_WEI = 10n ** 18n;

/** What a flush would bring, and what it costs. */
export interface FlushOffer {
  /** What lies in the split, micro-USDC. */
  readonly balanceMicro: bigint;
  /** What the transaction costs at today's fee, wei. */
  readonly costWei: bigint;
  /** One coin of the native currency in micro-USDC. */
  readonly nativePriceMicro: bigint;
  /** The lowest price of anything, micro-USDC. */
  readonly floorMicro: bigint;
}

/**
 * True when a split holds at least the lowest price and more than its gas is worth. Smaller amounts cost us no
 * gas, however many splits they are sent to; they stay there until more has come.
 */
export function isFlushWorth({ balanceMicro, costWei, nativePriceMicro, floorMicro }: FlushOffer): boolean {
  return balanceMicro >= floorMicro && balanceMicro * COIN_WEI > costWei * nativePriceMicro;
}

/** A site that sells through a split, and what it has used of its gas today. */
export interface FlushSeller {
  readonly tenantId: string;
  readonly gasWeiToday: bigint;
}

/** True while half of a day's gas is left. That half is kept for sales. No budget: always. */
export function isHalfLeft(usedWei: bigint, budgetWei: bigint | null): boolean {
  return budgetWei === null || 2n * usedWei < budgetWei;
}

/**
 * The sites that bear a flush, in equal parts: those that sell through the split and have used less than half of their day's gas. The
 * other half is kept for sales, so that an author who sends money around between his own wallets cannot stop a site's sales. Empty:
 * the money stays until a site has room again, the next day at the latest.
 */
export function flushPayers(sellers: readonly FlushSeller[], budgetWeiPerDay: bigint | null): readonly string[] {
  return sellers.filter(({ gasWeiToday }) => isHalfLeft(gasWeiToday, budgetWeiPerDay)).map(({ tenantId }) => tenantId);
}
