import { z } from 'zod';
import { MAX_TIME_MS } from '../../modules/kernel/time/window.ts';

const WRONG = 'must be epoch milliseconds, a date (2026-11-01, its beginning in UTC) or an instant (2026-11-01T00:00:00Z)';
/** The same in a description. */
export const MOMENT = 'epoch ms or a date or instant of RFC 3339';
const INSTANT = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/**
 * A moment of a window, as a query parameter: epoch milliseconds, or as RFC 3339 writes a date (its beginning in UTC) or an instant with its
 * offset. Parses into epoch milliseconds.
 */
export const moment = z
  .string(WRONG)
  .refine((text) => Number.isFinite(msOf(text)) && msOf(text) >= 0 && msOf(text) <= MAX_TIME_MS, WRONG)
  .transform(msOf);

function msOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return INSTANT.safeParse(text).success ? Date.parse(text) : Number.NaN;
}
