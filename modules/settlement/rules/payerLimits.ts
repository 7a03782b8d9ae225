/** What one payer may have on its way: payments that fail on chain cost gas that nobody pays for (safety 19). Pure. */

/** Items that fail on chain cost gas; a payer with this many within an hour is refused. */
export const STRIKE_LIMIT = 5;
/** Most undecided payments of a wallet with code: it may agree when asked and burn its whole cap when it counts. */
export const UNDECIDED_LIMIT = 3;

/** Most payments of a key on their way: its money may leave between our look and our block, and each of them burns gas then. */
export const PLAIN_SENT_LIMIT = 32;

/** Most payments of a payer that may be on their way: its window. */
export function payerWindow(payerKind: 'plain' | 'contract'): number {
  return payerKind === 'plain' ? PLAIN_SENT_LIMIT : UNDECIDED_LIMIT;
}

/** What is known of a payer. */
export interface PayerRecord {
  /** Items that failed on chain within the hour. */
  readonly strikes: number;
  /** Its payments that are on their way. */
  readonly sent: number;
}

/** A payer never heard of. */
export const NEW_PAYER: PayerRecord = { strikes: 0, sent: 0 };

/** True when nothing of this payer may be sent. */
export function isStruck({ strikes }: Pick<PayerRecord, 'strikes'>): boolean {
  return strikes >= STRIKE_LIMIT;
}

/**
 * How many more payments of a payer may be sent now. A wallet with code never has more on its way than strikes it has left, so that an
 * hour of it costs at most `STRIKE_LIMIT` failed items; of a key at most `PLAIN_SENT_LIMIT` fail before it is struck.
 */
export function payerRoom(payerKind: 'plain' | 'contract', payer: PayerRecord): number {
  if (isStruck(payer)) return 0;
  if (payerKind === 'plain') return Math.max(0, PLAIN_SENT_LIMIT - payer.sent);
  return Math.max(0, Math.min(UNDECIDED_LIMIT, STRIKE_LIMIT - payer.strikes) - payer.sent);
}
