/** An entry of a sale in the ledger: an odd one takes back the one before it. */
export interface LedgerEntry {
  readonly sequence: number;
  readonly recordedAt: number;
}

/** When a sale was taken back, if it is: its newest entry is a correction. Pure. */
export function reversedAt(entries: readonly LedgerEntry[]): number | null {
  const newest = entries.toSorted((a, b) => b.sequence - a.sequence)[0];
  return newest !== undefined && newest.sequence % 2 === 1 ? newest.recordedAt : null;
}
