import type { Database } from '../../db/database.ts';
import { forgetEnded } from '../../db/ended.ts';

const HOUR_MS = 3_600_000;

/** Forgets what ended long enough ago that no clock can disagree about it; how many rows. A second call finds nothing. */
export function forgetWhatEnded(deps: { readonly database: Database; readonly clock: () => number }): Promise<number> {
  const before = (hours: number): Date => new Date(deps.clock() - hours * HOUR_MS);
  return forgetEnded(deps.database, { tokensBefore: before(1), keysBefore: before(48), strikesBefore: before(2) });
}
