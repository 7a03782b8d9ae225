/** Which months of money may leave the tables that the service writes, and which the database. Days are of UTC, a month is its first day. */
import { KEPT_DAYS, MARGIN_DAYS } from './window.ts';

const DAY_MS = 86_400_000;
/** Days after its end before a month may close: what a payment still does then is to be read. */
export const CLOSES_AFTER_DAYS = 400;
/** Days after its end before a month may be detached: no plan reads it, and the margin is over. */
export const DETACHES_AFTER_DAYS = KEPT_DAYS + MARGIN_DAYS;

/** A month of UTC. */
export interface Month {
  /** YYYY-MM. */
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The month of a name (YYYY-MM), years 2000 to 2999; null for anything else. */
export function monthOf(name: string): Month | null {
  const [, year, month] = /^(2\d{3})-(0[1-9]|1[0-2])$/.exec(name) ?? [];
  if (year === undefined || month === undefined) return null;
  const [fromMs, toMs] = [0, 1].map((later) => Date.UTC(Number(year), Number(month) - 1 + later)) as [number, number];
  return { name, fromMs, toMs };
}

/** True when a month ended long enough ago to be closed. */
export function mayClose({ toMs }: Month, nowMs: number): boolean {
  return toMs + CLOSES_AFTER_DAYS * DAY_MS <= nowMs;
}

/** True when a month ended so long ago that nobody's plan reads it. */
export function mayDetach({ toMs }: Month, nowMs: number): boolean {
  return toMs + DETACHES_AFTER_DAYS * DAY_MS <= nowMs;
}
